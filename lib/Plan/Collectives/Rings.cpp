//===- Rings.cpp - all-gathers that need no graph -------------------------===//

#include "Algorithms.h"

using namespace ffc::plan;

static CollectiveSchedule allGather(const char *algorithm, int members,
                                    int chunksOfEach) {
  CollectiveSchedule schedule;
  schedule.algorithm = algorithm;
  schedule.kind = CollectiveKind::AllGather;
  schedule.members = members;
  schedule.chunks = members * chunksOfEach;
  return schedule;
}

static ChunkTransfer transfer(int chunk, int src, int dst) {
  return {chunk, static_cast<int16_t>(src), static_cast<int16_t>(dst)};
}

CollectiveSchedule
ffc::plan::ringsAllGather(const std::vector<RingOrder> &rings) {
  const int n = static_cast<int>(rings.front().size());
  const int perMember = static_cast<int>(rings.size());
  CollectiveSchedule schedule = allGather("rings", n, perMember);
  for (int step = 0; step < n - 1; ++step)
    for (int r = 0; r < perMember; ++r)
      for (int at = 0; at < n; ++at) {
        const RingOrder &ring = rings[r];
        const int from = ring[((at - step) % n + n) % n];
        schedule.transfers.push_back(
            transfer(from * perMember + r, ring[at], ring[(at + 1) % n]));
      }
  return schedule;
}

CollectiveSchedule ffc::plan::directAllGather(int members) {
  CollectiveSchedule schedule = allGather("direct", members, 1);
  for (int step = 1; step < members; ++step)
    for (int src = 0; src < members; ++src)
      schedule.transfers.push_back(transfer(src, src, (src + step) % members));
  return schedule;
}

CollectiveSchedule ffc::plan::doublingAllGather(int members) {
  CollectiveSchedule schedule = allGather("doubling", members, 1);
  const bool isPower = (members & (members - 1)) == 0;
  for (int step = 1; step < members; step *= 2)
    for (int src = 0; src < members; ++src)
      for (int i = 0; i < std::min(step, members - step); ++i)
        if (isPower)
          schedule.transfers.push_back(
              transfer((src & -step) + i, src, src ^ step));
        else
          schedule.transfers.push_back(transfer(
              (src + i) % members, src, (src - step + members) % members));
  return schedule;
}
