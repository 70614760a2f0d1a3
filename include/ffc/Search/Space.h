//===- Space.h - what a search may choose -----------------------*- C++ -*-===//
//
// The search problem apart from its solvers. Choices are made for *anchors*:
// operators that follow none (ffc/Plan/Following.h), and of those that follow a
// producer the ones that have parameters along a dimension, sum over one, open
// one (one-hot rows, outer products), or can be split by samples where their
// producer cannot. All others follow one of them.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_SEARCH_SPACE_H
#define FFC_SEARCH_SPACE_H

#include "ffc/Plan/Following.h"
#include "ffc/Plan/PairMap.h"
#include "ffc/Plan/Segments.h"
#include "ffc/Plan/StepMemory.h"
#include "ffc/Plan/StepTimer.h"
#include "ffc/Plan/Topology.h"

#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace ffc::search {

/// Random numbers that are the same everywhere; draws are uniform up to a bias
/// of n / 2^64.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  /// 0 to n - 1.
  int64_t below(int64_t n) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(n));
  }
  bool oneIn(int64_t n) { return below(n) == 0; }
  /// In (0, 1].
  double unit() { return static_cast<double>((engine() >> 11) + 1) * 0x1p-53; }

private:
  std::mt19937_64 engine;
};

/// What can be chosen for an anchor besides its configuration.
enum class ChoiceOption {
  /// Devices that would all make the same update of a parameter take a share of
  /// it each (plan::shareCopies()), as in ZeRO (Rajbhandari et al., SC 2020).
  ShardUpdates,
};

/// A set of them.
class ChoiceOptions {
public:
  bool has(ChoiceOption option) const { return (bits & bitOf(option)) != 0; }
  bool empty() const { return bits == 0; }
  void set(ChoiceOption option, bool on = true) {
    bits = on ? bits | bitOf(option) : bits & ~bitOf(option);
  }
  /// Those of both sets.
  ChoiceOptions operator&(ChoiceOptions o) const {
    ChoiceOptions both;
    both.bits = bits & o.bits;
    return both;
  }
  std::vector<ChoiceOption> list() const;
  bool operator==(ChoiceOptions o) const { return bits == o.bits; }

private:
  static uint32_t bitOf(ChoiceOption option) {
    return uint32_t(1) << static_cast<int>(option);
  }
  uint32_t bits = 0;
};

/// What an anchor and its followers do.
struct Choice {
  plan::OpId op = -1; ///< the anchor
  plan::Configuration config;
  ChoiceOptions options = {};
  bool operator==(const Choice &o) const {
    return op == o.op && config == o.config && options == o.options;
  }
};

/// The same by the number of the configuration in a walker's table.
struct NumberedChoice {
  plan::OpId op = -1;
  plan::ConfigId config = -1;
  ChoiceOptions options = {};
};

/// Ascending.
std::vector<int64_t> divisorsOf(int64_t number);

/// What does not change during a search; may be shared by threads.
class Space {
public:
  /// With `forFlexFlow` there are only choices that FlexFlow's strategy files
  /// can say: forward operators are split along dimensions of their results,
  /// and updates are not sharded. All else follows.
  /// `speeds` says how fast each device is next to the others; empty: all are
  /// equally fast.
  Space(const plan::Graph &graph, int numDevices, bool forFlexFlow = false,
        std::vector<double> speeds = {});

  const plan::Graph &graph() const { return *graph_; }
  int numDevices() const { return numDevices_; }
  /// Of the number of devices, ascending.
  const std::vector<int64_t> &divisors() const { return divisors_; }
  const std::vector<double> &speeds() const { return speeds_; }
  /// plan::memoryCeiling() of the graph.
  int64_t memoryCeiling() const { return memoryCeiling_; }
  /// In graph order.
  const std::vector<plan::OpId> &anchors() const { return anchors_; }
  /// Anchors with the same rules and tensors as the anchor at `index`, itself
  /// included: the layers that repeat.
  const std::vector<plan::OpId> &alike(size_t index) const {
    return classes_[classOf_[index]];
  }
  /// The number of that set.
  int classOf(size_t index) const { return classOf_[index]; }

