//===- ElementFamilies.h - the families of element kernels ------*- C++ -*-===//
//
// Internal to IR. Each function adds the kernels of its file.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IR_ELEMENTFAMILIES_H
#define FFC_LIB_IR_ELEMENTFAMILIES_H

#include "ffc/IR/ElementKernels.h"

namespace ffc::ff {

void addElementwiseKernels(ReferenceKernels &kernels);
void addShapeKernels(ReferenceKernels &kernels);

} // namespace ffc::ff

#endif // FFC_LIB_IR_ELEMENTFAMILIES_H
