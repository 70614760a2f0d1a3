//===- RepairKicks.cpp - out of what nothing small makes better -----------===//

#include "Repair.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Anchors that one changes at most.
static constexpr size_t kMostKicked = 32;
/// One of so many exchanges devices.
static constexpr int64_t kExchanges = 6;
/// What takes longer, by this share of the time, is not repaired.
static constexpr Picoseconds kShareOfTime = 4;
/// So often all that is around one is looked at.
static constexpr int kRounds = 2;
/// After so many that would be faster and do not fit, others hardly do, and to
/// find out takes as long as many proposals.
static constexpr int kMostRefused = 8;

bool Repair::drawKick(Random &random, Choices &choices) {
  if (random.oneIn(kExchanges))
    moves.exchangeDevices(walker, random, choices);
  else
    moves.propose(walker, random, choices);
  return !choices.empty() && choices.size() <= kMostKicked;
}

/// The anchors and their neighbours.
std::set<size_t> Repair::around(const Choices &choices) const {
  std::set<size_t> result;
  for (const NumberedChoice &choice : choices) {
    const size_t anchor = indexOf(choice.op);
    result.insert(anchor);
    result.insert(neighbours[anchor].begin(), neighbours[anchor].end());
  }
  return result;
}

/// Takes over from a neighbour, or moves a factor of a degree, if that is
/// faster.
bool Repair::followNeighbours(size_t anchor) {
  const NumberedChoice own = walker.numbered(space.anchors()[anchor]);
  std::set<ConfigId> configs{own.config};
  auto add = [&](const Configuration &config) {
    configs.insert(walker.number(config));
  };
  for (size_t next : neighbours[anchor]) {
    const OpId other = space.anchors()[next];
    const Configuration taken =
        carryOverByName(space.graph(), other, walker.config(other), own.op);
    if (space.allows(own.op, taken))
      add(taken);
  }
  for (const Configuration &config : space.reshaped(own.op, walker.config(own)))
    add(config);
  std::vector<Partial> best{{walker.makespan(), {}}};
  for (ConfigId config : configs)
    for (const ChoiceOptions &options : optionsOf(own))
      if ((config != own.config || !(options == own.options)) && isLeft())
        addIfFaster(best, {walker.makespan(), {}}, {own.op, config, options},
                    /*beam=*/1);
  if (best.front().choices.empty())
    return false;
  walker.proposeNumbered(best.front().choices);
  walker.accept();
  return true;
}

void Repair::kick(Random &random, int64_t budget) {
  end = made + budget;
  Choices choices;
  int refused = 0;
  while (moves.size() > 0 && isLeft() && refused < kMostRefused) {
    ++made;
    if (!drawKick(random, choices))
      continue;
    ++kicks.proposed;
    const Picoseconds before = walker.makespan(),
                      limit = before + before / kShareOfTime;
    const std::set<size_t> near = around(choices);
    Choices own;
    for (size_t anchor : near)
      own.push_back(walker.numbered(space.anchors()[anchor]));
    if (walker.proposeNumbered(choices, limit) > limit) {
      walker.reject();
      continue;
    }
    walker.accept();
    bool goesOn = true;
    for (int round = 0; round < kRounds && goesOn; ++round) {
      goesOn = false;
      for (size_t anchor : near)
        goesOn |= isLeft() && followNeighbours(anchor);
    }
    if (walker.makespan() < before) {
      if (mayTake()) {
        ++kicks.accepted;
        continue;
      }
      ++refused;
    }
    walker.proposeNumbered(own);
    walker.accept();
  }
}