  /// What `op` follows; none: an anchor.
  const plan::Leader &leader(plan::OpId op) const { return leaders_[op]; }
  /// What follows an anchor, directly or not, each after its leader.
  const std::vector<plan::OpId> &followers(plan::OpId anchor) const {
    return followers_[anchor];
  }

  /// The options that an anchor has: of updates, if some are among them.
  ChoiceOptions options(plan::OpId anchor) const;
  /// Is a legal configuration of an anchor one to choose?
  bool allows(plan::OpId anchor, const plan::Configuration &config) const;

  /// A random member of the canonical candidates of an anchor: degrees are
  /// products of the prime factors of a divisor of the number of devices, axes
  /// come in any order, and the points take a whole block of neighbouring
  /// devices or every k-th one, the first when there are several; or one of
  /// evenSplits() on a block of neighbours, perhaps with another dimension over
  /// what that leaves. Half of them are shared by speed
  /// if devices are not equally fast. Legal; on one device if FlexFlow can say
  /// none of them.
  plan::Configuration candidate(plan::OpId anchor, Random &random) const;
  /// The same by somebody who knows what isCandidate() says of many of them.
  plan::Configuration
  candidate(plan::OpId anchor, Random &random,
            const std::function<bool(const plan::Configuration &)> &isCandidate)
      const;
  /// Legal and allowed.
  bool isCandidate(plan::OpId anchor, const plan::Configuration &config) const;
  /// The configuration on `factor` times as many devices, by a finer last axis
  /// (copies, if there is none), or on as few, by the last axis that can be
  /// coarser: the block of neighbours in which the first device is. Nothing if
  /// that is not legal.
  std::optional<plan::Configuration> grown(plan::OpId anchor,
                                           const plan::Configuration &config,
                                           int64_t factor) const;
  std::optional<plan::Configuration> shrunk(plan::OpId anchor,
                                            const plan::Configuration &config,
                                            int64_t factor) const;
  /// The same degrees in any order of axes, on any block of neighbours or every
  /// k-th device: a legal configuration of equal blocks on as many devices as
  /// divide all of them has such relatives among the candidates, itself
  /// included; another has none.
  std::vector<plan::Configuration>
  relatives(plan::OpId anchor, const plan::Configuration &config) const;
  /// The configuration with one factor of a degree moved to another dimension,
  /// or to copies: legal ones on the same devices.
  std::vector<plan::Configuration>
  reshaped(plan::OpId anchor, const plan::Configuration &config) const;
  /// Splits of one dimension into equal blocks for which there is no divisor of
  /// the number of devices: of 12 heads on 8 devices into 3 or 6. Of dimensions
  /// of less than twice as many units as devices, where it matters.
  const std::vector<plan::GridAxis> &evenSplits(plan::OpId anchor) const {
    return evenSplits_[anchor];
  }
  /// `config` with blocks as large as devices are fast (`exponent` as in
  /// sharedBySpeed()), where the space allows that; else as it is.
  plan::Configuration bySpeed(plan::OpId anchor,
                              const plan::Configuration &config,
                              double exponent = 1) const;
  /// All candidates with equal blocks, each once; with `firstPlaceOnly` those
  /// on the first devices. There are many for many devices.
  std::vector<plan::Configuration> candidates(plan::OpId anchor,
                                              bool firstPlaceOnly) const;

private:
  std::optional<plan::Configuration> placed(plan::OpId anchor,
                                            plan::Configuration config) const;
  void addPlaced(plan::OpId anchor, std::vector<plan::GridAxis> axes,
                 int64_t points, bool firstPlaceOnly,
                 std::vector<plan::Configuration> &result) const;

