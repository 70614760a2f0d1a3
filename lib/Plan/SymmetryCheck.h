//===- SymmetryCheck.h - do collectives lie at equal offsets? ---*- C++ -*-===//
//
// Internal to the verifier.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SYMMETRYCHECK_H
#define FFC_LIB_PLAN_SYMMETRYCHECK_H

#include "ffc/Plan/Program.h"

#include <optional>
#include <string>

namespace ffc::plan {

/// The symmetric section is within every arena; what a collective reads lies in
/// it at the same offset on all members, or outside on all; so does what it
/// writes. Says
/// what is wrong; nothing if all is well.
std::optional<std::string> checkSymmetry(const Program &program);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_SYMMETRYCHECK_H
