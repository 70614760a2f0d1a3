//===- Expression.cpp - nodes that are not in the file --------------------===//

#include "Expression.h"

#include "OpVersions.h"

#include "llvm/ADT/STLExtras.h"

using namespace ffc;
using namespace ffc::importer;
using llvm::ArrayRef;
using onnx::AttributeProto;
using onnx::TensorProto;

MadeNode::MadeNode(llvm::StringRef opType) { proto.set_op_type(opType.str()); }

AttributeProto &MadeNode::add(const char *name,
                              AttributeProto::AttributeType type) {
  AttributeProto &entry = *proto.add_attribute();
  entry.set_name(name);
  entry.set_type(type);
  return entry;
}

MadeNode &MadeNode::integer(const char *name, int64_t value) {
  add(name, AttributeProto::INT).set_i(value);
  return *this;
}

MadeNode &MadeNode::integers(const char *name, ArrayRef<int64_t> values) {
  add(name, AttributeProto::INTS)
      .mutable_ints()
      ->Add(values.begin(), values.end());
  return *this;
}

MadeNode &MadeNode::real(const char *name, double value) {
  add(name, AttributeProto::FLOAT).set_f(static_cast<float>(value));
  return *this;
}

MadeNode &MadeNode::text(const char *name, llvm::StringRef value) {
  add(name, AttributeProto::STRING).set_s(value.str());
  return *this;
}

GraphValue *Expression::make(onnx::NodeProto made, ArrayRef<GraphValue *> in) {
  if (node.failed() || llvm::is_contained(in, nullptr))
    return nullptr;
  setOwnOpset(made, kNewestOpset);
  return node.importMade(std::move(made), in);
}

GraphValue *Expression::apply(llvm::StringRef opType, ArrayRef<GraphValue *> in,
                              llvm::StringRef attribute, int64_t number) {
  MadeNode made(opType);
  if (!attribute.empty())
    made.integer(attribute.data(), number);
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
  if (!isFloatType(type))
    return constant(type, {}, {static_cast<int64_t>(value)});
  GraphValue *result = constant(type, {}, {});
  result->constant.floats = {value};
  return result;
}

GraphValue *Expression::floats(int32_t type, ArrayRef<int64_t> shape,
                               std::vector<double> numbers) {
  GraphValue *result = constant(type, shape, {});
  result->constant.floats = std::move(numbers);
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
  return make(MadeNode("Transpose").integers("perm", perm), {value});
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

GraphValue *Expression::cast(GraphValue *value, int32_t type) {
  return value && value->type == type ? value
                                      : apply("Cast", {value}, "to", type);
}

GraphValue *Expression::reduce(llvm::StringRef opType, GraphValue *value,
                               int64_t axis) {
  return apply(opType, {value, list({axis})}, "keepdims", 0);
}

GraphValue *Expression::clamp(GraphValue *value, double low, double high) {
  return apply("Clip",
               {value, numberLike(value, low), numberLike(value, high)});
}

GraphValue *Expression::numberLike(GraphValue *value, double number) {
  return value ? this->number(value->type, number) : nullptr;
}
