//===- OpVersions.h - forms that operators have had -------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_OPVERSIONS_H
#define FFC_LIB_IMPORT_OPVERSIONS_H

#include "onnx/onnx_pb.h"
#include "llvm/Support/Error.h"

namespace ffc::importer {

/// The opsets of ONNX that we know. Models of later ones are taken as of the
/// newest.
inline constexpr int64_t kOldestOpset = 7, kNewestOpset = 28;

/// Checks that a node of a standard operator has no operand, or no attribute,
/// that the operator does not have in this opset. An operator that is younger
/// than the opset counts as its first version.
llvm::Error checkMostOperands(const onnx::NodeProto &node, int64_t opset);
llvm::Error checkAttributes(const onnx::NodeProto &node, int64_t opset);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_OPVERSIONS_H
