//===- ConstantOps.cpp - operators that leave no trace in the IR ----------===//

#include "NodeImporter.h"
#include "OpTable.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::AttributeProto;
using onnx::TensorProto;

static void importIdentity(NodeImporter &node) {
  node.defineSame(node.operand(0));
}

static void importShape(NodeImporter &node) {
  int64_t rank = node.rank(0);
  // Since opset 15 a part of the shape can be asked for.
  auto place = [&](StringRef name, int64_t missing) {
    int64_t given = node.opset() < 15 ? missing : node.integer(name, missing);
    return std::clamp<int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  int64_t start = place("start", 0), end = std::max(place("end", rank), start);
  node.defineConstant(Constant::list(node.shape(0).slice(start, end - start)));
}

static void importSize(NodeImporter &node) {
  Constant count = Constant::list({elementCount(node.shape(0)).value_or(0)});
  count.shape.clear();
  node.defineConstant(std::move(count));
}

/// The value of a Constant node that is not a tensor attribute.
static Constant literal(NodeImporter &node, const AttributeProto &attribute) {
  Constant result;
  bool isFloat = attribute.type() == AttributeProto::FLOAT ||
                 attribute.type() == AttributeProto::FLOATS;
  result.type = isFloat ? TensorProto::FLOAT : TensorProto::INT64;
  switch (attribute.type()) {
  case AttributeProto::FLOAT:
    result.floats = {attribute.f()};
    break;
  case AttributeProto::FLOATS:
    result.floats.assign(attribute.floats().begin(), attribute.floats().end());
    break;
  case AttributeProto::INT:
    result.ints = {attribute.i()};
    break;
  case AttributeProto::INTS:
    result.ints.assign(attribute.ints().begin(), attribute.ints().end());
    break;
  default:
    node.error("a constant of " +
               AttributeProto::AttributeType_Name(attribute.type()) +
               " is not supported");
  }
  if (attribute.type() == AttributeProto::FLOATS ||
      attribute.type() == AttributeProto::INTS)
    result.shape = {result.size()};
  return result;
}

/// Result 0 is the tensor, which lives as long as the import.
static void defineTensor(NodeImporter &node, const TensorProto &tensor) {
  if (!node.check(node.importer.data.check(tensor)))
    return;
  if (GraphValue *value =
          node.check(node.importer.tensorValue(node.node.output(0), tensor)))
    node.define(0, value);
}

static void importConstant(NodeImporter &node) {
  if (node.node.attribute_size() != 1)
    return node.error("expected one attribute, found " +
                      Twine(node.node.attribute_size()));
  const AttributeProto &attribute = node.node.attribute(0);
  StringRef name = attribute.name();
  if (name != "value" && !name.starts_with("value_"))
    return; // reported as unknown
  node.ignore(name);
  if (attribute.type() == AttributeProto::TENSOR)
    return defineTensor(node, attribute.t());
  Constant known = literal(node, attribute);
  if (node.failed() ||
      !node.importer.model.trained.isTrained(node.node.output(0)))
    return node.defineConstant(std::move(known));
  onnx::GraphProto holder;
  TensorProto &tensor = *holder.add_initializer();
  tensor.set_data_type(known.type);
  for (int64_t extent : known.shape)
    tensor.add_dims(extent);
  for (double x : known.floats)
    tensor.add_float_data(static_cast<float>(x));
  defineTensor(node, node.importer.keep(std::move(holder)).initializer(0));
}

static void importConstantOfShape(NodeImporter &node) {
  Shape shape = node.constantList(0);
  Constant fill;
  fill.type = TensorProto::FLOAT;
  fill.floats = {0};
  if (const AttributeProto *value =
          node.attribute("value", AttributeProto::TENSOR)) {
    const TensorData &data = node.importer.data;
    if (node.check(data.check(value->t())))
      fill = node.check(data.read(value->t()));
    if (!node.failed() && fill.size() != 1)
      node.error("expected a value of one element, found shape " +
                 shapeText(fill.shape));
  }
  std::optional<int64_t> count = elementCount(shape);
  if (!node.failed() && !count)
    node.error("shape " + shapeText(shape) +
               " has a negative extent or too many elements");
  if (node.failed())
    return;
  // Floats may be weights of any size that are yet to be initialised.
  if (fill.isFloat() && *count != 0) {
    GraphValue *value = node.importer.newValue(
        GraphValue::Kind::Filled, node.node.output(0), fill.type, shape);
    value->fill = fill.floats.front();
    return node.define(0, value);
  }
  if (*count > kMaxConstantElements)
    return void(node.check(tooLarge(shape)));
  fill.shape = shape;
  if (fill.isFloat())
    fill.floats.clear();
  else
    fill.ints.assign(*count, fill.ints.front());
  node.defineConstant(std::move(fill));
}

/// Floats that are initializers too; the others are folded.
static void importRange(NodeImporter &node) {
  node.ignore("stash_type"); // of 16 bits; counted in doubles
  Constant operands[3];
  for (int i = 0; i < 3; ++i) {
    if (node.operand(i).kind == GraphValue::Kind::Computed)
      return node.unsupported(" with computed operands");
    operands[i] = node.constant(i);
  }
  if (node.failed())
    return;
  const Constant *inputs[] = {&operands[0], &operands[1], &operands[2]};
  Constant range = node.check(foldRange({node.node, node.opset(), inputs}));
  if (!node.failed())
    node.defineConstant(std::move(range));
}

static void importIf(NodeImporter &node) {
  const AttributeProto *branches[2] = {
      node.attribute("else_branch", AttributeProto::GRAPH),
      node.attribute("then_branch", AttributeProto::GRAPH)};
  if (!branches[0] || !branches[1])
    node.error("expected attributes 'then_branch' and 'else_branch'");
  if (node.failed())
    return;
  if (node.operand(0).kind != GraphValue::Kind::Constant)
    return node.unsupported(" on a computed condition");
  Constant condition = node.constant(0);
  if (condition.type != TensorProto::BOOL || condition.size() != 1)
    return node.error("expected a condition of one bool, found " +
                      elementTypeName(condition.type) + " of shape " +
                      shapeText(condition.shape));
  node.importBranch(branches[condition.ints.front()]->g());
}

void ffc::importer::registerConstantOps() {
  registerOp("Constant", {importConstant, 0, 0});
  registerOp("ConstantOfShape", {importConstantOfShape, 1, 1});
  registerOp("Identity", {importIdentity, 1, 1, 0, false, 0, true});
  registerOp("If", {importIf, 1, 1});
  registerOp("Range", {importRange, 3, 3});
  registerOp("Shape", {importShape, 1, 1});
  registerOp("Size", {importSize, 1, 1});
}
