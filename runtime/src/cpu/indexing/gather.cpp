//===- gather.cpp - indexing along one dimension --------------------------===//
#include "ffrt/gather.h"

#include "common/copy/move.h"
#include "common/indexing/gather.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <cstring>

namespace ffrt {

template <class T>
static void gather(const T *x, const Runs &from, T *y, const Runs &to,
                   const int64_t *sources) {
  const int64_t n = to.length;
  parallel_for(to.blocks * to.positions, 1 + 16384 / n,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t block = i / to.positions;
                   const int64_t source = sources[i - block * to.positions];
                   const T *run = x + (block * from.positions + source) * n;
                   if (n == 1)
                     y[i] = *run;
                   else
                     std::memcpy(y + i * n, run, std::size_t(n) * sizeof(T));
                 }
               });
}

void Gather::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_word(y.type, [&](auto word) {
    using T = decltype(word);
    gather(x.as<T>(), Runs(x, axis), y.as<T>(), Runs(y, axis),
           static_cast<const int64_t *>(sources.get()));
  });
}

void GatherBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &dx = out.begin()[0];
  const Runs from(dy, axis), to(dx, axis);
  const int64_t n = to.length;
  const Real *x = dy.as<Real>();
  Real *y = dx.as<Real>();
  const auto *start = static_cast<const int64_t *>(starts.get());
  const auto *source = static_cast<const int64_t *>(sources.get());
  parallel_for(
      to.blocks * to.positions, 1 + 16384 / n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t block = i / to.positions;
          const int64_t p = i - block * to.positions;
          Real *sum = y + i * n;
          std::fill_n(sum, n, 0.0f);
          for (int64_t s = start[p]; s < start[p + 1]; ++s) {
            const Real *run = x + (block * from.positions + source[s]) * n;
#pragma GCC ivdep
            for (int64_t k = 0; k < n; ++k)
              sum[k] += run[k];
          }
        }
      });
}

} // namespace ffrt
