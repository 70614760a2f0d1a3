//===- threads.h - cores and threads of a rank ------------------*- C++ -*-===//
#ifndef FFRT_COMMON_THREADS_H
#define FFRT_COMMON_THREADS_H

#include <algorithm>
#include <cstdlib>
#include <omp.h>
#include <sched.h>

namespace ffrt {

/// The cores that this process may run on.
inline cpu_set_t own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

/// As set_threads() of ffrt/mpi.h, for `ranks` ranks that share `cores`.
inline int set_threads(const cpu_set_t &cores, int ranks) {
  if (!std::getenv("OMP_NUM_THREADS"))
    omp_set_num_threads(std::max(1, CPU_COUNT(&cores) / ranks));
  // oneDNN waits for as many threads as there may be, so there must be no limit
  // below (OMP_THREAD_LIMIT).
  omp_set_num_threads(std::min(omp_get_max_threads(), omp_get_thread_limit()));
  return omp_get_max_threads();
}

} // namespace ffrt

#endif // FFRT_COMMON_THREADS_H
