//===- sort.cu - merging sorted runs --------------------------------------===//
#include "cuda/indexing/sort.h"

#include <utility>

namespace ffrt::cuda {

/// How many of [begin, end) come before x.
static __device__ int64_t count_before(const Keyed *begin, const Keyed *end,
                                       const Keyed &x) {
  const Keyed *below = begin;
  for (int64_t rest = end - begin; rest > 0;) {
    const int64_t half = rest / 2;
    if (below[half] < x) {
      below += half + 1;
      rest -= half + 1;
    } else {
      rest = half;
    }
  }
  return below - begin;
}

static void merge_pairs(const Keyed *from, Keyed *to, int64_t n,
                        int64_t length) {
  for_elements(
      n, FFRT_LAMBDA(int64_t i) {
        // The first of this run, and of the other one of the pair.
        const int64_t own = i & ~(length - 1), other = own ^ length,
                      left = own < other ? own : other;
        const int64_t begin = other < n ? other : n,
                      end = begin + length < n ? begin + length : n;
        const Keyed x = from[i];
        to[left + (i - own) + count_before(from + begin, from + end, x)] = x;
      });
}

Keyed *merge_runs(Keyed *from, Keyed *to, int64_t n, int64_t length) {
  for (; length < n; length *= 2) {
    merge_pairs(from, to, n, length);
    std::swap(from, to);
  }
  return from;
}

} // namespace ffrt::cuda
