//===- gather_elements.cpp - elements along one dimension -----------------===//
#include "ffrt/gather_elements.h"

#include "common/indexing/gather_elements.h"
#include "ffrt/error.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <string>

namespace ffrt {

namespace {

/// From here on a thread is worth its start.
constexpr int64_t kThreadElements = 16384;

void expect_positions(const char *kernel, const IndexedLines &l,
                      int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (l.index(i) < -l.extent || l.index(i) >= l.extent)
      throw Error(std::string(kernel) + ": expected indices from " +
                  std::to_string(-l.extent) + " to " +
                  std::to_string(l.extent - 1) + ", found " +
                  std::to_string(l.index(i)));
}

} // namespace

void GatherElements::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &indices = in.begin()[1];
  const IndexedLines lines(x, indices, axis);
  expect_positions("gather elements", lines, indices.elements());
  const Real *from = x.as<Real>();
  Real *y = out.begin()[0].as<Real>();
  parallel_for(indices.elements(), kThreadElements,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   y[i] = from[lines.named(i)];
               });
}

void GatherElementsBackward::reserve(const Tensor &, const Tensor &) {}

/// Threads have blocks of lines; a single block is one thread's.
void GatherElementsBackward::operator()(Tensors in, Tensors out) {
  const Tensor &indices = in.begin()[0], &dx = out.begin()[0];
  const IndexedLines lines(dx, indices, axis);
  expect_positions("gather elements backward", lines, indices.elements());
  const Real *dy = in.begin()[1].as<Real>();
  Real *to = dx.as<Real>();
  const Runs &target = lines.indexed, &source = lines.picked;
  const int64_t size = target.positions * target.length,
                count = source.positions * source.length;
  parallel_for(target.blocks, 1 + kThreadElements / (size + count),
               [&](int64_t begin, int64_t end) {
                 std::fill(to + begin * size, to + end * size, 0.0f);
                 for (int64_t i = begin * count; i < end * count; ++i)
                   if (const int64_t at = lines.named(i); at >= 0)
                     to[at] += dy[i];
               });
}

} // namespace ffrt
