//===- Expression.h - nodes that are not in the file ------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_EXPRESSION_H
#define FFC_LIB_IMPORT_EXPRESSION_H

#include "NodeImporter.h"

namespace ffc::importer {

/// Writes an operator in terms of ONNX's others, so that what is known at
/// import is folded. After an error all values are null and nothing more
/// happens.
class Expression {
public:
  explicit Expression(NodeImporter &node) : node(node) {}

  /// The result of a node of `opType`, with an integer attribute if it has a
  /// name.
  GraphValue *apply(llvm::StringRef opType, llvm::ArrayRef<GraphValue *> in,
                    llvm::StringRef attribute = "", int64_t number = 0);

  /// The same of a node that has its attributes.
  GraphValue *make(onnx::NodeProto made, llvm::ArrayRef<GraphValue *> in);

  /// Integers, row-major.
  GraphValue *constant(int32_t type, llvm::ArrayRef<int64_t> shape,
                       std::vector<int64_t> numbers);
  /// One number, of floats or doubles.
  GraphValue *number(int32_t type, double value);
  /// One number everywhere.
  GraphValue *filled(int32_t type, llvm::ArrayRef<int64_t> shape,
                     double number);
  /// What a tensor in the IR holds, which floats carry for `type`.
  GraphValue *computed(int32_t type, mlir::Value value);

  GraphValue *reshape(GraphValue *value, llvm::ArrayRef<int64_t> shape);
  GraphValue *expand(GraphValue *value, llvm::ArrayRef<int64_t> shape);
  GraphValue *transpose(GraphValue *value, llvm::ArrayRef<int64_t> perm);
  /// Positions [start, end) of dimension `axis`.
  GraphValue *slice(GraphValue *value, int64_t axis, int64_t start,
                    int64_t end);
  GraphValue *concat(llvm::ArrayRef<GraphValue *> parts, int64_t axis);

private:
  GraphValue *list(llvm::ArrayRef<int64_t> numbers);

  NodeImporter &node;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_EXPRESSION_H
