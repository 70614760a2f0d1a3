//===- parallel.cpp - loops over this rank's threads ----------------------===//
#include "ffrt/parallel.h"

#include <omp.h>

namespace ffrt {

void parallel_for(int64_t n, int64_t grain, void *state,
                  void (*body)(void *state, int64_t begin, int64_t end)) {
  if (n <= 0)
    return;
  int64_t threads = omp_get_max_threads();
  int64_t useful = (n + grain - 1) / grain;
  if (useful < threads)
    threads = useful;
  if (threads <= 1) {
    body(state, 0, n);
    return;
  }
  int64_t chunk = (n + threads - 1) / threads;
  if (chunk >= 64)
    chunk = (chunk + 15) / 16 * 16;
#pragma omp parallel num_threads(int(threads))
  {
    // There may be fewer threads than asked for.
    const int64_t stride = omp_get_num_threads() * chunk;
    for (int64_t begin = omp_get_thread_num() * chunk; begin < n;
         begin += stride)
      body(state, begin, begin + chunk < n ? begin + chunk : n);
  }
}

} // namespace ffrt
