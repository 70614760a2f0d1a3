//===- profile_links.h - times of communication by size ---------*- C++ -*-===//
#ifndef FFRT_CPU_PROFILE_LINKS_H
#define FFRT_CPU_PROFILE_LINKS_H

#include "common/statistics.h"
#include "cpu/speed_probe.h"
#include "ffrt/comm.h"

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

/// Collective; the same on all ranks. Sizes up to `largest` bytes: of a
/// message, else of the whole tensor. Nothing where there is one rank.
std::vector<LinkProfile> profile_links(Comm &comm, const Group &world,
                                       const Speed &reference, int64_t largest);

} // namespace ffrt

#endif // FFRT_CPU_PROFILE_LINKS_H
