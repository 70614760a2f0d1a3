//===- parallel.h - loops over this rank's threads --------------*- C++ -*-===//
#ifndef FFRT_PARALLEL_H
#define FFRT_PARALLEL_H

#include <cstdint>
#include <type_traits>

namespace ffrt {

/// Calls body(state, begin, end) for disjoint ranges that cover [0, n).
/// Prefer the overload below.
void parallel_for(int64_t n, int64_t grain, void *state,
                  void (*body)(void *state, int64_t begin, int64_t end));

/// Calls f(begin, end) for disjoint ranges that cover [0, n), on several
/// threads when n exceeds `grain`. Ranges are multiples of 16 where n allows,
/// so that float ranges do not share cache lines. Allocates nothing.
template <class F> void parallel_for(int64_t n, int64_t grain, F &&f) {
  parallel_for(n, grain, &f, [](void *state, int64_t begin, int64_t end) {
    (*static_cast<std::remove_reference_t<F> *>(state))(begin, end);
  });
}

} // namespace ffrt

#endif // FFRT_PARALLEL_H
