//===- CollectiveSchedule.h - a collective as transfers ---------*- C++ -*-===//
//
// What an algorithm for a collective makes of a group: the tensor is divided
// into chunks, which go from member to member in a stated order. Every
// algorithm (ring, trees, recursive doubling, ...) is a function that returns
// such a schedule; costs, verifier and programs know schedules only.
//
// The order is one for all members. A member does the transfers that it takes
// part in so: it sends a chunk when all transfers of that chunk to it that
// stand before have arrived. So a schedule cannot deadlock.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_COLLECTIVESCHEDULE_H
#define FFC_PLAN_COLLECTIVESCHEDULE_H

#include "ffc/Plan/Action.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ffc::plan {

/// A chunk goes from one member to another; both are indices into the group.
struct ChunkTransfer {
  int32_t chunk = 0;
  int16_t src = 0, dst = 0;

  bool operator==(const ChunkTransfer &o) const {
    return chunk == o.chunk && src == o.src && dst == o.dst;
  }
};

/// More members than this have no schedules: transfers grow with their square.
constexpr int kMaxScheduleMembers = 256;
/// More transfers than this in one schedule are taken for a mistake.
constexpr size_t kMaxScheduleTransfers = size_t(1) << 20;

/// What schedules are made by (Collectives/Algorithms.h): "rings", "direct"...
const std::vector<std::string> &scheduleAlgorithms();

struct CollectiveSchedule {
  std::string algorithm; ///< of scheduleAlgorithms(), or another word
  /// Not Broadcast.
  CollectiveKind kind = CollectiveKind::AllReduce;
  int members = 0;
  /// The tensor in memory order, divided into so many chunks of nearly equal
  /// numbers of elements (ffrt::Schedule::chunk_begin). Of AllGather and
  /// ReduceScatter a multiple of the members: those of one member are its part.
  int chunks = 0;
  std::vector<ChunkTransfer> transfers;
  /// The first so many transfers are reduced into what their destination has;
  /// the others overwrite it.
  size_t reducing = 0;

  bool operator==(const CollectiveSchedule &o) const {
    return algorithm == o.algorithm && kind == o.kind && members == o.members &&
           chunks == o.chunks && reducing == o.reducing &&
           transfers == o.transfers;
  }
};

/// The member whose part a chunk of AllGather or ReduceScatter belongs to.
inline int ownerOf(const CollectiveSchedule &schedule, int chunk) {
  return chunk / (schedule.chunks / schedule.members);
}

/// What is wrong with a schedule, in words, or nothing: after it every member
/// has what the collective promises, where a reduced chunk contains what every
/// member had exactly once; nobody sends what he does not have, and nothing is
/// sent to itself.
std::string faultOf(const CollectiveSchedule &schedule);

/// Of an all-gather's schedule: the reduce-scatter that sends everything the
/// other way.
CollectiveSchedule reversed(const CollectiveSchedule &allGather);
/// A reduce-scatter and then an all-gather of as many chunks.
CollectiveSchedule allReduceBy(const CollectiveSchedule &reduceScatter,
                               const CollectiveSchedule &allGather);

} // namespace ffc::plan

#endif // FFC_PLAN_COLLECTIVESCHEDULE_H
