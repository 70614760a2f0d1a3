//===- PipelineStages.h - which operators work on micro-batches -*- C++ -*-===//
//
// Internal to Plan: divides the operators of a step among the stages of a
// pipeline, and those that come before and after it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_PIPELINESTAGES_H
#define FFC_LIB_PLAN_PIPELINESTAGES_H

#include "PassOrder.h"
#include "ffc/Plan/Configuration.h"

#include <vector>

namespace ffc::plan {

class PipelineStages {
public:
  enum class Place {
    Before,   ///< reads nothing of micro-batches
    Pipeline, ///< works on one micro-batch after the other
    After,    ///< needs all of them
  };

  PipelineStages(const Graph &graph, const Strategy &strategy, int microBatches,
                 bool splitsWeights = false);

  int numStages() const { return static_cast<int>(stages.size()); }
  Place placeOf(OpId op) const { return ops[op].place; }
  /// The iteration dimension that micro-batches split.
  int dimOf(OpId op) const { return ops[op].dim; }
  /// In graph order.
  const std::vector<OpId> &operatorsOf(int stage, PassKind pass) const {
    return stages[stage].passes[static_cast<int>(pass)].ops;
  }
  /// Ascending.
  const std::vector<DeviceId> &devicesOf(int stage) const {
    return stages[stage].devices;
  }
  /// Floating-point operations of a micro-batch on the busiest device.
  double operationsOf(int stage, PassKind pass) const {
    return stages[stage].passes[static_cast<int>(pass)].operations;
  }

private:
  struct OpPlace {
    Place place = Place::Before;
    int dim = -1, stage = -1;
    bool isBackward = false;
  };
  /// When of a value what is there.
  struct Arrival {
    enum class Kind { Before, Parts, After };
    Kind kind = Kind::Before;
    /// The dimension that the samples are in, -1: none or unknown.
    int axis = -1;
    /// Parts: after so many micro-batches, up to which index of the axis it is
    /// there.
    std::vector<int64_t> ends;
  };
  struct Stage {
    std::vector<DeviceId> devices;
    struct Work {
      std::vector<OpId> ops;
      double operations = 0;
    } passes[3]; ///< by PassKind
  };

  void place(OpId op);
  /// The dimension of the operator that the samples are in; -1: none.
  int findDim(OpId op) const;
  void noteInputs(OpId op);
  bool canWorkOnParts(OpId op, int dim) const;
  bool arrivesInTime(OpId op, int dim, const SlotRead &read) const;
  void noteResults(OpId op);
  void noteParts(OpId op, const SlotWrite &write);
  void addToStage(OpId op);
  int stageOf(OpId op);
  void splitWeights();
  void countOperations();
  /// The micro-batch that a grid point belongs to.
  int partOf(OpId op, int dim, int64_t point) const;

  const Graph &graph;
  const Strategy &strategy;
  const int microBatches;
  const std::vector<int> samples; ///< sampleDims()
  std::vector<OpPlace> ops;
  std::vector<Arrival> values;
  std::vector<Stage> stages;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PIPELINESTAGES_H
