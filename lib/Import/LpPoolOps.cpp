//===- LpPoolOps.cpp - norms of windows -----------------------------------===//
//
// Sums of powers of absolute values, by a convolution with ones in every
// channel, and their root.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"
#include "Window.h"

using namespace ffc;
using namespace ffc::importer;

/// Attribute 'p', from 1 on.
static int64_t readPower(NodeImporter &node) {
  const int64_t p = node.integer("p", 2);
  if (p < 1)
    node.error("expected an attribute 'p' from 1 on, found " + llvm::Twine(p));
  return p;
}

/// |x|^p.
static GraphValue *powerOf(Expression &made, GraphValue *x, int64_t p) {
  if (p % 2 != 0)
    x = made.apply("Abs", {x});
  return p == 1 || !x
             ? x
             : made.apply("Pow",
                          {x, made.numberLike(x, static_cast<double>(p))});
}

/// The root of sums; its gradient is 0 where a sum is.
static GraphValue *rootOf(Expression &made, GraphValue *sums, int64_t p) {
  if (p == 1 || !sums)
    return sums;
  GraphValue *zero = made.numberLike(sums, 0);
  GraphValue *isZero = made.cast(made.apply("Equal", {sums, zero}), sums->type);
  GraphValue *root = made.add(sums, isZero);
  root = p == 2
             ? made.apply("Sqrt", {root})
             : made.apply(
                   "Pow",
                   {root, made.numberLike(root, 1.0 / static_cast<double>(p))});
  return made.sub(root, isZero);
}

static void importLpPool(NodeImporter &node) {
  expectImage(node);
  const int64_t p = readPower(node);
  takeNumberType(node, 0, /*integers=*/false);
  if (node.failed())
    return;
  Window window =
      readWindow(node, std::nullopt, /*dilated=*/true, /*ceil=*/true);
  if (node.failed())
    return;
  const int64_t channels = node.shape(0)[1];
  Shape ones = {channels, 1};
  ones.append(window.kernel.begin(), window.kernel.end());
  // Windows that go beyond the pads, as rounding up leaves them, see more of
  // these.
  Shape pads = window.pads;
  const size_t spatial = window.spatial();
  for (size_t d = 0; d < spatial; ++d)
    pads[d + spatial] =
        std::max<int64_t>(pads[d + spatial],
                          (window.out[d] - 1) * window.strides[d] +
                              window.reach(d) - node.shape(0)[d + 2] - pads[d]);
  Expression made(node);
  GraphValue *sums = made.make(MadeNode("Conv")
                                   .integer("group", channels)
                                   .integers("strides", window.strides)
                                   .integers("dilations", window.dilations)
                                   .integers("pads", pads),
                               {powerOf(made, &node.operand(0), p),
                                made.filled(node.operand(0).type, ones, 1)});
  made.define(rootOf(made, sums, p));
}

static void importGlobalLpPool(NodeImporter &node) {
  expectImage(node);
  const int64_t p = readPower(node);
  takeNumberType(node, 0, /*integers=*/false);
  if (node.failed())
    return;
  Expression made(node);
  std::vector<int64_t> axes;
  for (int64_t d = 2; d < node.rank(0); ++d)
    axes.push_back(d);
  GraphValue *list = made.constant(onnx::TensorProto::INT64,
                                   {static_cast<int64_t>(axes.size())}, axes);
  made.define(rootOf(
      made, made.apply("ReduceSum", {powerOf(made, &node.operand(0), p), list}),
      p));
}

void ffc::importer::registerLpPoolOps() {
  registerOp("GlobalLpPool", {importGlobalLpPool, 1, 1});
  registerOp("LpPool", {importLpPool, 1, 1});
}
