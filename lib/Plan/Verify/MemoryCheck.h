//===- MemoryCheck.h - do buffers keep to themselves? -----------*- C++ -*-===//
//
// Internal to the verifier.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_MEMORYCHECK_H
#define FFC_LIB_PLAN_MEMORYCHECK_H

#include "ffc/Plan/Program.h"

#include <optional>
#include <string>

namespace ffc::plan {

/// Buffers lie within their sections, and those in use at the same time share
/// no bytes, except that a result may lie exactly where an operand is that it
/// overwrites. None lies across the end of the symmetric part. Says what is
/// wrong; nothing if all is well.
std::optional<std::string> checkMemory(const Graph &graph,
                                       const Strategy &strategy,
                                       const Program &program,
                                       const DeviceProgram &device);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_MEMORYCHECK_H
