//===- Levels.cpp - all-gathers across nodes, then within them ------------===//

#include "Algorithms.h"

using namespace ffc::plan;

CollectiveSchedule ffc::plan::levelsAllGather(const MemberGraph &graph) {
  CollectiveSchedule schedule;
  std::vector<std::vector<int>> byNode;
  for (int member = 0; member < graph.size(); ++member) {
    const auto node = static_cast<size_t>(graph.nodes()[member]);
    byNode.resize(std::max(byNode.size(), node + 1));
    byNode[node].push_back(member);
  }
  const size_t perNode = byNode.front().size();
  for (const std::vector<int> &node : byNode)
    if (node.size() != perNode)
      return schedule;
  if (byNode.size() < 2 || perNode < 2)
    return schedule;
  schedule.algorithm = "levels";
  schedule.kind = CollectiveKind::AllGather;
  schedule.members = graph.size();
  schedule.chunks = graph.size();
  // Across the nodes what a member has doubles with every step.
  const CollectiveSchedule across =
      doublingAllGather(static_cast<int>(byNode.size()));
  for (const ChunkTransfer &t : across.transfers)
    for (size_t i = 0; i < perNode; ++i)
      schedule.transfers.push_back({byNode[t.chunk][i],
                                    static_cast<int16_t>(byNode[t.src][i]),
                                    static_cast<int16_t>(byNode[t.dst][i])});
  for (size_t step = 1; step < perNode; ++step)
    for (const std::vector<int> &from : byNode)
      for (const std::vector<int> &node : byNode)
        for (size_t i = 0; i < perNode; ++i)
          schedule.transfers.push_back(
              {from[i], static_cast<int16_t>(node[i]),
               static_cast<int16_t>(node[(i + step) % perNode])});
  return schedule;
}
