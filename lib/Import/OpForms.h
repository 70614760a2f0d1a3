//===- OpForms.h - forms that operators of ONNX have had --------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_OPFORMS_H
#define FFC_LIB_IMPORT_OPFORMS_H

#include "llvm/ADT/ArrayRef.h"

namespace ffc::importer {

/// What an operator looks like in some of its versions.
struct OpForm {
  const char *opType;
  /// The versions, each the opset that brought it, ascending. What changed
  /// between them are element types and words.
  const char *versions;
  int mostOperands;
  const char *attributes;
};

/// Those of all operators, whether we know them or not, in the order of names
/// and of versions.
llvm::ArrayRef<OpForm> opForms();

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_OPFORMS_H
