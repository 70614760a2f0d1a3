//===- Pipelines.h - strategies that are pipelines --------------*- C++ -*-===//
#ifndef FFC_SEARCH_PIPELINES_H
#define FFC_SEARCH_PIPELINES_H

#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Search/Search.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::search {

/// The devices are numbered stage by stage.
struct PipelineShape {
  int stages = 2;
  int width = 1; ///< devices of a stage, which share the samples
  int microBatches = 2;
};

/// Divides the model among stages: forward operators in graph order, cut where
/// the slowest stage, with what it sends and receives, is fastest (dynamic
/// programming over the places between operators; PipeDream, SOSP 2019, section
/// 3.1, with equal widths). Operators without samples, gradients and updates
/// follow (completeStrategy).
class PipelineCuts {
public:
  /// Arguments must outlive it.
  PipelineCuts(const plan::Graph &graph, const plan::CostModel &cost,
               int numDevices);

  /// Nothing if there are not as many devices, operators or samples.
  std::optional<plan::Strategy> strategy(const PipelineShape &shape) const;
  /// About what a step takes: that of the slowest stage for all micro-batches,
  /// and the time to fill the pipeline. kMaxCost if there is no strategy.
  plan::Picoseconds estimate(const PipelineShape &shape) const;

private:
  struct Operator {
    plan::OpId op = -1;
    int dim = -1;               ///< of the samples
    int64_t most = 1;           ///< blocks of samples
    plan::Picoseconds time = 0; ///< with its gradients, on one device
    int64_t bytes = 0;          ///< what crosses the place before it
  };
  struct Cut {
    plan::Picoseconds slowest = plan::kMaxCost;
    std::vector<size_t> begins; ///< of the stages after the first
  };
  bool isPossible(const PipelineShape &shape) const;
  Cut cut(const PipelineShape &shape) const;
  std::optional<plan::Configuration>
  configuration(const Operator &each, int stage,
                const PipelineShape &shape) const;

  const plan::Graph &graph;
  const plan::CostModel &cost;
  const int numDevices;
  std::vector<Operator> operators;
};

struct Pipeline {
  PipelineShape shape;
  plan::PipelineSchedule schedule;
  plan::Strategy strategy;
  Quality quality;
  /// "2 stages of 1 device, 16 micro-batches, gpipe"
  std::string name() const;
};

/// The best pipeline that is better than `best`, by the simulated time of its
/// plan; nothing if there is none.
std::optional<Pipeline> bestPipeline(const plan::Graph &graph,
                                     const plan::Topology &topology,
                                     const plan::CostModel &cost,
                                     const Quality &best);

} // namespace ffc::search

#endif // FFC_SEARCH_PIPELINES_H
