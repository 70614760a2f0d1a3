//===- Repair.h - windows of a strategy, solved again -----------*- C++ -*-===//
//
// What chains leave undone. A chain draws one of hundreds of configurations for
// one of hundreds of anchors; some steps that would make its answer better it
// has never drawn, and of what other chains found it knows nothing. So the best
// answer is repaired with the help of the others:
//
//   - regions: where another one differs from it, what is connected in the
//     graph is taken over if that is faster (partition crossover; Tinos,
//     Whitley and Chicano, FOGA 2015);
//   - layers: all that are alike get the same, with or without what the loss,
//     sums and products behind them would take over from them;
//   - pairs: two neighbours in the graph are chosen again together, on the same
//     devices, which neither may want alone;
//   - windows: a few anchors, neighbours in the graph or layers alike, are
//     freed and chosen again one after the other, by a beam under the simulated
//     time (large-neighbourhood search; Shaw, CP 1998);
//   - kicks: a move of chains is made though it costs time, or devices or
//     layers alike change places; what is around it is repaired, and what comes
//     out is accepted if it is faster or hardly slower (iterated local search;
//     Lourenco, Martin and Stutzle 2003).
//
// Of what layers alike have anywhere in the population, on other devices and in
// other orders, too, and of what an anchor has with a factor of one degree
// moved to another dimension.
//
// All of it is deterministic; kicks are drawn from a seed.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_REPAIR_H
#define FFC_LIB_SEARCH_REPAIR_H

#include "Moves.h"
#include "Roles.h"
#include "Trails.h"
#include "ffc/Search/Search.h"

#include <functional>
#include <set>
#include <vector>

namespace ffc::search {

class Repair {
public:
  /// Pinned anchors stay as they are. `mayTake` says whether what the walker
  /// has, an open proposal included, fits into memory, `goesOn` whether there
  /// is time for another. Arguments must outlive it.
  Repair(const Space &space, Walker &walker, const std::vector<Choice> &pinned,
         std::function<bool()> mayTake, std::function<bool()> goesOn);

  /// What windows choose from, besides what is taken over from.
  void note(const plan::Strategy &strategy);

  /// What a good strategy has for every anchor: kicks take over what it has for
  /// branches, or for what these meet in.
  void addKnown(const std::vector<Choice> &choices) {
    known.push_back(walker.numbered(choices));
  }

  /// Makes the walker's strategy faster by at most `budget` proposals. `others`
  /// are complete. What chooses for several anchors takes longest and only
  /// comes with `thoroughly`.
  void run(const std::vector<const plan::Strategy *> &others, int64_t budget,
           bool thoroughly);

  /// Makes it faster by other tensor grids (Roles.h) of layers on the same
  /// devices, in at most `budget` proposals; true if one is.
  bool regroup(int64_t budget);

  /// Makes it faster by kicks, in at most `budget` proposals. What comes out
  /// fits; in between that is not looked at.
  void kick(Random &random, int64_t budget);

  /// How many of each kind were tried, and how many gained something.
  std::vector<MoveCount> counts() const {
    return {regions, layers, pairs, windows, regroupings};
  }
  const MoveCount &kickCount() const { return kicks; }
  /// Of all kinds.
  int64_t proposals() const { return made; }

private:
  using Choices = std::vector<NumberedChoice>;
  /// Of some anchors of a window, with the time of a step.
  struct Partial {
    plan::Picoseconds makespan = 0;
    Choices choices;
  };

  bool isLeft() const { return made < end && goesOn(); }
  bool take(const Choices &choices, MoveCount &count);
  void takeOver(const plan::Strategy &other);
  std::vector<std::vector<size_t>> regionsOf(const Choices &theirs) const;
  bool solve(const std::vector<size_t> &window);
  void addIfFaster(std::vector<Partial> &next, Partial partial,
                   const NumberedChoice &choice, size_t beam);
  void extend(std::vector<Partial> &next, const Partial &partial, size_t anchor,
              size_t beam);
  bool solveEach(const std::function<std::vector<size_t>(size_t)> &windowFrom);
  bool solveLayers();
  bool solveLayers(const std::vector<plan::OpId> &members);
  void addBehind(Choices &choices) const;
  bool solveGroups();
  bool solveGroups(const std::vector<std::vector<size_t>> &sets,
                   const std::vector<plan::DeviceId> &devices, int64_t samples);
  Choices inGrid(const std::vector<size_t> &members,
                 const std::vector<plan::DeviceId> &devices,
                 const TensorGrid &grid) const;
  bool solvePairs();
  bool solvePair(size_t first, size_t second);
  void drawPart(Random &random, Choices &choices) const;
  bool drawKick(Random &random, Choices &choices);
  std::set<size_t> around(const Choices &choices) const;
  bool followNeighbours(size_t anchor);
  Choices kickOnce(Random &random);
  std::vector<ChoiceOptions> optionsOf(const NumberedChoice &own) const;
  std::vector<plan::ConfigId> choicesOf(size_t anchor) const;
  std::vector<size_t> connected(size_t first) const;
  std::vector<size_t> alike(size_t first) const;
  size_t indexOf(plan::OpId anchor) const;

  const Space &space;
  Walker &walker;
  const std::function<bool()> mayTake, goesOn;
  const Trails trails;
  const Roles roles;
  Moves moves;
  int64_t made = 0, end = 0;
  // Anchors by their indices.
  std::vector<size_t> open; ///< those that are not pinned
  std::vector<bool> isOpen;
  /// Open ones that read a value of this one's group, or make one for it.
  std::vector<std::vector<size_t>> neighbours;
  /// By class of anchors: what to choose from.
  std::vector<std::vector<plan::ConfigId>> candidates;
  /// Of a model with branches: all of these, what they meet in, and each.
  std::vector<std::vector<size_t>> parts;
  std::vector<Choices> known; ///< by strategy, of all anchors
  MoveCount regions{"region of another"}, layers{"layers"}, pairs{"pair"},
      windows{"window"}, regroupings{"regrouping"}, kicks{"kick"};
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_REPAIR_H
