//===- OpTable.h - the operators that can be imported -----------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_OPTABLE_H
#define FFC_LIB_IMPORT_OPTABLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace ffc::importer {

class NodeImporter;

/// Adds what a node computes to the function, or reports an error.
using ImportFunction = void (*)(NodeImporter &node);

struct OpInfo {
  ImportFunction import;
  int minInputs, maxInputs;
  /// Bit i: operand i is a weight of the operator. Floats that come to it and
  /// are not computed are parameters, be they with data or an input without.
  unsigned weightOperands = 0;
  /// Results hold elements of operand 0, of whatever type.
  bool movesElements = false;
  /// Inputs are parameters by weightOperands only where this operand depends on
  /// other inputs.
  int dataOperand = 0;
  /// Operands may be sequences of tensors.
  bool takesSequences = false;
};

/// The importer of an operator by its name with the domain (see operatorName),
/// or null.
const OpInfo *lookupOp(llvm::StringRef name);

/// Makes an operator known, by its name with the domain.
void registerOp(llvm::StringRef name, const OpInfo &info);

} // namespace ffc::importer

// Every file *Op.cpp or *Ops.cpp has a function that registers the importers of
// the file: registerCumSumOp() for CumSumOp.cpp. This header declares and lists
// them; lookupOp() calls all of them once, on first use.
#include "AllImporters.h"

#endif // FFC_LIB_IMPORT_OPTABLE_H
