//===- rank_map.h - where the ranks of a run are ----------------*- C++ -*-===//
#ifndef FFRT_COMMON_RANK_MAP_H
#define FFRT_COMMON_RANK_MAP_H

#include "ffrt/comm.h"
#include "ffrt/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ffrt {

/// Where a rank is.
struct RankPlace {
  std::string host;       ///< name of the machine; not unique in containers
  int64_t machine;        ///< machine_id()
  std::vector<int> cores; ///< that it may run on, ascending
  int online_cores = 0;   ///< of the machine
  std::string gpu;        ///< unique; empty: it computes on the host
};

/// Of all ranks. Collective.
std::vector<RankPlace> places_of_ranks(Comm &comm, const Group &world);

/// "4 on one host: node1 (8 cores)", "8 on 2 hosts: 0-3 on node1 (64 cores),
/// 4-7 on node2 (64 cores)", of many hosts the first ones.
std::string describe_hosts(const std::vector<RankPlace> &places);

/// A line for every rank, under a head: rank, host, cores, GPU, node of the
/// plan.
std::string map_table(const std::vector<RankPlace> &places,
                      const ProgramInfo &info);

/// What is wrong with where the ranks are, and what helps, a line each: more
/// ranks than cores, or than the cores that the launcher has left them; ranks
/// that share cores while others have none; a GPU that several ranks use; ranks
/// of one node of the plan on several hosts.
std::vector<std::string> map_problems(const std::vector<RankPlace> &places,
                                      const ProgramInfo &info);

} // namespace ffrt

#endif // FFRT_COMMON_RANK_MAP_H
