//===- PipelineSchedule.h - pipelines of micro-batches ----------*- C++ -*-===//
//
// A strategy that splits the samples of operators into more blocks than they
// have devices works on *micro-batches*, one after the other. A schedule says
// in which order: operator by operator, each with all of its micro-batches,
// or as a pipeline, in which the devices of one stage work on a micro-batch
// while those of the next one work on the one before. The meaning stays that of
// the whole batch: gradients are summed over the micro-batches in their order.
//
// Pipelines: GPipe (Huang et al., 2019, section 2.3), in which all forward
// passes of a stage come first; one forward, one backward (Narayanan et al.,
// PipeDream, 2019; Megatron-LM, 2021, section 2.2), in which stage s of S does
// S - s forward passes first and then backward and forward ones by turns, so
// that it keeps the activations of so many micro-batches only; the same
// interleaved (Megatron-LM, section 2.2.2), where stages come back to devices
// that earlier ones are on; zero bubble (Qi et al., ICLR 2024, section 3), in
// which the gradients of weights are a pass of their own, that fills the time
// in which a stage would wait.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_PIPELINESCHEDULE_H
#define FFC_PLAN_PIPELINESCHEDULE_H

#include "ffc/Plan/Configuration.h"

#include <string>
#include <vector>

namespace ffc::plan {

/// What a step does with the micro-batches of a strategy.
struct PipelineSchedule {
  /// 1: operator by operator, whatever the strategy.
  int microBatches = 1;
  /// Of a pipeline, by how many forward passes a stage is ahead of the next
  /// one: 1 is 1F1B. With more of them messages have time to travel. With
  /// `microBatches` it is GPipe.
  int ahead = 1;
  /// Stage s makes the gradients of weights `ahead` times s micro-batches after
  /// those of activations: with `ahead` 1 ZB-H1, which keeps activations of as
  /// many micro-batches on all stages as 1F1B does on the first one; with 2
  /// ZB-H2.
  bool defersWeights = false;

  bool isPipeline() const { return microBatches > 1; }
  bool operator==(const PipelineSchedule &o) const {
    return microBatches == o.microBatches && ahead == o.ahead &&
           defersWeights == o.defersWeights;
  }
  /// "none", "gpipe", "1f1b" or "1f1b:2", "zb-h1", "zb-h2" or "zb:3", with what
  /// `ahead` is.
  std::string str() const;
};

/// The schedules to compare for so many micro-batches, at least 2; each once.
std::vector<PipelineSchedule> pipelineSchedules(int microBatches);

/// Into how many equal blocks of samples the strategy splits what a device
/// does: the most for which this is so of all forward operators that read
/// samples. 1 if it does not. The blocks of one operator are consecutive parts
/// of its sample axis, on the same devices in the same order each.
int numMicroBatches(const Graph &graph, const Strategy &strategy);

/// A turn of an operator: the grid points of its `part`-th block of samples.
struct Turn {
  OpId op = -1;
  int part = 0, parts = 1;
  /// The iteration dimension that the blocks split; without blocks -1.
  int dim = -1;
  /// A forward operator's, in the backward pass.
  bool isAgain = false;
  /// Results, as bits, that are sums over the turns but of which each turn
  /// makes its own (Recomputation.h).
  uint32_t ownSums = 0;
  static constexpr size_t kMostOwnSums = 32;

  bool hasOwnSum(size_t result) const {
    return result < kMostOwnSums && ownSums >> result & 1;
  }

  bool isFirst() const { return part == 0; }
  bool isLast() const { return part == parts - 1; }
};

/// The turns of a step in their order, in which every turn comes after those
/// that make what it reads. Operators that cannot work on blocks (they need
/// sums over all samples, or their configuration has no such blocks) take one
/// turn, before or after the pipeline. What is done again has more of them
/// (Recomputation.h). `overlaps`: devices communicate beside their kernels, so
/// that a stage makes the next micro-batch while one travels.
std::vector<Turn> turnsOf(const Graph &graph, const Strategy &strategy,
                          const PipelineSchedule &schedule, bool overlaps);

/// How many stages the pipeline has: groups of forward operators that follow
/// each other in graph order on the same devices.
int numStages(const Graph &graph, const Strategy &strategy,
              const PipelineSchedule &schedule);

} // namespace ffc::plan

#endif // FFC_PLAN_PIPELINESCHEDULE_H
