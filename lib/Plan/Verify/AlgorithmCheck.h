//===- AlgorithmCheck.h - can collectives run as they shall? ----*- C++ -*-===//
//
// Internal to the verifier.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_ALGORITHMCHECK_H
#define FFC_LIB_PLAN_ALGORITHMCHECK_H

#include "ffc/Plan/Program.h"
#include "ffc/Plan/Topology.h"

#include <optional>
#include <string>

namespace ffc::plan {

/// Is every schedule right, and does it fit the collectives that run by it?
/// Returns the first fault.
std::optional<std::string> checkSchedules(const Program &program);

/// Has every collective of the device an algorithm that its kind, members and
/// bytes allow (CollectiveAlgorithm)? Returns the first fault.
std::optional<std::string> checkAlgorithms(const Program &program,
                                           const DeviceProgram &device,
                                           const Topology &topology);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_ALGORITHMCHECK_H
