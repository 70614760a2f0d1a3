//===- IndexOps.cpp - operators that put parts together or take them ------===//

#include "NodeImporter.h"
#include "OpTable.h"
#include "Positions.h"

#include "llvm/ADT/Sequence.h"

#include <climits>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Positions `indices` of dimension `axis` of `x`: a slice where they are
/// neighbours in ascending order. `name` is that of the part.
static Value take(NodeImporter &node, const Twine &name, Value x, int64_t axis,
                  ArrayRef<int64_t> indices) {
  Shape shape(cast<RankedTensorType>(x.getType()).getShape());
  if (llvm::equal(indices, llvm::seq<int64_t>(shape[axis])))
    return x;
  auto count = static_cast<int64_t>(indices.size());
  Shape starts(shape.size(), 0);
  shape[axis] = count;
  if (count > 0 &&
      llvm::equal(indices, llvm::seq(indices[0], indices[0] + count))) {
    starts[axis] = indices[0];
    return node.part<ff::SliceOp>(name, shape, x, node.list(starts));
  }
  return node.part<ff::GatherOp>(name, shape, x,
                                 node.importer.builder.getI64IntegerAttr(axis),
                                 node.list(indices));
}

/// Result 0 is `x`, made from operand 0 by parts if there were any.
static void finish(NodeImporter &node, Value x, bool hasParts) {
  if (node.failed())
    return;
  if (hasParts)
    node.defineLast(x);
  else
    node.defineSame(node.operand(0));
}

static void importSlice(NodeImporter &node) {
  std::optional<Shape> starts, ends, axes, steps;
  // Opset 10 turned the attributes into operands and added steps.
  if (node.opset() < 10) {
    starts = node.integers("starts");
    ends = node.integers("ends");
    axes = node.integers("axes");
  } else {
    starts = node.constantList(1);
    ends = node.constantList(2);
    if (node.has(3))
      axes = node.constantList(3);
    if (node.has(4))
      steps = node.constantList(4);
  }
  if (node.failed())
    return;
  ArrayRef<int64_t> from = node.shape(0);
  llvm::SmallVector<SliceDim> dims =
      node.check(resolveSlice(from, starts, ends, axes, steps));
  llvm::SmallVector<SliceDim> exported = node.check(
      resolveSlice(node.exportedShape(0), starts, ends, axes, steps));
  Value whole = node.tensor(0), x = whole;
  if (node.failed())
    return;
  // One box for all dimensions in steps of 1, then the others one by one.
  Shape shape(from), offsets(from.size(), 0), all;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    // All of several samples are all of more; the first of one may be meant.
    const int64_t before = node.exportedShape(0)[d];
    if (before > 1 && exported[d].isWhole(before))
      dim = {0, 1, from[d]};
    if (!dim.isWhole(from[d]) && node.isChangedBatch(0, d))
      return node.error(
          "slices the batch and stands in the way of --batch-size");
    all.push_back(dim.count);
    if (dim.step != 1)
      continue;
    shape[d] = dim.count;
    offsets[d] = dim.start;
  }
  node.resultType(all);
  if (node.failed())
    return;
  if (ArrayRef<int64_t>(shape) != from)
    x = node.part<ff::SliceOp>("box", shape, x, node.list(offsets));
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (dim.step == 1)
      continue;
    node.expectPositions(dim.count);
    if (node.failed())
      return;
    Shape indices;
    for (int64_t i = 0; i < dim.count; ++i)
      indices.push_back(dim.start + i * dim.step);
    x = take(node, "steps" + Twine(d), x, d, indices);
  }
  finish(node, x, x != whole);
}

