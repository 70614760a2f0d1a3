//===- RepairKicks.cpp - out of what nothing small makes better -----------===//

#include "Repair.h"

#include "Chain.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Anchors that one changes at most, unless it is of whole branches.
static constexpr size_t kMostKicked = 32;
/// Of so many kicks, those that exchange devices and those that rotate layers;
/// the others are moves of chains. Where there are branches, kicks of these
/// come on top.
static constexpr int64_t kOfAllKicks = 6, kExchanges = 1, kRotations = 2,
                         kOfBranches = 2;
/// drawLimit()'s, of what comes out: up to 0.3 % slower on average.
static constexpr double kAlpha = 3.3;
/// What takes longer, by this share of the time, is not repaired.
static constexpr Picoseconds kShareOfTime = 4;
/// So often all that is around one is looked at.
static constexpr int kRounds = 2;
/// After so many that would be faster and do not fit, others hardly do, and to
/// find out takes as long as many proposals.
static constexpr int kMostRefused = 8;

/// All of a part as one of the known strategies has it. Strategies whose
/// branches have devices of their own, and ones whose branches share all, are
/// separated by slower ones.
void Repair::drawPart(Random &random, Choices &choices) const {
  if (known.empty())
    return;
  const Choices &theirs =
      known[static_cast<size_t>(random.below(int64_t(known.size())))];
  for (size_t anchor :
       parts[static_cast<size_t>(random.below(int64_t(parts.size())))])
    choices.push_back(theirs[anchor]);
}

bool Repair::drawKick(Random &random, Choices &choices) {
  const int64_t kind =
      random.below(kOfAllKicks + (parts.empty() ? 0 : kOfBranches));
  if (kind >= kOfAllKicks) {
    if (kind == kOfAllKicks)
      drawPart(random, choices);
    else
      moves.tradeBranches(walker, random, choices);
    return !choices.empty();
  }
  if (kind < kExchanges)
    moves.exchangeDevices(walker, random, choices);
  else if (kind < kExchanges + kRotations)
    moves.rotate(walker, random, choices);
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
  // In an order that does not depend on what was met before.
  std::vector<ConfigId> configs{own.config};
  auto add = [&](const Configuration &config) {
    const ConfigId id = walker.number(config);
    if (std::find(configs.begin(), configs.end(), id) == configs.end())
      configs.push_back(id);
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
  Picoseconds least = walker.makespan();
  Strategy best = walker.strategy();
  int refused = 0;
  while (moves.size() > 0 && isLeft() && refused < kMostRefused) {
    ++made;
    const Choices before = kickOnce(random);
    if (before.empty() || walker.makespan() >= least)
      continue;
    if (mayTake()) {
      ++kicks.accepted;
      least = walker.makespan();
      best = walker.strategy();
    } else {
      ++refused;
      walker.proposeNumbered(before);
      walker.accept();
    }
  }
  walker.assign(best);
}

/// One kick and the repair of what is around it. Returns what was there before,
/// nothing if it still is.
Repair::Choices Repair::kickOnce(Random &random) {
  Choices choices, own;
  if (!drawKick(random, choices))
    return {};
  ++kicks.proposed;
  const Picoseconds before = walker.makespan(),
                    limit = before + before / kShareOfTime;
  const std::set<size_t> near = around(choices);
  for (size_t anchor : near)
    own.push_back(walker.numbered(space.anchors()[anchor]));
  if (walker.proposeNumbered(choices, limit) > limit) {
    walker.reject();
    return {};
  }
  walker.accept();
  bool goesOn = true;
  for (int round = 0; round < kRounds && goesOn; ++round) {
    goesOn = false;
    for (size_t anchor : near)
      goesOn |= isLeft() && followNeighbours(anchor);
  }
  if (walker.makespan() < drawLimit(random, before, kAlpha))
    return own;
  walker.proposeNumbered(own);
  walker.accept();
  return {};
}
