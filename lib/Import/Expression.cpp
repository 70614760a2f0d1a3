//===- Expression.cpp - nodes that are not in the file --------------------===//

#include "Expression.h"

#include "OpVersions.h"

#include "llvm/ADT/STLExtras.h"

using namespace ffc;
using namespace ffc::importer;
using llvm::ArrayRef;
using onnx::AttributeProto;
using onnx::TensorProto;

GraphValue *Expression::make(onnx::NodeProto made, ArrayRef<GraphValue *> in) {
  if (node.failed() || llvm::is_contained(in, nullptr))
    return nullptr;
  setOwnOpset(made, kNewestOpset);
  return node.importMade(std::move(made), in);
}

GraphValue *Expression::apply(llvm::StringRef opType, ArrayRef<GraphValue *> in,
                              llvm::StringRef attribute, int64_t number) {
  onnx::NodeProto made;
  made.set_op_type(opType.str());
  if (!attribute.empty()) {
    AttributeProto &entry = *made.add_attribute();
    entry.set_name(attribute.str());
    entry.set_type(AttributeProto::INT);
    entry.set_i(number);
  }
  return make(std::move(made), in);
}

GraphValue *Expression::constant(int32_t type, ArrayRef<int64_t> shape,
                                 std::vector<int64_t> numbers) {
  GraphValue *value = node.importer.newValue(
      GraphValue::Kind::Constant, (node.getName() + ".n").str(), type, shape);
  value->constant.type = type;
  value->constant.shape.assign(shape.begin(), shape.end());
  value->constant.ints = std::move(numbers);
  return value;
}

GraphValue *Expression::list(ArrayRef<int64_t> numbers) {
  return constant(TensorProto::INT64, {static_cast<int64_t>(numbers.size())},
                  numbers);
}

GraphValue *Expression::number(int32_t type, double value) {
  GraphValue *result = constant(type, {}, {});
  result->constant.floats = {value};
  return result;
}

GraphValue *Expression::filled(int32_t type, ArrayRef<int64_t> shape,
                               double number) {
  GraphValue *value = node.importer.newValue(
      GraphValue::Kind::Filled, (node.getName() + ".n").str(), type, shape);
  value->fill = number;
  return value;
}

GraphValue *Expression::computed(int32_t type, mlir::Value value) {
  if (node.failed())
    return nullptr;
  GraphValue *result = node.importer.newValue(
      GraphValue::Kind::Computed, (node.getName() + ".n").str(), type,
      llvm::cast<mlir::RankedTensorType>(value.getType()).getShape());
  result->value = value;
  return result;
}

GraphValue *Expression::reshape(GraphValue *value, ArrayRef<int64_t> shape) {
  if (value && ArrayRef<int64_t>(value->shape) == shape)
    return value;
  return apply("Reshape", {value, list(shape)});
}

GraphValue *Expression::expand(GraphValue *value, ArrayRef<int64_t> shape) {
  return apply("Expand", {value, list(shape)});
}

GraphValue *Expression::transpose(GraphValue *value, ArrayRef<int64_t> perm) {
  onnx::NodeProto made;
  made.set_op_type("Transpose");
  AttributeProto &entry = *made.add_attribute();
  entry.set_name("perm");
  entry.set_type(AttributeProto::INTS);
  entry.mutable_ints()->Add(perm.begin(), perm.end());
  return make(std::move(made), {value});
}

GraphValue *Expression::slice(GraphValue *value, int64_t axis, int64_t start,
                              int64_t end) {
  if (value && start == 0 && end == value->shape[axis])
    return value;
  return apply("Slice", {value, list({start}), list({end}), list({axis})});
}

GraphValue *Expression::concat(ArrayRef<GraphValue *> parts, int64_t axis) {
  return parts.size() == 1 ? parts.front()
                           : apply("Concat", parts, "axis", axis);
}
