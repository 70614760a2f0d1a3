//===- CollectiveSchedule.cpp - a collective as transfers -----------------===//

#include "ffc/Plan/CollectiveSchedule.h"

#include <algorithm>
#include <cassert>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Is it right?
//===----------------------------------------------------------------------===//

namespace {

/// Follows what every member has of every chunk.
class ScheduleCheck {
public:
  explicit ScheduleCheck(const CollectiveSchedule &schedule)
      : schedule(schedule),
        words((static_cast<size_t>(schedule.members) + 63) / 64) {}

  std::string fault() {
    if (std::string wrong = faultOfSizes(); !wrong.empty())
      return wrong;
    start();
    for (size_t i = 0; i < schedule.transfers.size(); ++i)
      if (std::string wrong = follow(i); !wrong.empty())
        return "transfer " + std::to_string(i) + " of '" + schedule.algorithm +
               "': " + wrong;
    return faultAtTheEnd();
  }

private:
  bool reduces() const { return schedule.kind != CollectiveKind::AllGather; }

  std::string faultOfSizes() const {
    const auto wrong = [&](const std::string &what) {
      return "'" + schedule.algorithm + "': expected " + what;
    };
    if (schedule.members < 2 || schedule.members > kMaxScheduleMembers)
      return wrong("2 to " + std::to_string(kMaxScheduleMembers) +
                   " members, found " + std::to_string(schedule.members));
    if (schedule.transfers.size() > kMaxScheduleTransfers)
      return wrong("at most " + std::to_string(kMaxScheduleTransfers) +
                   " transfers, found " +
                   std::to_string(schedule.transfers.size()));
    if (schedule.kind == CollectiveKind::Broadcast)
      return wrong("a collective of all members, found a broadcast");
    const bool hasParts = schedule.kind != CollectiveKind::AllReduce;
    if (schedule.chunks < 1 ||
        static_cast<size_t>(schedule.chunks) > kMaxScheduleTransfers ||
        (hasParts && schedule.chunks % schedule.members))
      return wrong("chunks of every member, found " +
                   std::to_string(schedule.chunks));
    if (schedule.reducing > (reduces() ? schedule.transfers.size() : 0))
      return wrong("transfers that reduce where the collective does, found " +
                   std::to_string(schedule.reducing));
    return "";
  }

  /// Whose contributions the member's copy of the chunk contains, as bits.
  uint64_t *at(int member, int chunk) {
    return &has[(static_cast<size_t>(member) *
                     static_cast<size_t>(schedule.chunks) +
                 static_cast<size_t>(chunk)) *
                words];
  }
  void add(int member, int chunk, int contributor) {
    at(member, chunk)[contributor / 64] |= uint64_t(1) << (contributor % 64);
  }

  void start() {
    has.assign(static_cast<size_t>(schedule.members) *
                   static_cast<size_t>(schedule.chunks) * words,
               0);
    for (int member = 0; member < schedule.members; ++member)
      for (int chunk = 0; chunk < schedule.chunks; ++chunk)
        if (reduces() || ownerOf(schedule, chunk) == member)
          add(member, chunk, member);
  }

  std::string follow(size_t i) {
    const ChunkTransfer &t = schedule.transfers[i];
    const auto isMember = [&](int m) { return m >= 0 && m < schedule.members; };
    if (!isMember(t.src) || !isMember(t.dst) || t.src == t.dst)
      return "expected two of the members, found " + std::to_string(t.src) +
             " and " + std::to_string(t.dst);
    if (t.chunk < 0 || t.chunk >= schedule.chunks)
      return "expected one of " + std::to_string(schedule.chunks) +
             " chunks, found " + std::to_string(t.chunk);
    const uint64_t *from = at(t.src, t.chunk);
    uint64_t *to = at(t.dst, t.chunk);
    if (std::all_of(from, from + words, [](uint64_t w) { return w == 0; }))
      return "expected a chunk that its sender has, found " +
             std::to_string(t.chunk);
    for (size_t w = 0; w < words; ++w)
      if (i >= schedule.reducing)
        to[w] = from[w];
      else if (to[w] & from[w])
        return "expected contributions once each, found some of chunk " +
               std::to_string(t.chunk) + " twice";
      else
        to[w] |= from[w];
    return "";
  }

  /// Of the contributions that the chunk must contain in the end.
  bool isWhole(int member, int chunk) {
    const uint64_t *set = at(member, chunk);
    for (int m = 0; m < schedule.members; ++m)
      if ((set[m / 64] >> (m % 64) & 1) !=
          (reduces() || m == ownerOf(schedule, chunk)))
        return false;
    return true;
  }

  std::string faultAtTheEnd() {
    for (int member = 0; member < schedule.members; ++member)
      for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
        const bool wanted = schedule.kind != CollectiveKind::ReduceScatter ||
                            ownerOf(schedule, chunk) == member;
        if (wanted && !isWhole(member, chunk))
          return "'" + schedule.algorithm + "': expected chunk " +
                 std::to_string(chunk) + " whole at member " +
                 std::to_string(member) + ", found it is not";
      }
    return "";
  }

  const CollectiveSchedule &schedule;
  const size_t words;
  std::vector<uint64_t> has; ///< by member and chunk
};

} // namespace

std::string ffc::plan::faultOf(const CollectiveSchedule &schedule) {
  return ScheduleCheck(schedule).fault();
}

//===----------------------------------------------------------------------===//
// What follows from all-gathers
//===----------------------------------------------------------------------===//

CollectiveSchedule ffc::plan::reversed(const CollectiveSchedule &allGather) {
  assert(allGather.kind == CollectiveKind::AllGather && "has no parts");
  CollectiveSchedule result = allGather;
  result.kind = CollectiveKind::ReduceScatter;
  std::reverse(result.transfers.begin(), result.transfers.end());
  for (ChunkTransfer &transfer : result.transfers)
    std::swap(transfer.src, transfer.dst);
  result.reducing = result.transfers.size();
  return result;
}

CollectiveSchedule
ffc::plan::allReduceBy(const CollectiveSchedule &reduceScatter,
                       const CollectiveSchedule &allGather) {
  assert(reduceScatter.kind == CollectiveKind::ReduceScatter &&
         allGather.kind == CollectiveKind::AllGather &&
         reduceScatter.chunks == allGather.chunks && "do not fit");
  CollectiveSchedule result = reduceScatter;
  result.kind = CollectiveKind::AllReduce;
  result.transfers.insert(result.transfers.end(), allGather.transfers.begin(),
                          allGather.transfers.end());
  return result;
}
