//===- NodeImporter.cpp - what an operator's importer sees ----------------===//

#include "NodeImporter.h"

using namespace mlir;
using namespace ffc::importer;
using onnx::AttributeProto;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void NodeImporter::error(const Twine &message) {
  if (failed())
    return;
  importer.error() << describe(node, name) << ": " << message;
  hasFailed = true;
}

void NodeImporter::unsupported(const Twine &operands) {
  if (failed())
    return;
  importer.addUnsupported(node, operands);
  isUnsupported = true;
}

bool NodeImporter::check(llvm::Error failure) {
  if (!failure)
    return true;
  error(llvm::toString(std::move(failure)));
  return false;
}

void NodeImporter::checkComplete() {
  for (const AttributeProto &attribute : node.attribute())
    if (!known.contains(attribute.name()))
      error("unknown attribute '" + attribute.name() + "'");
  for (int i = 0; i < node.output_size(); ++i)
    if (!node.output(i).empty() && !scope.lookup(node.output(i)) &&
        importer.uses.isUsed(node.output(i)))
      error("its result " + Twine(i) + " ('" + node.output(i) +
            "') is used, expected only result 0 to be");
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *
NodeImporter::attribute(StringRef name, AttributeProto::AttributeType type) {
  known.insert(name);
  const AttributeProto *found = findAttribute(node, name);
  if (!found)
    return nullptr;
  // IR versions before 2 left the type out; we start at 3.
  if (found->type() != type) {
    error("attribute '" + name + "' is of type " +
          AttributeProto::AttributeType_Name(found->type()) + ", expected " +
          AttributeProto::AttributeType_Name(type));
    return nullptr;
  }
  return found;
}

int64_t NodeImporter::integer(StringRef name, int64_t missing) {
  const AttributeProto *found = attribute(name, AttributeProto::INT);
  return found ? found->i() : missing;
}

double NodeImporter::real(StringRef name, double missing) {
  const AttributeProto *found = attribute(name, AttributeProto::FLOAT);
  return found ? found->f() : missing;
}

StringRef NodeImporter::text(StringRef name, StringRef missing) {
  const AttributeProto *found = attribute(name, AttributeProto::STRING);
  return found ? StringRef(found->s()) : missing;
}

std::optional<Shape> NodeImporter::integers(StringRef name) {
  const AttributeProto *found = attribute(name, AttributeProto::INTS);
  if (!found)
    return std::nullopt;
  return Shape(found->ints().begin(), found->ints().end());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void NodeImporter::expectRank(int i, int64_t expected) {
  if (rank(i) != expected)
    error("expected a " + Twine(expected) + "-dimensional operand " + Twine(i) +
          ", found '" + node.input(i) + "' of shape " + shapeText(shape(i)));
}

Value NodeImporter::tensor(int i, const Role &role) {
  if (!has(i)) {
    error("operand " + Twine(i) + " is missing");
    return {};
  }
  int32_t type = operand(i).type;
  if (type != elementType && !(isFloatType(type) && isFloatType(elementType)))
    unsupported(" of " + elementTypeName(type));
  return numbers(i, role);
}

Value NodeImporter::numbers(int i, const Role &role) {
  if (!has(i))
    error("operand " + Twine(i) + " is missing");
  else if (!isCarriedType(operand(i).type))
    unsupported(" of " + elementTypeName(operand(i).type));
  if (failed())
    return {};
  return check(importer.floatsOf(operand(i), role));
}

Value NodeImporter::statistic(int i, const Role &role) {
  if (!isFloatType(operand(i).type))
    unsupported(" of " + elementTypeName(operand(i).type));
  if (failed())
    return {};
  return check(importer.materializeStatistic(operand(i), node.input(i), role));
}

Value NodeImporter::knownNumbers(const Twine &name, Constant value) {
  if (failed())
    return {};
  GraphValue *tensor =
      importer.newValue(GraphValue::Kind::Constant,
                        importer.names.unique((this->name + "." + name).str()),
                        value.type, value.shape);
  tensor->constant = std::move(value);
  return check(importer.floatsOf(*tensor));
}

void NodeImporter::expectPositions(int64_t count) {
  if (count > kMaxPositions)
    error("expected at most " + Twine(kMaxPositions) +
          " positions along a dimension, found " + Twine(count));
}

Constant NodeImporter::constant(int i) {
  if (!has(i)) {
    error("operand " + Twine(i) + " is missing");
    return {};
  }
  GraphValue &value = operand(i);
  if (value.kind == GraphValue::Kind::Constant)
    return value.constant;
  if (value.kind == GraphValue::Kind::Stored)
    return check(importer.data.read(*value.stored));
  error("expected a constant as operand " + Twine(i) + ", found '" +
        node.input(i) +
        "', which is computed or an input; --fix INPUT=VALUE makes an input a "
        "constant");
  return {};
}

Shape NodeImporter::constantList(int i) {
  Constant value = constant(i);
  if (!failed() && (value.isFloat() || value.shape.size() > 1))
    error("expected a list of integers as operand " + Twine(i) + ", found '" +
          node.input(i) + "' of type " + elementTypeName(value.type) +
          " and shape " + shapeText(value.shape));
  return Shape(value.ints.begin(), value.ints.end());
}

std::optional<double> NodeImporter::scalar(int i) {
  if (!has(i))
    return std::nullopt;
  Constant value = constant(i);
  if (!failed() && value.size() != 1)
    error("expected a scalar as operand " + Twine(i) + ", found shape " +
          shapeText(value.shape));
  return failed() ? 0 : value.number(0);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void NodeImporter::define(int i, GraphValue *value) {
  if (failed())
    return;
  if (i >= node.output_size())
    return error("result " + Twine(i) + " has no name");
  if (!node.output(i).empty())
    importer.define(scope, node.output(i), value);
}

void NodeImporter::defineConstant(Constant value) {
  if (failed())
    return;
  GraphValue *result = importer.newValue(
      GraphValue::Kind::Constant, node.output(0), value.type, value.shape);
  result->constant = std::move(value);
  define(0, result);
}

void NodeImporter::define(Operation *op) {
  SmallVector<StringRef> outputs;
  for (const std::string &output : node.output())
    if (!output.empty())
      outputs.push_back(output);
  op->setAttr(ff::kAliasesAttr, importer.builder.getStrArrayAttr(outputs));
  define(0, op->getResult(0));
}

void NodeImporter::defineEmpty(int i, ArrayRef<int64_t> shape) {
  GraphValue *value = importer.newValue(GraphValue::Kind::Constant,
                                        node.output(i), elementType, shape);
  value->constant.type = elementType;
  value->constant.shape = Shape(shape);
  importer.define(scope, node.output(i), value);
}

void NodeImporter::define(int i, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  GraphValue *result = importer.newValue(
      GraphValue::Kind::Computed, node.output(i), elementType, type.getShape());
  result->value = value;
  define(i, result);
}

void NodeImporter::define(int i, Operation *op) {
  op->setAttr(ff::kAliasesAttr,
              importer.builder.getStrArrayAttr({node.output(i)}));
  define(i, op->getResult(0));
}

void NodeImporter::defineLast(Value part) {
  Operation *op = part.getDefiningOp();
  op->setLoc(location());
  define(op);
}

Location NodeImporter::location(const Twine &part) {
  std::string wanted = (name + "." + part).str();
  return NameLoc::get(
      importer.builder.getStringAttr(importer.names.unique(wanted)));
}

Location NodeImporter::location() {
  return NameLoc::get(importer.builder.getStringAttr(name));
}

RankedTensorType NodeImporter::resultType(ArrayRef<int64_t> shape) {
  if (!failed() && elementCount(shape) == 0 && !isUsed(1))
    emptyShape = Shape(shape);
  return partType(shape);
}

RankedTensorType NodeImporter::partType(ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t d) { return d < 1; }) ||
      !elementCount(shape) || shape.size() > 8)
    error("its result has shape " + shapeText(shape) +
          ", expected at most 8 dimensions with positive extents and 2^50 "
          "elements");
  // A valid type in any case: the error is seen before it is used.
  return failed() ? importer.tensorType({}, onnx::TensorProto::FLOAT)
                  : importer.tensorType(shape, onnx::TensorProto::FLOAT);
}

