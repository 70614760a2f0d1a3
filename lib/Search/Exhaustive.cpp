//===- Exhaustive.cpp - all combinations of a small space -----------------===//

#include "ffc/Search/Search.h"

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

std::optional<Baseline> search::exhaustive(const Space &space, Walker &walker,
                                           int64_t most) {
  const std::vector<OpId> &anchors = space.anchors();
  std::vector<std::vector<Configuration>> candidates;
  int64_t combinations = 1;
  std::vector<Choice> first;
  for (OpId anchor : anchors) {
    candidates.push_back(space.candidates(anchor, /*firstPlaceOnly=*/true));
    if (combinations > most / static_cast<int64_t>(candidates.back().size()))
      return std::nullopt;
    combinations *= static_cast<int64_t>(candidates.back().size());
    first.push_back({anchor, candidates.back().front()});
  }
  walker.propose(first);
  walker.accept();
  Baseline best{"exhaustive", walker.strategy(), {walker.makespan(), 0}};
  // Counts, the last anchor fastest, so that most steps change little.
  std::vector<size_t> at(anchors.size(), 0);
  std::vector<Choice> choices;
  for (int64_t n = 1; n < combinations; ++n) {
    choices.clear();
    for (size_t a = anchors.size(); a-- > 0;) {
      at[a] = (at[a] + 1) % candidates[a].size();
      choices.push_back({anchors[a], candidates[a][at[a]]});
      if (at[a] != 0)
        break;
    }
    walker.propose(choices);
    walker.accept();
    if (walker.makespan() >= best.quality.makespan)
      continue;
    best.quality.makespan = walker.makespan();
    best.strategy = walker.strategy();
  }
  return best;
}
