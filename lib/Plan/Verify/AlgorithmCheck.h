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

/// Has every collective of the device an algorithm that its kind, members and
/// bytes allow (CollectiveAlgorithm)? Returns the first fault.
std::optional<std::string> checkAlgorithms(const Program &program,
                                           const DeviceProgram &device,
                                           const Topology &topology);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_ALGORITHMCHECK_H
