//===- LinkProbes.h - messages that show slow links -------------*- C++ -*-===//
//
// A program sees a slow link by messages that it sends for that alone, while no
// step runs: those of steps wait for what others compute. All ranks are in
// pairs and exchange at once, so that few rounds are enough for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_LINKPROBES_H
#define FFC_PLAN_LINKPROBES_H

#include "ffc/Plan/Cost.h"

#include <cstdint>
#include <vector>

namespace ffc::plan {

/// Devices d and d ^ distance exchange so many bytes, in both directions, all
/// such pairs at once.
struct LinkProbe {
  int distance = 1;
  int64_t bytes = 0;
  /// What it takes the pair of each device that is the lower one of a pair,
  /// ascending.
  std::vector<Picoseconds> times;
};

/// All pairs of up to 8 devices; of more, those whose numbers differ in one
/// binary digit, so that every device is in about log2 of all as many. `bytes`
/// are such that the fastest pair takes about 100 us at least, unless the
/// slowest takes 1 ms then; from 64 KiB to 32 MiB.
std::vector<LinkProbe> linkProbes(const CostModel &costs, int devices);

} // namespace ffc::plan

#endif // FFC_PLAN_LINKPROBES_H