static void importGather(NodeImporter &node) {
  int64_t axis = node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  if (!node.failed() && node.operand(1).kind == GraphValue::Kind::Computed)
    return importLookup(node, axis);
  Constant indices = node.constant(1);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  if (indices.isFloat())
    return node.error("expected integers as operand 1, found type " +
                      elementTypeName(indices.type));
  ArrayRef<int64_t> from = node.shape(0);
  int64_t extent = from[axis];
  for (int64_t &index : indices.ints) {
    if (index < -extent || index >= extent)
      return node.error("index " + Twine(index) +
                        " is out of range for extent " + Twine(extent));
    index += index < 0 ? extent : 0;
  }
  node.expectNoChangedBatch(0, axis);
  Shape shape(from.take_front(axis));
  shape.append(indices.shape);
  shape.append(from.begin() + axis + 1, from.end());
  node.resultType(shape);
  if (node.failed())
    return;
  Value taken = take(node, "taken", x, axis, indices.ints);
  if (cast<RankedTensorType>(taken.getType()).getShape() !=
      ArrayRef<int64_t>(shape))
    taken = node.part<ff::ReshapeOp>("shape", shape, taken);
  finish(node, taken, taken != x);
}

static void importCompress(NodeImporter &node) {
  std::optional<int64_t> axis;
  if (findAttribute(node.node, "axis"))
    axis = node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  if (!node.failed() && node.operand(1).kind == GraphValue::Kind::Computed)
    node.unsupported(" by a computed condition");
  Constant condition = node.constant(1);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  if (condition.type != onnx::TensorProto::BOOL)
    return node.error("expected bools as operand 1, found type " +
                      elementTypeName(condition.type));
  // Without an axis, parts of the flattened operand are taken.
  Shape shape(node.shape(0));
  for (size_t d = 0; d < shape.size(); ++d)
    if (axis.value_or(d) == static_cast<int64_t>(d))
      node.expectNoChangedBatch(0, d);
  if (node.failed())
    return;
  if (!axis)
    shape = {*elementCount(shape)};
  int64_t &extent = shape[axis.value_or(0)];
  if (condition.size() > extent)
    return node.error("expected at most " + Twine(extent) +
                      " conditions, found " + Twine(condition.size()));
  Shape indices;
  for (auto [i, holds] : llvm::enumerate(condition.ints))
    if (holds)
      indices.push_back(static_cast<int64_t>(i));
  Shape whole = shape;
  extent = static_cast<int64_t>(indices.size());
  node.resultType(shape);
  if (node.failed())
    return;
  Value taken = x;
  if (ArrayRef<int64_t>(whole) != node.shape(0))
    taken = node.part<ff::ReshapeOp>("flat", whole, x);
  taken = take(node, "taken", taken, axis.value_or(0), indices);
  finish(node, taken, taken != x);
}

/// The extents of the parts of dimension `axis` that Split makes.
static Shape readParts(NodeImporter &node, int64_t axis) {
  std::optional<Shape> given;
  if (node.opset() < 13)
    given = node.integers("split");
  else if (node.has(1))
    given = node.constantList(1);
  int64_t extent = node.failed() ? 0 : node.shape(0)[axis];
  int64_t results = node.node.output_size();
  // Since opset 18 their number may be said again, and the last one is smaller
  // then.
  int64_t count = node.integer("num_outputs", 0);
  if (findAttribute(node.node, "num_outputs") && (given || count != results))
    node.error("expected " +
               (given ? "no num_outputs beside operand 1"
                      : "num_outputs of " + std::to_string(results)) +
               ", found " + std::to_string(count));
  if (node.failed())
    return {};
  if (!given && count != 0) {
    int64_t part = (extent + count - 1) / count;
    given = Shape(results, part);
    given->back() = extent - part * (results - 1);
  }
  if (!given) {
    if (extent % results != 0)
      node.error("cannot split " + Twine(extent) + " into " + Twine(results) +
                 " equal parts");
    given = Shape(results, extent / results);
  }
  int64_t sum = 0;
  for (int64_t part : *given) {
    if (part < 0 || part > extent)
      node.error("expected parts from 0 to " + Twine(extent) + ", found " +
                 Twine(part));
    sum += part;
  }
  if (static_cast<int64_t>(given->size()) != results || sum != extent)
    node.error("expected " + Twine(results) + " parts of together " +
               Twine(extent) + ", found [" + shapeText(*given) + "]");
  return node.failed() ? Shape() : *given;
}

