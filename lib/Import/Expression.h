//===- Expression.h - nodes that are not in the file ------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_EXPRESSION_H
#define FFC_LIB_IMPORT_EXPRESSION_H

#include "NodeImporter.h"

#include "llvm/ADT/STLExtras.h"

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
                    llvm::StringRef attribute = "", int64_t number = 0) {
    if (node.failed() || llvm::is_contained(in, nullptr))
      return nullptr;
    onnx::NodeProto made;
    made.set_op_type(opType.str());
    if (!attribute.empty()) {
      onnx::AttributeProto &entry = *made.add_attribute();
      entry.set_name(attribute.str());
      entry.set_type(onnx::AttributeProto::INT);
      entry.set_i(number);
    }
    return node.importMade(std::move(made), in);
  }

  /// Integers, row-major.
  GraphValue *constant(int32_t type, llvm::ArrayRef<int64_t> shape,
                       std::vector<int64_t> numbers) {
    GraphValue *value = node.importer.newValue(
        GraphValue::Kind::Constant, (node.getName() + ".n").str(), type, shape);
    value->constant.type = type;
    value->constant.shape.assign(shape.begin(), shape.end());
    value->constant.ints = std::move(numbers);
    return value;
  }

  GraphValue *reshape(GraphValue *value, llvm::ArrayRef<int64_t> shape) {
    auto rank = static_cast<int64_t>(shape.size());
    return apply("Reshape",
                 {value, constant(onnx::TensorProto::INT64, {rank}, shape)});
  }

private:
  NodeImporter &node;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_EXPRESSION_H
