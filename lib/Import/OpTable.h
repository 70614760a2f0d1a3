//===- OpTable.h - the operators that can be imported -----------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_OPTABLE_H
#define FFC_LIB_IMPORT_OPTABLE_H

#include "llvm/ADT/StringRef.h"

namespace ffc::importer {

class NodeImporter;

/// Adds what a node computes to the function, or reports an error.
using ImportFunction = void (*)(NodeImporter &node);

struct OpInfo {
  ImportFunction import;
  int minInputs, maxInputs;
  /// Bit i: a float without data at operand i is a parameter.
  unsigned weightOperands = 0;
};

/// The importer of an operator of domain "", or null.
const OpInfo *lookupOp(llvm::StringRef opType);

// The importers, by file.

// ConvOps.cpp
void importConv(NodeImporter &node);
void importMaxPool(NodeImporter &node);
void importAveragePool(NodeImporter &node);
void importGlobalAveragePool(NodeImporter &node);
void importLrn(NodeImporter &node);

// MathOps.cpp
void importGemm(NodeImporter &node);
void importMatMul(NodeImporter &node);
void importUnary(NodeImporter &node);
void importBinary(NodeImporter &node);
void importDropout(NodeImporter &node);
void importSoftmax(NodeImporter &node);

// ShapeOps.cpp
void importConcat(NodeImporter &node);
void importFlatten(NodeImporter &node);
void importReshape(NodeImporter &node);
void importSqueeze(NodeImporter &node);
void importUnsqueeze(NodeImporter &node);
void importTranspose(NodeImporter &node);
void importPad(NodeImporter &node);

// ConstantOps.cpp
void importIdentity(NodeImporter &node);
void importCast(NodeImporter &node);
void importConstant(NodeImporter &node);
void importConstantOfShape(NodeImporter &node);
void importShape(NodeImporter &node);
void importSize(NodeImporter &node);
void importIf(NodeImporter &node);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_OPTABLE_H
