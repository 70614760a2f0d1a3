//===- Chain.h - one Markov chain over strategies ---------------*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_CHAIN_H
#define FFC_LIB_SEARCH_CHAIN_H

#include "Moves.h"

namespace ffc::search {

/// The largest share of a device's room that its bytes are.
double shareOf(const std::vector<int64_t> &bytes,
               const std::vector<int64_t> &room);

/// What the walker's strategy needs on every device. By the bound if that says
/// enough: if it is far from filling the room, or does not fit. Else by
/// `planned`, Options::plannedBytes, or by a plan of the walker's graph.
std::vector<int64_t> neededBytes(
    Walker &walker, const std::vector<int64_t> &room,
    const std::function<std::vector<int64_t>(const plan::Strategy &)> &planned =
        nullptr);

/// The largest share of a device's room that the walker's strategy needs, by
/// its bound, or as neededBytes() has it. Where there is room for any strategy
/// (plan::memoryCeiling()), that is what both say: an account takes as long as
/// many proposals. The answer of a search is accounted for in any case.
double boundedLoad(Walker &walker, const std::vector<int64_t> &room);
double neededLoad(
    Walker &walker, const std::vector<int64_t> &room,
    const std::function<std::vector<int64_t>(const plan::Strategy &)> &planned =
        nullptr);

/// Options::alpha of a search that does not say it.
double alphaFor(size_t anchors);

/// The longest step that Metropolis takes where one of `makespan` is now.
plan::Picoseconds drawLimit(Random &random, plan::Picoseconds makespan,
                            double alpha);

/// Metropolis over the strategies of a space. The threshold is drawn before a
/// proposal is timed, so that timing may stop as soon as it is passed. After a
/// quarter of the budget without a new best strategy, the chain goes back to
/// it. One that `mayEndEarly` ends when at least a third of its proposals came
/// after the last gain that was worth them, and there were enough for every
/// candidate to have been proposed some times; or when nothing fits, and to
/// find that out has taken some seconds.
class Chain {
public:
  /// `table` may be shared with others of the same thread, and must outlive it.
  Chain(const Space &space, plan::SegmentTable &table, const Options &options,
        const std::vector<int64_t> &room, int64_t budget, bool mayEndEarly,
        uint64_t seed, const Baseline &start);

  /// Makes up to `proposals` more, not over a share of the budget, or of what
  /// it does before it may end. False when that is spent, or the chain has
  /// ended.
  bool run(int64_t proposals, double share = 1);
  /// Goes on from another strategy, better than its best.
  void goOnFrom(const Baseline &better);

  const plan::Strategy &best() const { return bestStrategy; }
  const Quality &bestQuality() const { return quality; }
  plan::Picoseconds current() const { return walker.makespan(); }
  int64_t proposals() const { return made; }
  int64_t accepted() const { return taken; }
  const std::vector<MoveCount> &moveCounts() const { return counts; }

private:
  /// True if the proposal was taken.
  bool step(const std::vector<NumberedChoice> &choices);
  bool stepToFit(const std::vector<NumberedChoice> &choices);
  void keepBest(double load);
  bool hasEnded(double share) const;

  const Options &options;
  const std::vector<int64_t> &room;
  Walker walker;
  Random random;
  Moves moves;
  std::vector<MoveCount> counts = Moves::counts();
  double alpha = 0; ///< as in Options
  int64_t budget, made = 0, taken = 0, lastBest = 0;
  const bool mayEndEarly;
  int64_t points = 0;   ///< operators times devices
  int64_t patience = 0; ///< proposals before it may
  int64_t lastGain = 0; ///< of a size that counts
  plan::Strategy bestStrategy;
  Quality quality; ///< of the best strategy
  double load;     ///< of the current one, while nothing fits
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_CHAIN_H
