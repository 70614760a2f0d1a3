//===- Pipelines.h - strategies that are pipelines --------------*- C++ -*-===//
#ifndef FFC_SEARCH_PIPELINES_H
#define FFC_SEARCH_PIPELINES_H

#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Search/PlannedQuality.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ffc::search {

/// The devices are numbered stage by stage. A single stage has gradients added
/// up over micro-batches (gradient accumulation), which needs less memory.
struct PipelineShape {
  int stages = 2;
  int width = 1; ///< devices of a stage
  int microBatches = 2;
  /// How often the model goes over the devices: each has so many stages of an
  /// interleaved pipeline, in which micro-batches come by `stages` at a time.
  int rounds = 1;
  /// So many neighbours of a stage share its layers as Megatron does, and such
  /// groups the samples (Narayanan et al., Megatron-LM, 2021); divides `width`.
  int tensor = 1;
  /// Groups that would all make the same update of a parameter make a share of
  /// it each (ZeRO; Rajbhandari et al., SC 2020).
  bool sharesUpdates = false;
  /// They send each other the parts of parameters for every pass of a
  /// micro-batch, and sums of gradients after it (FSDP; Zhao et al., VLDB
  /// 2023). Only with `sharesUpdates`.
  bool sendsAgain = false;

  int allStages() const { return stages * rounds; }
  int groups() const { return width / tensor; } ///< of a stage
};

/// Divides the model among stages: forward operators in graph order, cut where
/// the slowest stage, on its own devices and with what it sends and receives,
/// is fastest (dynamic programming over the places between operators;
/// PipeDream, SOSP 2019, section 3.1, with equal widths). Operators without
/// samples, gradients and updates follow (completeStrategy).
class PipelineCuts {
public:
  /// Arguments must outlive it. `recomputes`: forward operators are done twice.
  PipelineCuts(const plan::Graph &graph, const plan::Topology &topology,
               const plan::CostModel &cost, bool recomputes = false);

  /// Of the stages after the first, the operator that each begins with, by its
  /// number among those with samples.
  using Begins = std::vector<size_t>;

  static constexpr int kMostStages = 64;
  /// Grid points of a plan.
  static constexpr int64_t kMostPoints = 40000000;
  static constexpr int kMostRounds = 4;
  /// Of large models cuts are only considered where least is sent.
  static constexpr size_t kMostPlaces = 200;

  struct Cut {
    double slowest = 0; ///< picoseconds for all micro-batches
    Begins begins;
  };
  /// Are there as many devices, operators and samples, and would the plan have
  /// at most kMostPoints?
  bool isPossible(const PipelineShape &shape) const;
  /// The best cut of a possible shape.
  Cut cut(const PipelineShape &shape) const;
  /// About what a step takes: that of the slowest stage for all micro-batches,
  /// and the time to fill the pipeline. kMaxCost if it is not possible.
  plan::Picoseconds estimate(const PipelineShape &shape) const;
  /// Nothing if an operator cannot be split so.
  std::optional<plan::Strategy> strategy(const PipelineShape &shape,
                                         const Begins &begins) const;
  /// The next place before (or behind) that of stage `which` over which no more
  /// is sent; nothing if there is none before that of another stage.
  std::optional<Begins> moved(const Begins &begins, size_t which,
                              bool before) const;

private:
  struct Operator {
    plan::OpId op = -1;
    int dim = -1;                ///< of the samples
    int tensor = -1;             ///< that neighbours share, or kReplica
    int64_t most = 1;            ///< blocks of samples
    std::vector<plan::OpId> ops; ///< with its gradients and updates
    int64_t bytes = 0;           ///< what crosses the place before it
    int64_t parameters = 0;      ///< bytes that are updated
    int64_t summed = 0;          ///< bytes that neighbours who share it add up
  };
  struct Table {
    std::vector<size_t> places; ///< where a stage may begin, ascending
    /// By the number of stages and the place where the last one ends: the
    /// slowest of them, and where the last one begins.
    std::vector<std::vector<double>> slowest;
    std::vector<std::vector<size_t>> begin;
  };
  const Table &tableOf(const PipelineShape &shape) const;
  bool shares(const Operator &each, const PipelineShape &shape) const;
  std::vector<double> timesOf(const PipelineShape &shape,
                              plan::DeviceId device) const;
  std::vector<std::vector<size_t>> kindsOfStages(const PipelineShape &shape,
                                                 int count) const;
  double collectiveOfGroups(plan::CollectiveKind kind,
                            const PipelineShape &shape) const;
  std::vector<size_t> places() const;
  plan::Configuration updateOf(plan::OpId update, plan::Configuration config,
                               const PipelineShape &shape) const;
  std::optional<plan::Configuration>
  configuration(const Operator &each, int stage,
                const PipelineShape &shape) const;

  const plan::Graph &graph;
  const plan::CostModel &cost;
  const int numDevices;
  const bool recomputes;
  std::vector<plan::DeviceId> firstOfKind;
  std::vector<size_t> kindOf; ///< by device, which of these
  std::vector<Operator> operators;
  /// By width, micro-batches, `tensor`, `sendsAgain` and, where it matters
  /// which devices a stage of a later round comes back to, their stages.
  mutable std::map<std::tuple<int, int, int, bool, int>, Table> tables;
};

struct Pipeline {
  PipelineShape shape;
  plan::PipelineSchedule schedule;
  PipelineCuts::Begins begins;
  plan::Strategy strategy;
  Quality quality;
  /// "a pipeline, 2 stages of 1 device, 16 micro-batches, gpipe", with "2 times
  /// 2 stages" of an interleaved one, "tensor 4, " where layers are shared and
  /// "sharded updates, " or "fully sharded, ";
  /// or, of one stage, "16 micro-batches one after the other on 4 devices".
  std::string name() const;
};

struct PipelineResult {
  /// The best one that is better than `best`; nothing if there is none.
  std::optional<Pipeline> found;
  /// Those that would be, if they fitted: some of the fastest. Where `best`
  /// needs kFarOff times the memory, what experts take, with estimates for
  /// times.
  std::vector<Pipeline> unfitting;
};

/// By the simulated times of plans. `fewestStages` is 1 or 2: a single stage is
/// never faster than its devices without micro-batches. Ends, with what was
/// found so far, when `goesOn` says no before a plan; empty: always yes.
PipelineResult searchPipelines(PlanJudge &judge, const Quality &best,
                               int fewestStages = 2,
                               const std::function<bool()> &goesOn = nullptr);

} // namespace ffc::search

#endif // FFC_SEARCH_PIPELINES_H