/// Part of a constant: positions [start, start + extent) of dimension `axis`.
static Constant partOf(const Constant &data, int64_t axis, int64_t start,
                       int64_t extent) {
  ArrayRef<int64_t> shape = data.shape;
  int64_t inner = *elementCount(shape.drop_front(axis + 1));
  Constant result;
  result.type = data.type;
  result.shape = data.shape;
  result.shape[axis] = extent;
  for (int64_t i = 0; i < data.size(); ++i) {
    int64_t position = i / inner % shape[axis];
    if (position < start || position >= start + extent)
      continue;
    if (data.isFloat())
      result.floats.push_back(data.floats[i]);
    else
      result.ints.push_back(data.ints[i]);
  }
  return result;
}

static void importSplit(NodeImporter &node) {
  int64_t axis = node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  if (node.failed())
    return;
  Shape parts = readParts(node, axis);
  bool isConstant = node.operand(0).kind == GraphValue::Kind::Constant;
  Value x = isConstant ? Value() : node.tensor(0);
  if (node.failed())
    return;
  if (parts.size() > 1 && node.isChangedBatch(0, axis))
    return node.error("splits the batch and stands in the way of --batch-size");
  Shape shape(node.shape(0)), starts(shape.size(), 0);
  for (auto [i, extent] : llvm::enumerate(parts)) {
    int result = static_cast<int>(i);
    if (isConstant && !node.node.output(result).empty()) {
      Constant part =
          partOf(node.operand(0).constant, axis, starts[axis], extent);
      GraphValue *value = node.importer.newValue(GraphValue::Kind::Constant,
                                                 node.node.output(result),
                                                 part.type, part.shape);
      value->constant = std::move(part);
      node.define(result, value);
    } else if (parts.size() == 1) {
      node.defineSame(node.operand(0));
    } else if (node.isUsed(result)) {
      shape[axis] = extent;
      if (extent == 0) {
        node.defineEmpty(result, shape);
        continue;
      }
      Value part =
          node.part<ff::SliceOp>(Twine(i), shape, x, node.list(starts));
      if (!node.failed())
        node.define(result, part.getDefiningOp());
    }
    starts[axis] += extent;
  }
}

//===----------------------------------------------------------------------===//
// Concatenation and padding
//===----------------------------------------------------------------------===//

static void importConcat(NodeImporter &node) {
  if (!findAttribute(node.node, "axis"))
    node.error("expected an attribute 'axis'");
  for (int i = 0; i < node.node.input_size(); ++i)
    if (!node.has(i))
      node.error("operand " + Twine(i) + " is missing");
  if (node.failed())
    return;
  int64_t axis = node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  if (node.failed())
    return;
  Shape result(node.shape(0));
  result[axis] = 0;
  SmallVector<Value> inputs;
  int last = 0;
  for (int i = 0; i < node.node.input_size(); ++i) {
    Shape expected(node.shape(0)), found(node.shape(i));
    if (found.size() == expected.size())
      expected[axis] = found[axis];
    if (found != expected)
      return node.error("cannot concatenate " + shapeText(node.shape(0)) +
                        " and " + shapeText(found) + " along dimension " +
                        Twine(axis));
    if (node.isChangedBatch(i, axis))
      return node.error(
          "concatenates batches and stands in the way of --batch-size");
    result[axis] += found[axis];
    if (found[axis] == 0)
      continue;
    inputs.push_back(node.tensor(i));
    last = i;
  }
  node.resultType(result);
  if (node.failed())
    return;
  if (inputs.size() == 1)
    node.defineSame(node.operand(last));
  else
    node.build<ff::ConcatOp>(result, inputs,
                             node.importer.builder.getI64IntegerAttr(axis));
}

namespace {
struct Padding {
  Shape pads;
  double value = 0;
};
} // namespace

