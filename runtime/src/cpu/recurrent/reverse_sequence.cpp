//===- reverse_sequence.cpp - sequences from last to first step -----------===//
#include "ffrt/reverse_sequence.h"

#include "ffrt/error.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <string>

namespace ffrt {

/// Elements from which on a thread is worth its start.
static constexpr int64_t kThreadElements = 16384;

template <class T>
static void reverse(const ReverseSequence::Steps &where, const Tensor &x,
                    const T *lengths, Real *y) {
  for (int64_t b = 0; b < where.sequences; ++b)
    if (lengths[b] < 0 || lengths[b] > where.steps)
      throw Error("reverse sequence: expected lengths from 0 to " +
                  std::to_string(where.steps) + ", found " +
                  std::to_string(lengths[b]));
  const Real *from = x.as<Real>();
  parallel_for(x.elements() / where.inner, 1 + kThreadElements / where.inner,
               [=](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const int64_t i = row * where.inner,
                                 length = lengths[where.sequence_of(i)];
                   std::copy_n(from + where.source_of(i, length), where.inner,
                               y + i);
                 }
               });
}

void ReverseSequence::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &lengths = in.begin()[1];
  Real *y = out.begin()->as<Real>();
  if (lengths.type == DType::i32)
    reverse(where, x, lengths.as<int32_t>(), y);
  else
    reverse(where, x, lengths.as<int64_t>(), y);
}

} // namespace ffrt
