//===- Search.h - finds a strategy ------------------------------*- C++ -*-===//
//
// Looks for the strategy with the least simulated time: experts' recipes first,
// then dynamic programming (ffc/Search/Elimination.h), then Markov chains
// (Metropolis; FlexFlow, MLSys 2019, section 6) that start from the best of
// them, and whose best answer is repaired with the others'
// (lib/Search/Repair.h). The answer is never slower than the best recipe, fits
// into the devices' memory if anything met does, and depends on the options
// alone, not on the number of threads, unless it was stopped by the clock or by
// hand.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_SEARCH_SEARCH_H
#define FFC_SEARCH_SEARCH_H

#include "ffc/Search/Space.h"

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ffc::search {

/// How good a strategy is. What fits into memory is better than what does not;
/// of two that fit the faster one is, of two that do not the smaller one.
struct Quality {
  plan::Picoseconds makespan = 0;
  /// The largest share of its memory that a device needs, by estimate.
  /// kNotAsked: of a recipe, since something that fits is much faster (not
  /// isNear()). Of the kReported best ones it is known.
  double load = 0;

  static constexpr double kNotAsked = -1;

  bool fits() const { return load <= 1; }
  bool operator<(const Quality &other) const {
    if (fits() && other.fits())
      return makespan < other.makespan;
    return load < other.load;
  }
};

/// Recipes that reports name.
constexpr size_t kReported = 3;

/// Does a step take at most half as long again as the best one?
inline bool isNear(plan::Picoseconds time, plan::Picoseconds best) {
  return time - time / 3 <= best;
}

/// Does it need more than kFarOff times the memory that there is, in a step of
/// so many operators on so many devices (more than plan::kMostPlannedPoints
/// together) that to try other splits is not worth the time? Less has to be
/// kept.
bool isFarOff(const Quality &quality, const plan::Graph &graph, int numDevices);
constexpr double kFarOff = 4;

/// A recipe's strategy.
struct Baseline {
  std::string name; ///< "data-parallel", "grid n = 2, c = 2"
  plan::Strategy strategy;
  Quality quality;
};

/// What a search did so far.
struct Progress {
  /// What it does: "recipes", "dynamic programming" or "proposals".
  const char *phase = "proposals";
  plan::Picoseconds best = 0, current = 0;
  int64_t proposals = 0, accepted = 0;
  double share = 0; ///< of the budget of proposals or time, 0 to 1
};

/// How often a kind of proposal, or a repair, was made, and taken.
struct MoveCount {
  const char *name = ""; ///< "candidate", "neighbour"
  int64_t proposed = 0, accepted = 0;
};

struct Options {
  /// Proposals of all chains together; nothing: at most defaultBudget(), and
  /// none that are not worth the wait (unless `seconds` says how long that is).
  std::optional<int64_t> budget;
  double seconds = 0; ///< stop after this time; 0: never
  /// Readiness to go uphill: a strategy that is 1 % slower is accepted with
  /// probability exp(-alpha). Nothing: a sixteenth of the number of anchors,
  /// since each of them adds its share to what all have gone uphill, but at
  /// least 1.
  std::optional<double> alpha;
  uint64_t seed = 0;
  int chains = 4;
  int threads = 0; ///< 0: as many as the machine has, at most `chains`
  /// Only choices that FlexFlow can say (Space).
  bool forFlexFlow = false;
  /// Names of the recipes that are tried; all, if the graph has none of them.
  std::vector<std::string> recipes;
  /// Nothing but recipes is tried if the best one takes longer; 0: whatever it
  /// takes.
  plan::Picoseconds recipesWithin = 0;
  /// What dynamic programming may choose from for an operator, at most.
  int candidates = 24;
  /// Configurations that anchors keep.
  std::vector<Choice> pinned;
  /// A strategy to start from besides the recipes; complete.
  std::optional<plan::Strategy> start;
  /// Bytes on every device if a strategy is planned as the target has it; asked
  /// for answers that a bound does not decide. Empty: of the plan alone.
  std::function<std::vector<int64_t>(const plan::Strategy &)> plannedBytes;
  /// What is far off (isFarOff) is left to pipelines and recomputation, which
  /// the caller tries: no dynamic programming and no proposals then.
  bool leavesFarOff = false;
  /// Set from outside to end early, with the best strategy so far.
  const std::atomic<bool> *stop = nullptr;
  /// Called now and then by one thread; may be empty.
  std::function<void(const Progress &)> progress;
};

/// Proposals that take some seconds: the more devices and the more operators,
/// the longer each takes.
int64_t defaultBudget(int numDevices, size_t numOps);

struct Result {
  plan::Strategy strategy;
  Quality quality; ///< if it does not fit, nothing met does
  /// The least time that any strategy can take (lowerBound()); 0 where times
  /// are measured.
  plan::Picoseconds bound = 0;
  /// The same with communicationBound(): at least as much.
  plan::Picoseconds boundWithCommunication = 0;
  std::vector<Baseline> baselines; ///< best first
  /// The answer of dynamic programming, from which one chain starts at least;
  /// nothing if there are no proposals to make, or more than 64 devices.
  std::optional<Baseline> elimination;
  /// That answer and the best baselines in other orders of devices, where these
  /// are faster; best first.
  std::vector<Baseline> dealtOut;
  /// The best of each chain, and of repair; best first.
  std::vector<Baseline> answers;
  /// Anchors that dynamic programming chose by a beam, since they did not
  /// reduce and were too many to try all.
  size_t beamAnchors = 0;
  /// Whether the first baseline is taken instead: it fits, and takes at most 1
  /// % longer. A smaller gain is not worth a strategy that differs from
  /// operator to operator: it is harder to read, and gives ranks programs of
  /// their own.
  bool takesBaseline = false;
  /// Of the answer, what the device needs at least that needs most: all of it,
  /// and what is known to be for something; the rest are gaps.
  int64_t bytes = 0;
  plan::MemoryParts memory;
  bool isFarOff = false; ///< and was left so (Options::leavesFarOff)
  int64_t proposals = 0, accepted = 0; ///< of chains
  int64_t repairProposals = 0;         ///< of repairs and kicks
  std::vector<MoveCount> moves;        ///< none if there were no proposals
  double seconds = 0;
};

/// `cost` is that of `topology`; its devices must be at least one.
Result searchStrategy(const plan::Graph &graph, const plan::Topology &topology,
                      const plan::CostModel &cost, const Options &options);

/// Of the walker's strategy; `room` has the bytes of every device.
Quality qualityOf(Walker &walker, const std::vector<int64_t> &room);

/// Recipes: one device, data parallelism, data x parameter grids (each with
/// layers of many parameters split by parameter alone or not), groups that
/// share layers as Megatron does (each with sharded updates or not), and tables
/// on one device each, by rows or columns (by all devices, or by groups of
/// which each has some of the samples) or, where they are most of the model,
/// apart from each other; wide layers along both dimensions of their
/// parameters; branches and experts on devices of their own; groups on the
/// first few devices alone. Each once. A dimension that an operator does not
/// have, or not enough of, becomes copies. Grids and groups become larger until
/// one takes longer than the one before and ten times as long as some recipe
/// that fits; or when `goesOn`, which is told the time of the best recipe so
/// far and may be empty, says so after the second one, and one fits. Only those
/// that `names` lists, if there are any; so there is at least one.
std::vector<Baseline>
baselines(const Space &space, const std::vector<Choice> &pinned,
          const std::vector<int64_t> &room, Walker &walker,
          const std::function<bool(plan::Picoseconds)> &goesOn = nullptr,
          const std::vector<std::string> &names = {});

/// The best of all combinations of candidates, of which every anchor has at
/// least one, for instance Space::candidates(). For small graphs, few devices.
Baseline
exhaustive(const Space &space, Walker &walker,
           const std::vector<std::vector<plan::Configuration>> &candidates);

/// No strategy takes less, whatever runs beside what; the largest of
///
///   - device time: every operator's kernels, however it is split and
///   scheduled,
///     compute each point of its iteration space and touch each element of its
///     operands and results at least once, and there is one launch per phase,
///     or part of it, at least. A kernel takes its launches and the larger of
///     compute and memory time, with what does not hide behind it, and a device
///     runs one at a time; so the sum over operators, with the best figures of
///     any device, divided by the number of devices;
///   - all flops at the rate of all devices together; all bytes at the
///     bandwidth of all (these count where devices differ);
///   - dependence: the most operators in a row of which every kernel, whatever
///     its tile, reads something of the one before, or of their parts, times a
///     launch.
///
/// Communication is not counted: a device that has copies of all needs none.
/// Holds up to the rounding of each kernel to whole picoseconds.
plan::Picoseconds lowerBound(const plan::Graph &graph,
                             const plan::Topology &topology);

} // namespace ffc::search

#endif // FFC_SEARCH_SEARCH_H
