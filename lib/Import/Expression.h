//===- Expression.h - nodes that are not in the file ------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_EXPRESSION_H
#define FFC_LIB_IMPORT_EXPRESSION_H

#include "NodeImporter.h"

namespace ffc::importer {

/// Of steps that an operator is unrolled into. More would make a graph that
/// nobody waits for.
constexpr int64_t kMaxUnrolled = 1024;

/// A node that is to have operands.
struct MadeNode {
  onnx::NodeProto proto;

  explicit MadeNode(llvm::StringRef opType);
  MadeNode &integer(const char *name, int64_t value);
  MadeNode &integers(const char *name, llvm::ArrayRef<int64_t> values);
  MadeNode &real(const char *name, double value);
  MadeNode &text(const char *name, llvm::StringRef value);

private:
  onnx::AttributeProto &add(const char *name,
                            onnx::AttributeProto::AttributeType type);
};

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

  GraphValue *make(MadeNode made, llvm::ArrayRef<GraphValue *> in) {
    return make(std::move(made.proto), in);
  }

  /// Integers, row-major.
  GraphValue *constant(int32_t type, llvm::ArrayRef<int64_t> shape,
                       std::vector<int64_t> numbers);
  /// One number, whole if it is of integers.
  GraphValue *number(int32_t type, double value);
  /// Floats, row-major.
  GraphValue *floats(int32_t type, llvm::ArrayRef<int64_t> shape,
                     std::vector<double> numbers);
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
  GraphValue *cast(GraphValue *value, int32_t type);
  /// Over dimension `axis`, which goes, by an operator such as ReduceSum.
  GraphValue *reduce(llvm::StringRef opType, GraphValue *value, int64_t axis);

  // Arithmetic, with broadcasting; numbers are of the other operand's type.
  GraphValue *add(GraphValue *a, GraphValue *b) { return apply("Add", {a, b}); }
  GraphValue *sub(GraphValue *a, GraphValue *b) { return apply("Sub", {a, b}); }
  GraphValue *mul(GraphValue *a, GraphValue *b) { return apply("Mul", {a, b}); }
  GraphValue *div(GraphValue *a, GraphValue *b) { return apply("Div", {a, b}); }
  GraphValue *add(GraphValue *a, double b) { return add(a, numberLike(a, b)); }
  GraphValue *sub(GraphValue *a, double b) { return sub(a, numberLike(a, b)); }
  GraphValue *mul(GraphValue *a, double b) { return mul(a, numberLike(a, b)); }
  /// Where `condition` holds, a, elsewhere b.
  GraphValue *where(GraphValue *condition, GraphValue *a, GraphValue *b) {
    return apply("Where", {condition, a, b});
  }
  /// `value`, which is not negative infinity, cut to [low, high].
  GraphValue *clamp(GraphValue *value, double low, double high);
  /// The number as a scalar of the type of `value`.
  GraphValue *numberLike(GraphValue *value, double number);
  /// Result 0 of the node is `value`, unless there was an error.
  void define(GraphValue *value, int result = 0) {
    if (value && !node.failed())
      node.define(result, value);
  }

private:
  GraphValue *list(llvm::ArrayRef<int64_t> numbers);

  NodeImporter &node;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_EXPRESSION_H