  const plan::Graph *graph_;
  int numDevices_;
  bool forFlexFlow_;
  std::vector<double> speeds_;
  int64_t memoryCeiling_;
  std::vector<plan::OpId> anchors_;
  std::vector<plan::Leader> leaders_;
  std::vector<std::vector<plan::OpId>> followers_;
  std::vector<std::vector<plan::OpId>> classes_;
  std::vector<int> classOf_; ///< by index of the anchor
  /// By operator: dimensions along which it can be split at all.
  std::vector<std::vector<int>> splittable_;
  std::vector<std::vector<plan::GridAxis>> evenSplits_; ///< by operator
  std::vector<int64_t> divisors_;
};

/// A strategy of a search with its time, which moves change. For one thread.
class Walker {
public:
  /// Starts with everything on device 0.
  Walker(const Space &space, const plan::CostModel &cost);
  /// With a table of the space's graph and devices that others have, too, so
  /// that each segment is made once; it must outlive the walker.
  Walker(const Space &space, plan::SegmentTable &table);

  plan::Picoseconds makespan() const { return timer.makespan(); }
  const plan::Configuration &config(plan::OpId op) const {
    return table.config(timer.configs()[op]);
  }
  plan::Strategy strategy() const;
  /// By operator.
  const std::vector<plan::ConfigId> &configs() const { return timer.configs(); }
  /// What was chosen for an anchor, or could have been.
  Choice choice(plan::OpId anchor) const {
    return {anchor, config(anchor), taken[anchor]};
  }
  NumberedChoice numbered(plan::OpId anchor) const {
    return {anchor, timer.configs()[anchor], taken[anchor]};
  }
  plan::ConfigId number(const plan::Configuration &config) const {
    return table.intern(config);
  }
  const plan::Configuration &config(const NumberedChoice &choice) const {
    return table.config(choice.config);
  }

  /// See StepTimer. Anchors are distinct, configurations legal.
  plan::Picoseconds propose(const std::vector<Choice> &choices,
                            plan::Picoseconds limit = plan::kNoLimit);
  plan::Picoseconds proposeNumbered(const std::vector<NumberedChoice> &choices,
                                    plan::Picoseconds limit = plan::kNoLimit);
  /// What a proposal changes: the anchors and what follows them. Until the next
  /// one.
  const std::vector<plan::StepTimer::Change> &
  changesOf(const std::vector<NumberedChoice> &choices);
  std::vector<NumberedChoice>
  numbered(const std::vector<Choice> &choices) const;
  void accept();
  void reject() { timer.reject(); }
  /// Takes the strategy of `other`, which may be of another walker.
  void assign(const plan::Strategy &other);

  /// See SegmentTable.
  size_t numSegments() const { return table.numSegments(); }

  /// At least so many bytes are needed on every device (plan::stepMemory()).
  std::vector<int64_t> memory();
  /// See Space.
  int64_t memoryCeiling() const { return space.memoryCeiling(); }
  /// So many are: the whole step is planned.
  std::vector<int64_t> plannedMemory();
  /// Of the device that needs most, what for.
  plan::MemoryParts largestMemory();

private:
  Walker(const Space &space, std::unique_ptr<plan::SegmentTable> own);
  plan::ConfigId follow(plan::OpId op, plan::ConfigId leader,
                        ChoiceOptions options);
  /// What an anchor and its followers do.
  const std::vector<plan::StepTimer::Change> &
  groupOf(plan::OpId anchor, plan::ConfigId config, ChoiceOptions options);

  const Space &space;
  std::unique_ptr<plan::SegmentTable> owned; ///< may be null
  plan::SegmentTable &table;
  plan::StepTimer timer;
  /// By anchor, its configuration, and whether updates are sharded.
  plan::PairMap<std::vector<plan::StepTimer::Change>> groups;
  std::vector<plan::ConfigId> fresh; ///< of a group that is made, by operator
  std::vector<plan::StepTimer::Change> changes;
  std::vector<ChoiceOptions> taken; ///< by operator, of anchors
  std::vector<std::pair<plan::OpId, ChoiceOptions>> proposed;
};

} // namespace ffc::search

#endif // FFC_SEARCH_SPACE_H
