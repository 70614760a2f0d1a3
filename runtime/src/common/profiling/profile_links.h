//===- profile_links.h - times of communication by size ---------*- C++ -*-===//
#ifndef FFRT_COMMON_PROFILE_LINKS_H
#define FFRT_COMMON_PROFILE_LINKS_H

#include "common/device/memory.h"
#include "common/device/target.h"
#include "common/profiling/statistics.h"
#include "common/profiling/timestamps.h"
#include "ffrt/comm.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ffrt {

/// An operation in groups of `members`, with all ranks busy in one of them.
struct LinkProfile {
  struct Size {
    int64_t bytes;
    Duration time;
  };
  std::string operation; ///< "all_reduce", "message"
  int members = 0;
  std::vector<Size> sizes; ///< medians do not descend
};

/// Measures every operation at several sizes, between devices as programs use
/// it. All members are collective.
class LinkProfiler {
public:
  /// Sizes up to `largest` bytes: of a message, else of the whole tensor.
  /// `memory_bytes`, equal on all ranks, is what a step uses: what it sends and
  /// receives was last touched when all the rest had been.
  LinkProfiler(Comm &host, const Group &world, int64_t largest,
               int64_t memory_bytes);

  /// Called in several rounds, so that what the machine does meanwhile meets
  /// all sizes.
  void measure();

  /// The same on all ranks. Nothing where there is one rank.
  std::vector<LinkProfile> result() const;

private:
  struct Operation {
    std::string name;
    int members;
    std::function<void(int64_t)> call;      ///< with a number of floats
    std::vector<std::vector<double>> times; ///< by size, in seconds
  };

  void add(const char *name, int members, std::function<void(int64_t)> call);
  void add_collectives(int members);
  void message(int64_t n);
  void exchange(int64_t n);
  std::vector<double> measure(int64_t n, const Operation &operation);
  /// As often as that, each time from an even timestamp to an odd one.
  void repeat(int64_t n, const Operation &operation, int64_t times);

  void move_buffers(int64_t bytes);
  Tensor whole(int64_t n) const;
  Tensor part(int64_t n, int64_t parts) const;

  Comm &host;
  const Group &world;
  int64_t largest;
  int64_t half; ///< of the memory in use
  /// As that of a step: large pages are copied faster. Outlives communication.
  std::unique_ptr<GuardedMemory> memory;
  DeviceComm device_comm;
  Comm &comm;
  Timestamps timestamps;
  int64_t at = 0; ///< of the buffers in the halves of the memory
  float *a = nullptr, *b = nullptr;
  std::vector<int64_t> sizes; ///< in bytes
  std::vector<Operation> operations;
};

} // namespace ffrt

#endif // FFRT_COMMON_PROFILE_LINKS_H
