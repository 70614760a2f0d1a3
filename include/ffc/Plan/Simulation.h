//===- Simulation.h - a timed program, to be shown to people ----*- C++ -*-===//
#ifndef FFC_PLAN_SIMULATION_H
#define FFC_PLAN_SIMULATION_H

#include "ffc/Plan/Timing.h"

namespace ffc::plan {

/// A planned program with the times of its actions; owns nothing.
struct Simulation {
  const Graph &graph;
  const Strategy &strategy;
  const Program &program;
  const Topology &topology;
  const Timeline &times;

  const Action &action(ActionRef ref) const { return program.action(ref); }
  const ActionTime &time(ActionRef ref) const {
    return times.devices[ref.device][ref.index];
  }
};

/// "conv2", or "conv2 <- pool1": the operator and the value that moves.
std::string labelOf(const Action &action, const Graph &graph);

struct Work {
  double flops = 0;
  /// What a kernel touches; what a copy moves; what a device sends and receives
  /// in an exchange; a collective's whole tensor.
  int64_t bytes = 0;
};
Work workOf(const Simulation &simulation, ActionRef ref);

} // namespace ffc::plan

#endif // FFC_PLAN_SIMULATION_H
