//===- SequenceOps.cpp - sequences of tensors -----------------------------===//
//
// A sequence is a list of values at import and no tensor; its length and the
// positions that are asked for must be known.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"

#include <climits>

using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;
using Kind = GraphValue::Kind;

/// Every node that changes a sequence makes a list of its own.
static constexpr size_t kMaxLength = 10000;

static void expectLength(NodeImporter &node, uint64_t length) {
  if (length > kMaxLength)
    node.error("expected a sequence of at most " + llvm::Twine(kMaxLength) +
               " tensors, found " + llvm::Twine(length));
}

/// Result 0 is a sequence.
static void defineSequence(NodeImporter &node,
                           std::vector<GraphValue *> elements) {
  expectLength(node, elements.size());
  if (node.failed())
    return;
  GraphValue *value =
      node.importer.newValue(Kind::Sequence, node.node.output(0), 0, {});
  value->elements = std::move(elements);
  node.define(0, value);
}

/// The elements of operand 0, which must be a sequence.
static std::vector<GraphValue *> elementsOf(NodeImporter &node) {
  if (node.operand(0).kind != Kind::Sequence)
    node.error("expected a sequence as operand 0, found the tensor '" +
               node.node.input(0) + "'");
  return node.operand(0).elements;
}

static void expectTensor(NodeImporter &node, int i) {
  if (node.has(i) && node.operand(i).kind == Kind::Sequence)
    node.error("expected a tensor as operand " + llvm::Twine(i) +
               ", found the sequence '" + node.node.input(i) + "'");
}

/// Operand i, a position in a sequence of `length` elements; `end`: that behind
/// the last one is one too.
static int64_t positionAt(NodeImporter &node, int i, int64_t length, bool end) {
  expectTensor(node, i);
  if (node.failed())
    return 0;
  const Shape list = node.constantList(i);
  if (!node.failed() && list.size() != 1)
    node.error("expected one position as operand " + llvm::Twine(i) +
               ", found [" + shapeText(list) + "]");
  if (node.failed())
    return 0;
  const int64_t given = list.front();
  const int64_t position = given < 0 ? given + length : given;
  if (position < 0 || position >= length + (end ? 1 : 0))
    node.error("position " + llvm::Twine(given) + " is none of a sequence of " +
               llvm::Twine(length) + " tensors");
  return position;
}

/// SequenceEmpty too, which has no operands.
static void importSequenceConstruct(NodeImporter &node) {
  node.ignore("dtype");
  std::vector<GraphValue *> elements;
  for (int i = 0; i < node.node.input_size(); ++i) {
    if (!node.has(i))
      return node.error("operand " + llvm::Twine(i) + " is missing");
    expectTensor(node, i);
    elements.push_back(&node.operand(i));
  }
  defineSequence(node, std::move(elements));
}

static void importSequenceInsert(NodeImporter &node) {
  std::vector<GraphValue *> elements = elementsOf(node);
  expectTensor(node, 1);
  auto position = static_cast<int64_t>(elements.size());
  if (node.has(2))
    position = positionAt(node, 2, position, /*end=*/true);
  if (node.failed())
    return;
  elements.insert(elements.begin() + position, &node.operand(1));
  defineSequence(node, std::move(elements));
}

static void importSequenceErase(NodeImporter &node) {
  std::vector<GraphValue *> elements = elementsOf(node);
  const auto length = static_cast<int64_t>(elements.size());
  // Without a position, the last one.
  int64_t position =
      node.has(1) ? positionAt(node, 1, length, /*end=*/false) : length - 1;
  if (!node.failed() && length == 0)
    node.error("expected a sequence that has tensors");
  if (node.failed())
    return;
  elements.erase(elements.begin() + position);
  defineSequence(node, std::move(elements));
}

static void importSequenceAt(NodeImporter &node) {
  std::vector<GraphValue *> elements = elementsOf(node);
  int64_t position =
      positionAt(node, 1, static_cast<int64_t>(elements.size()), /*end=*/false);
  if (!node.failed())
    node.defineSame(*elements[position]);
}

static void importSequenceLength(NodeImporter &node) {
  Constant length;
  length.type = TensorProto::INT64;
  length.ints = {static_cast<int64_t>(elementsOf(node).size())};
  node.defineConstant(std::move(length));
}