static Padding readPadding(NodeImporter &node) {
  Padding padding;
  // Opset 11 turned the attributes into operands.
  if (node.opset() < 11) {
    padding.pads = node.integers("pads").value_or(Shape());
    padding.value = node.real("value", 0);
  } else {
    padding.pads = node.constantList(1);
    if (node.has(2)) {
      Constant fill = node.constant(2);
      if (!node.failed() && fill.size() != 1)
        node.error("expected a scalar as operand 2, found shape " +
                   shapeText(fill.shape));
      padding.value = node.failed() ? 0 : fill.number(0);
    }
  }
  Shape axes = llvm::to_vector(llvm::seq<int64_t>(node.rank(0)));
  if (node.has(3)) { // since opset 18
    axes = node.constantList(3);
    for (int64_t &axis : axes)
      axis = node.check(resolveAxis(axis, node.rank(0)));
  }
  if (2 * axes.size() != padding.pads.size())
    node.error("expected " + Twine(2 * axes.size()) + " pads, found " +
               Twine(padding.pads.size()));
  for (int64_t pad : padding.pads)
    if (pad < -INT_MAX || pad > INT_MAX)
      node.error("pad " + Twine(pad) + " is too large");
  if (node.failed())
    return padding;
  Shape pads(2 * node.rank(0), 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    pads[axis] = padding.pads[i];
    pads[axis + node.rank(0)] = padding.pads[i + axes.size()];
  }
  padding.pads = pads;
  return padding;
}

/// The position in an extent that position `i` of its continuation in both
/// directions repeats.
static int64_t repeatedPosition(StringRef mode, int64_t i, int64_t extent) {
  if (mode == "edge")
    return std::clamp<int64_t>(i, 0, extent - 1);
  int64_t period =
      mode == "wrap" ? extent : std::max<int64_t>(2 * extent - 2, 1);
  i %= period;
  i += i < 0 ? period : 0;
  return i < extent ? i : period - i;
}

static void importPad(NodeImporter &node) {
  StringRef mode = node.text("mode", "constant");
  if (!llvm::is_contained<StringRef>({"constant", "edge", "reflect", "wrap"},
                                     mode))
    node.error(
        "expected mode 'constant', 'edge', 'reflect' or 'wrap', found '" +
        mode + "'");
  if (node.failed())
    return;
  Padding padding = readPadding(node);
  if (node.failed())
    return;
  ArrayRef<int64_t> pads = padding.pads, from = node.shape(0);
  size_t rank = from.size();
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return node.defineSame(node.operand(0));
  Shape shape(from);
  for (size_t d = 0; d < rank; ++d) {
    shape[d] += pads[d] + pads[d + rank];
    if ((pads[d] != 0 || pads[d + rank] != 0) && node.isChangedBatch(0, d))
      return node.error("pads the batch and stands in the way of --batch-size");
  }
  Value x = node.tensor(0);
  node.resultType(shape);
  if (node.failed())
    return;
  if (mode == "constant")
    return node.build<ff::PadOp>(
        shape, x, node.list(pads),
        node.importer.builder.getF64FloatAttr(padding.value));
  for (size_t d = 0; d < rank; ++d) {
    if (shape[d] == from[d] && pads[d] == 0)
      continue;
    node.expectPositions(shape[d]);
    if (node.failed())
      return;
    Shape indices;
    for (int64_t i = 0; i < shape[d]; ++i)
      indices.push_back(repeatedPosition(mode, i - pads[d], from[d]));
    x = take(node, mode + Twine(d), x, static_cast<int64_t>(d), indices);
  }
  node.defineLast(x);
}

void ffc::importer::registerIndexOps() {
  registerOp("Compress", {importCompress, 2, 2, 0, true});
  registerOp("Concat", {importConcat, 1, INT_MAX, 0, true});
  registerOp("Gather", {importGather, 2, 2, 0b1, true, 1});
  registerOp("Pad", {importPad, 1, 4, 0, true});
  registerOp("Slice", {importSlice, 1, 5, 0, true});
  registerOp("Split", {importSplit, 1, 2, 0, true});
}
