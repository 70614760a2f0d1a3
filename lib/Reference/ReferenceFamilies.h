//===- ReferenceFamilies.h - where reference kernels register ---*- C++ -*-===//
//
// Every file Reference<Family>.cpp has a function registerReference<Family>(),
// which calls `registerReference` for every kernel of the family. This header
// declares and lists them; `lookupReference` calls all of them once, on first
// use, so there are no static initialisers whose order could matter or that a
// linker could leave out.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_REFERENCE_REFERENCEFAMILIES_H
#define FFC_LIB_REFERENCE_REFERENCEFAMILIES_H

#include "AllReferences.h"
#include "ffc/Reference/Reference.h"

namespace ffc::ff {

/// What an update multiplies the gradient by: its operand number `operand`, or
/// 1 if that is absent. The step is skipped if it is not finite.
double updateScaleOf(const ReferenceCall &call, size_t operand);

} // namespace ffc::ff

#endif // FFC_LIB_REFERENCE_REFERENCEFAMILIES_H
