//===- Exhaustive.cpp - all combinations of a small space -----------------===//

#include "ffc/Search/Search.h"

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

Baseline
search::exhaustive(const Space &space, Walker &walker,
                   const std::vector<std::vector<Configuration>> &candidates) {
  const std::vector<OpId> &anchors = space.anchors();
  std::vector<Choice> choices;
  for (size_t a = 0; a < anchors.size(); ++a)
    choices.push_back({anchors[a], candidates[a].front()});
  Baseline best{"exhaustive", {}, {kNoLimit, 0}};
  // Counts, the last anchor fastest, so that most steps change little.
  std::vector<size_t> at(anchors.size(), 0);
  while (true) {
    walker.propose(choices);
    walker.accept();
    if (walker.makespan() < best.quality.makespan) {
      best.quality.makespan = walker.makespan();
      best.strategy = walker.strategy();
    }
    choices.clear();
    size_t a = anchors.size();
    do {
      if (a-- == 0)
        return best;
      at[a] = (at[a] + 1) % candidates[a].size();
      choices.push_back({anchors[a], candidates[a][at[a]]});
    } while (at[a] == 0);
  }
}
