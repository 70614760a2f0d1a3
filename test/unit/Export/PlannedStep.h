//===- PlannedStep.h - plans to be exported ---------------------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_EXPORT_PLANNEDSTEP_H
#define FFC_TEST_UNIT_EXPORT_PLANNEDSTEP_H

#include "TestGraph.h"
#include "TestTopology.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/Simulation.h"

namespace ffc::plan::testing {

/// Nodes of two devices each.
inline Topology pairs(int nodes) {
  return parse("nodes:\n  count: " + std::to_string(nodes) + R"(
  devices: 2 x h200
  interconnect: {type: switch, bandwidth: 100 GB/s, latency: 1 us}
  nic: {count: 1, bandwidth: 10 GB/s, latency: 1 us}
)");
}

struct PlannedStep {
  PlannedStep(Graph made, const Topology &topology, const Strategy &strategy)
      : graph(std::move(made)), topology(topology), strategy(strategy),
        cost(topology),
        program(planProgram(graph, strategy, topology.numDevices(), cost)),
        times(timeProgram(graph, strategy, program, cost)) {}

  /// Samples over all devices.
  static PlannedStep dataParallel(Graph graph, const Topology &topology) {
    std::string error;
    const auto given = plan::dataParallel(graph, topology.numDevices(), error);
    const Strategy strategy = completeStrategy(graph, *given);
    return {std::move(graph), topology, strategy};
  }

  Simulation simulation() const {
    return {graph, strategy, program, topology, times};
  }

  Graph graph;
  Topology topology;
  Strategy strategy;
  CostModel cost;
  Program program;
  Timeline times;
};

} // namespace ffc::plan::testing

#endif // FFC_TEST_UNIT_EXPORT_PLANNEDSTEP_H