/// The extents of the parts of `extent` that SplitToSequence makes. One number
/// is that of all but the last, which may be smaller.
static Shape partsOf(NodeImporter &node, int64_t extent) {
  Shape parts;
  if (!node.has(1)) {
    expectLength(node, extent);
    return node.failed() ? parts : Shape(extent, 1);
  }
  Constant given = node.constant(1);
  if (node.failed())
    return parts;
  if (given.isFloat() || given.shape.size() > 1) {
    node.error("expected integers as operand 1, found type " +
               elementTypeName(given.type) + " and shape " +
               shapeText(given.shape));
    return parts;
  }
  if (!given.shape.empty()) {
    parts.assign(given.ints.begin(), given.ints.end());
    expectLength(node, parts.size());
  } else if (const int64_t part = given.ints.front(); part > 0) {
    expectLength(node, extent / part + (extent % part != 0 ? 1 : 0));
    for (int64_t rest = extent; rest > 0 && !node.failed(); rest -= part)
      parts.push_back(std::min(rest, part));
  }
  if (node.failed())
    return parts;
  int64_t sum = 0;
  for (int64_t part : parts) {
    // One that is too large must not overflow.
    sum = part < 0 || part > extent ? INT32_MIN : sum + part;
    if (sum < 0)
      break;
  }
  if (sum != extent)
    node.error("expected parts of together " + llvm::Twine(extent) +
               ", found [" +
               shapeText(Shape(given.ints.begin(), given.ints.end())) + "]");
  return parts;
}

static void importSplitToSequence(NodeImporter &node) {
  expectTensor(node, 0);
  if (node.failed())
    return;
  const int64_t axis =
      node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  // What is split into single positions may lose the dimension.
  const bool keeps = node.integer("keepdims", 1) != 0 || node.has(1);
  if (node.failed())
    return;
  Shape parts = partsOf(node, node.shape(0)[axis]);
  if (!node.failed() && parts.size() > 1)
    node.expectNoChangedBatch(0, axis);
  Expression made(node);
  auto list = [&](int64_t number) {
    return made.constant(TensorProto::INT64, {1}, {number});
  };
  std::vector<GraphValue *> elements;
  int64_t start = 0;
  for (int64_t part : parts) {
    elements.push_back(
        keeps ? made.apply("Slice", {&node.operand(0), list(start),
                                     list(start + part), list(axis)})
              : made.apply("Gather",
                           {&node.operand(0),
                            made.constant(TensorProto::INT64, {}, {start})},
                           "axis", axis));
    start += part;
  }
  defineSequence(node, std::move(elements));
}

static void importConcatFromSequence(NodeImporter &node) {
  std::vector<GraphValue *> elements = elementsOf(node);
  const int64_t given = node.integer("axis", 0);
  const bool stacks = node.integer("new_axis", 0) != 0;
  if (!findAttribute(node.node, "axis"))
    node.error("expected an attribute 'axis'");
  if (!node.failed() && elements.empty())
    node.error("expected a sequence that has tensors");
  if (node.failed())
    return;
  const auto rank = static_cast<int64_t>(elements.front()->shape.size());
  const int64_t axis = node.check(resolveAxis(given, rank + (stacks ? 1 : 0)));
  Expression made(node);
  if (stacks)
    for (GraphValue *&element : elements)
      if (!node.failed())
        element = made.apply(
            "Unsqueeze",
            {element, made.constant(TensorProto::INT64, {1}, {axis})});
  if (GraphValue *result = made.apply("Concat", elements, "axis", axis))
    node.define(0, result);
}

void ffc::importer::registerSequenceOps() {
  registerOp("ConcatFromSequence",
             {importConcatFromSequence, 1, 1, 0, false, 0, true});
  registerOp("SequenceAt", {importSequenceAt, 2, 2, 0, false, 0, true});
  registerOp("SequenceConstruct",
             {importSequenceConstruct, 1, INT_MAX, 0, false, 0, true});
  registerOp("SequenceEmpty", {importSequenceConstruct, 0, 0});
  registerOp("SequenceErase", {importSequenceErase, 1, 2, 0, false, 0, true});
  registerOp("SequenceInsert", {importSequenceInsert, 2, 3, 0, false, 0, true});
  registerOp("SequenceLength", {importSequenceLength, 1, 1, 0, false, 0, true});
  registerOp("SplitToSequence", {importSplitToSequence, 1, 2});
}
