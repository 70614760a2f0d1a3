//===- InThreads.h - the same for many, on all cores ------------*- C++ -*-===//
#ifndef FFC_NETWORK_INTHREADS_H
#define FFC_NETWORK_INTHREADS_H

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace ffc::network {

/// Calls run(i) for all i below `count`, in as many threads as there are cores.
/// Returns when all are done. `run` must not throw.
template <typename Run> void inThreads(size_t count, const Run &run) {
  const size_t threads =
      std::min<size_t>(std::thread::hardware_concurrency(), count);
  std::atomic<size_t> next = 0;
  auto share = [&] {
    for (size_t i = next++; i < count; i = next++)
      run(i);
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads; ++t)
    others.emplace_back(share);
  share();
  for (std::thread &other : others)
    other.join();
}

} // namespace ffc::network

#endif // FFC_NETWORK_INTHREADS_H
