//===- RankModules.h - small programs in the `rank` dialect -----*- C++ -*-===//
#ifndef FFC_TEST_UNIT_CODEGEN_RANKMODULES_H
#define FFC_TEST_UNIT_CODEGEN_RANKMODULES_H

#include "ffc/Codegen/ProgramMeta.h"

namespace ffc::codegen {

/// y = x w for x of 8x4 and w of 4x3 with the mean squared error against a
/// target, trained on two ranks of one class that hold half of the samples
/// each.
extern const char *const kLinearOnTwoRanks;
/// What belongs to it.
ProgramMeta linearMeta();

/// Two classes: rank 0 sends its 2x2 half of a tensor to rank 1 and a wait
/// stands in another method than its exchange.
extern const char *const kTwoClasses;

} // namespace ffc::codegen

#endif // FFC_TEST_UNIT_CODEGEN_RANKMODULES_H