void NodeImporter::importBranch(const onnx::GraphProto &branch) {
  if (branch.output_size() != node.output_size())
    return error("its branch has " + Twine(branch.output_size()) +
                 " outputs, expected " + Twine(node.output_size()));
  for (auto [i, value] : llvm::enumerate(importGraph(branch, scope)))
    define(static_cast<int>(i), value);
}

SmallVector<GraphValue *>
NodeImporter::importGraph(const onnx::GraphProto &graph, const Scope &outer) {
  Scope inner{{}, &outer};
  if (mlir::failed(importer.importGraph(graph, inner))) {
    hasFailed = true; // reported
    return {};
  }
  SmallVector<GraphValue *> outputs;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    // What defines nothing of this name has been seen when nodes were sorted.
    outputs.push_back(inner.lookup(output.name()));
    assert(outputs.back() && "an output that nothing defines");
  }
  return outputs;
}

GraphValue *NodeImporter::importMade(onnx::NodeProto made,
                                     ArrayRef<GraphValue *> operands) {
  Scope bound = innerScope();
  for (auto [i, operand] : llvm::enumerate(operands)) {
    made.add_input("operand " + std::to_string(i));
    bound.values[made.input(static_cast<int>(i))] = operand;
  }
  made.add_output(name + "." + llvm::StringRef(made.op_type()).lower());
  onnx::GraphProto graph;
  graph.add_output()->set_name(made.output(0));
  *graph.add_node() = std::move(made);
  SmallVector<GraphValue *> results =
      importGraph(importer.keep(std::move(graph)), bound);
  if (results.empty())
    return nullptr;
  if (results.front()->kind != GraphValue::Kind::Unsupported)
    return results.front();
  skip();
  return nullptr;
}
