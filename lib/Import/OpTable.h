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

// The importers, by file.

// AttentionOp.cpp
void importAttention(NodeImporter &node);

// ConvOps.cpp
void importConv(NodeImporter &node);
void importConvTranspose(NodeImporter &node);
void importLrn(NodeImporter &node);

// PoolOps.cpp
void importMaxPool(NodeImporter &node);
void importAveragePool(NodeImporter &node);
void importGlobalAveragePool(NodeImporter &node);
void importGlobalMaxPool(NodeImporter &node);

// ElementwiseOps.cpp
void importUnary(NodeImporter &node);
void importClip(NodeImporter &node);
void importCelu(NodeImporter &node);
void importGelu(NodeImporter &node);
void importShrink(NodeImporter &node);
void importThresholdedRelu(NodeImporter &node);
void importCast(NodeImporter &node);
void importIsNaN(NodeImporter &node);
void importIsInf(NodeImporter &node);

// BagOps.cpp
void importReduceBags(NodeImporter &node);

// BroadcastOps.cpp
void importArithmetic(NodeImporter &node);
void importPow(NodeImporter &node);
void importPRelu(NodeImporter &node);
void importVariadic(NodeImporter &node);
void importComparison(NodeImporter &node);
void importLogical(NodeImporter &node);
void importNot(NodeImporter &node);
void importWhere(NodeImporter &node);

// CumSumOp.cpp
void importCumSum(NodeImporter &node);

// DropoutOp.cpp
void importDropout(NodeImporter &node);

// EinsumOp.cpp
void importEinsum(NodeImporter &node);

// LoopOps.cpp
void importLoop(NodeImporter &node);
void importScan(NodeImporter &node);

// LossOps.cpp
void importNegativeLogLikelihoodLoss(NodeImporter &node);
void importSoftmaxCrossEntropyLoss(NodeImporter &node);

// ModOp.cpp
void importMod(NodeImporter &node);

// NormOps.cpp
void importBatchNormalization(NodeImporter &node);
void importGroupNormalization(NodeImporter &node);
void importInstanceNormalization(NodeImporter &node);
void importLayerNormalization(NodeImporter &node);
void importMeanVarianceNormalization(NodeImporter &node);
void importLpNormalization(NodeImporter &node);

// SequenceOps.cpp
void importSequenceConstruct(NodeImporter &node);
void importSequenceInsert(NodeImporter &node);
void importSequenceErase(NodeImporter &node);
void importSequenceAt(NodeImporter &node);
void importSequenceLength(NodeImporter &node);
void importSplitToSequence(NodeImporter &node);
void importConcatFromSequence(NodeImporter &node);

// MicrosoftOps.cpp
void importBiasGelu(NodeImporter &node);
void importFusedMatMul(NodeImporter &node);
void importSkipLayerNormalization(NodeImporter &node);

// SoftmaxOps.cpp
void importSoftmax(NodeImporter &node);

// ProductOps.cpp
void importGemm(NodeImporter &node);
void importMatMul(NodeImporter &node);

// ShapeOps.cpp
void importFlatten(NodeImporter &node);
void importReshape(NodeImporter &node);
void importSqueeze(NodeImporter &node);
void importUnsqueeze(NodeImporter &node);
void importTranspose(NodeImporter &node);
void importExpand(NodeImporter &node);
void importTile(NodeImporter &node);
void importDepthToSpace(NodeImporter &node);
void importSpaceToDepth(NodeImporter &node);

// GateOps.cpp
void importMish(NodeImporter &node);
void importSwish(NodeImporter &node);

// GatherOps.cpp
void importGatherElements(NodeImporter &node);
void importGatherND(NodeImporter &node);

// ScatterOps.cpp
void importScatterElements(NodeImporter &node);
void importScatterND(NodeImporter &node);

// IndexOps.cpp
void importCompress(NodeImporter &node);
void importConcat(NodeImporter &node);
void importGather(NodeImporter &node);
void importPad(NodeImporter &node);
void importSlice(NodeImporter &node);
void importSplit(NodeImporter &node);

// LikeOps.cpp
void importCastLike(NodeImporter &node);
void importEyeLike(NodeImporter &node);

// LookupOp.cpp
/// Gather along `axis` by computed indices.
void importLookup(NodeImporter &node, int64_t axis);

// OneHotOp.cpp
void importOneHot(NodeImporter &node);

// RankingOps.cpp
void importTopK(NodeImporter &node);
void importArgExtreme(NodeImporter &node);
void importHardmax(NodeImporter &node);

// RecurrentOps.cpp
void importRecurrent(NodeImporter &node);

// ReduceOps.cpp
void importReduce(NodeImporter &node);

// ResizeOps.cpp
void importResize(NodeImporter &node);
void importUpsample(NodeImporter &node);

// RmsNormOp.cpp
void importRmsNormalization(NodeImporter &node);

// RotaryEmbeddingOp.cpp
void importRotaryEmbedding(NodeImporter &node);

// TriluOp.cpp
void importTrilu(NodeImporter &node);

// ConstantOps.cpp
void importIdentity(NodeImporter &node);
void importConstant(NodeImporter &node);
void importConstantOfShape(NodeImporter &node);
void importRange(NodeImporter &node);
void importShape(NodeImporter &node);
void importSize(NodeImporter &node);
void importIf(NodeImporter &node);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_OPTABLE_H
