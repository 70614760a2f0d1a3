//===- MathOps.cpp - products and element-wise functions ------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include "ffc/IR/Hash.h"
#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
struct Product {
  double alpha = 1, beta = 1;
  bool transA = false, transB = false;
};
} // namespace

/// y = alpha op(a) op(b) + beta c, c being optional.
static void buildProduct(NodeImporter &node, const Product &product) {
  node.expectRank(0, 2);
  node.expectRank(1, 2);
  if (node.failed())
    return;
  ArrayRef<int64_t> a = node.shape(0), b = node.shape(1);
  int64_t rows = a[product.transA], inner = a[!product.transA];
  int64_t columns = b[!product.transB];
  if (b[product.transB] != inner)
    return node.error("cannot multiply " + shapeText(a) +
                      (product.transA ? " (transposed)" : "") + " by " +
                      shapeText(b) + (product.transB ? " (transposed)" : ""));
  Shape result = {rows, columns};
  if (node.has(2)) {
    auto sum = ff::broadcastShapes(node.shape(2), result);
    if (!sum || Shape(*sum) != result)
      return node.error("cannot broadcast operand 2 of shape " +
                        shapeText(node.shape(2)) + " to " + shapeText(result));
  }
  Value va = node.tensor(0);
  Value vb = node.tensor(1, {Role::Weight, inner, columns});
  Value vc = node.has(2) ? node.tensor(2, {Role::Bias}) : Value();
  if (node.failed())
    return;
  Builder &builder = node.importer.builder;
  node.build<ff::MatMulOp>(
      result, va, vb, vc, builder.getF64FloatAttr(product.alpha),
      builder.getF64FloatAttr(product.beta),
      /*dim_names=*/ArrayAttr(), builder.getI64IntegerAttr(product.transA),
      builder.getI64IntegerAttr(product.transB));
}

void ffc::importer::importGemm(NodeImporter &node) {
  Product product;
  product.alpha = node.real("alpha", 1);
  product.beta = node.real("beta", 1);
  product.transA = node.integer("transA", 0) != 0;
  product.transB = node.integer("transB", 0) != 0;
  buildProduct(node, product);
}

void ffc::importer::importMatMul(NodeImporter &node) {
  if (node.rank(0) != 2 || node.rank(1) != 2)
    node.error("expected two matrices (products of vectors and of batches of "
               "matrices are not supported), found " +
               shapeText(node.shape(0)) + " and " + shapeText(node.shape(1)));
  else
    buildProduct(node, Product());
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

void ffc::importer::importUnary(NodeImporter &node) {
  auto kind = llvm::StringSwitch<ff::UnaryKind>(node.opType())
                  .Case("Relu", ff::UnaryKind::Relu)
                  .Case("Sigmoid", ff::UnaryKind::Sigmoid)
                  .Case("Tanh", ff::UnaryKind::Tanh)
                  .Default(ff::UnaryKind::LeakyRelu);
  Builder &builder = node.importer.builder;
  FloatAttr alpha;
  if (kind == ff::UnaryKind::LeakyRelu)
    alpha = builder.getF64FloatAttr(node.real("alpha", 0.01f));
  Value x = node.tensor(0);
  if (!node.failed())
    node.build<ff::UnaryOp>(node.shape(0), kind, x, alpha);
}

void ffc::importer::importBinary(NodeImporter &node) {
  auto kind = llvm::StringSwitch<ff::BinaryKind>(node.opType())
                  .Case("Add", ff::BinaryKind::Add)
                  .Case("Sub", ff::BinaryKind::Sub)
                  .Default(ff::BinaryKind::Mul);
  auto shape = ff::broadcastShapes(node.shape(0), node.shape(1));
  if (!shape)
    return node.error("cannot broadcast " + shapeText(node.shape(0)) + " and " +
                      shapeText(node.shape(1)));
  Value a = node.tensor(0), b = node.tensor(1);
  node.resultType(*shape);
  if (!node.failed())
    node.build<ff::BinaryOp>(*shape, kind, a, b);
}

/// Reads operand i of a dropout, a scalar.
static std::optional<double> scalar(NodeImporter &node, int i) {
  if (!node.has(i))
    return std::nullopt;
  Constant value = node.constant(i);
  if (!node.failed() && value.size() != 1)
    node.error("expected a scalar as operand " + Twine(i) + ", found shape " +
               shapeText(value.shape));
  return node.failed() ? 0 : value.number(0);
}

void ffc::importer::importDropout(NodeImporter &node) {
  // Opset 12 turned the ratio into an operand and added whether it acts.
  bool acts = true;
  double ratio = 0.5;
  if (node.opset() >= 12) {
    ratio = scalar(node, 1).value_or(ratio);
    acts = scalar(node, 2).value_or(0) != 0;
    node.integer("seed", 0); // the program has its own
  } else {
    ratio = node.real("ratio", ratio);
  }
  const ImportOptions &options = node.importer.options;
  if (options.dropout) {
    ratio = *options.dropout;
    acts = true;
  }
  if (!(ratio >= 0 && ratio < 1))
    node.error("expected a ratio from 0 to below 1, found " +
               numberText(ratio));
  if (node.failed())
    return;
  if (!acts || !options.training || ratio == 0)
    return node.defineSame(node.operand(0));
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Builder &builder = node.importer.builder;
  auto key = static_cast<int64_t>(ff::hashName(node.getName()));
  node.build<ff::DropoutOp>(node.shape(0), x, builder.getI64IntegerAttr(key),
                            builder.getF64FloatAttr(ratio));
}

void ffc::importer::importSoftmax(NodeImporter &node) {
  // Until opset 12 the operand was a matrix, columns starting at `axis`.
  bool joint = node.opset() < 13;
  int64_t given = node.integer("axis", joint ? 1 : -1), rank = node.rank(0);
  int64_t axis =
      joint && given == rank ? rank : node.check(resolveAxis(given, rank));
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Shape axes =
      llvm::to_vector(llvm::seq<int64_t>(axis, joint ? rank : axis + 1));
  for (int64_t d : axes)
    if (node.isChangedBatch(0, d))
      return node.error("normalises over the batch and stands in the way of "
                        "--batch-size");
  node.build<ff::SoftmaxOp>(node.shape(0), x, node.list(axes));
}
