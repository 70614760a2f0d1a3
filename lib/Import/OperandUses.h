//===- OperandUses.h - what operators take their operands for ---*- C++ -*-===//
//
// Operators are told by their names with the domain: what others call an Add
// may have any operands.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IMPORT_OPERANDUSES_H
#define FFC_LIB_IMPORT_OPERANDUSES_H

#include "Dataflow.h"
#include "OpTable.h"

namespace ffc::importer {

/// Null if the operator is not known.
const OpInfo *infoOf(const onnx::NodeProto &node);

/// Is the operand one that OpInfo calls a weight?
bool isWeightOperand(const Dataflow::Use &use);
bool isRunningStatistic(const Dataflow::Use &use);
/// Does the operator read the operand as a number or list that says what it
/// does?
bool isSetting(const Dataflow::Use &use);

/// A sum of products of two operands.
bool isProduct(const onnx::NodeProto &node);
/// Is operand 0 a table that the others say the rows of?
bool isLookup(const onnx::NodeProto &node);
bool isRecurrent(const onnx::NodeProto &node);
bool isNormalization(const onnx::NodeProto &node);
/// Is it what a normalisation multiplies with, and not what it adds?
bool isScale(const Dataflow::Use &use);
/// Have the results no gradient?
bool endsGradients(const onnx::NodeProto &node);

/// "scale of", before the name of the node that takes it for a weight.
llvm::StringRef nameOfWeight(const Dataflow::Use &use);
/// "scale at", before the name of a node that combines it with data.
llvm::StringRef nameOfFactor(const Dataflow::Use &use);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_OPERANDUSES_H
