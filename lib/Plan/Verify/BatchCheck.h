//===- BatchCheck.h - are batches what they say? ----------------*- C++ -*-===//
//
// Internal to the verifier.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_BATCHCHECK_H
#define FFC_LIB_PLAN_BATCHCHECK_H

#include "ffc/Plan/Program.h"

#include <optional>
#include <string>

namespace ffc::plan {

/// What is wrong with the batches of a device (Program::Batch); nothing if all
/// is well.
std::optional<std::string> checkBatches(const Program &program,
                                        const DeviceProgram &device);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_BATCHCHECK_H
