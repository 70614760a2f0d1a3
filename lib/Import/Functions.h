//===- Functions.h - functions of a model -----------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_FUNCTIONS_H
#define FFC_LIB_IMPORT_FUNCTIONS_H

#include "onnx/onnx_pb.h"
#include "llvm/Support/Error.h"

namespace ffc::importer {

/// Replaces calls of the model's functions by the nodes of these, in subgraphs
/// and functions too. What is an operator that we know stays one, even if there
/// is a function of its name. A node or value 'n' of a function is called
/// "<call>.n" afterwards. An error if functions call themselves, or a call does
/// not fit its function.
llvm::Error inlineFunctions(onnx::ModelProto &model);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_FUNCTIONS_H
