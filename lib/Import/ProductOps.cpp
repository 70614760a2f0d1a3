//===- ProductOps.cpp - matrix products -----------------------------------===//

#include "Constant.h"
#include "Expression.h"
#include "OpTable.h"

#include "TypedNode.h"

#include "ffc/IR/ShapeInference.h"

#include <cmath>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

/// Batches of more dimensions leave no room for an iteration space.
static constexpr int64_t kMaxRank = 7;

namespace {
struct Product {
  double alpha = 1, beta = 1;
  bool transA = false, transB = false;
};
} // namespace

static bool isInteger(int32_t type) {
  return isCarriedType(type) && !isFloatType(type) &&
         type != onnx::TensorProto::BOOL;
}

/// The product of matrices, or of batches of them, of integers, which no
/// precision of products may round: sums of products of elements.
static GraphValue *integerProduct(NodeImporter &node, Expression &made,
                                  GraphValue *a, GraphValue *b) {
  if (!a || !b)
    return nullptr;
  Shape rows(a->shape), columns(b->shape);
  rows.push_back(1);
  columns.insert(columns.end() - 2, 1);
  const auto all = ff::broadcastShapes(rows, columns);
  const auto count = all ? elementCount(*all) : std::nullopt;
  if (!count || *count > kMaxFoldedElements) {
    node.error("expected a product of integers of at most " +
               Twine(kMaxFoldedElements) + " products of elements, found " +
               (count ? Twine(*count) : Twine("more")));
    return nullptr;
  }
  GraphValue *products =
      made.mul(made.reshape(a, rows), made.reshape(b, columns));
  return products
             ? made.reduce("ReduceSum", products,
                           static_cast<int64_t>(products->shape.size()) - 2)
             : nullptr;
}

/// The same as buildProduct(), of integers.
static void defineIntegers(NodeImporter &node, const Product &product) {
  for (double factor : {product.alpha, product.beta})
    if (!(std::fabs(factor) <= kMaxPositions && factor == std::floor(factor)))
      return node.error("expected whole factors of integers, at most " +
                        Twine(kMaxPositions) + ", found " + numberText(factor));
  takeNumberType(node, 0, /*integers=*/true);
  expectOneType(node,
                node.has(2) ? ArrayRef<int>{0, 1, 2} : ArrayRef<int>{0, 1});
  Expression made(node);
  auto matrix = [&](int i, bool isTransposed) {
    GraphValue *value = &node.operand(i);
    return isTransposed ? made.transpose(value, {1, 0}) : value;
  };
  GraphValue *y = integerProduct(node, made, matrix(0, product.transA),
                                 matrix(1, product.transB));
  if (product.alpha != 1)
    y = made.mul(y, product.alpha);
  if (node.has(2))
    y = made.add(y, product.beta == 1
                        ? &node.operand(2)
                        : made.mul(&node.operand(2), product.beta));
  made.define(y);
}

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
  if (isInteger(node.operand(0).type))
    return defineIntegers(node, product);
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

static void importGemm(NodeImporter &node) {
  Product product;
  product.alpha = node.real("alpha", 1);
  product.beta = node.real("beta", 1);
  product.transA = node.integer("transA", 0) != 0;
  product.transB = node.integer("transB", 0) != 0;
  buildProduct(node, product);
}

static void importMatMul(NodeImporter &node) {
  for (int i : {0, 1})
    if (node.rank(i) < 1 || node.rank(i) > kMaxRank)
      return node.error("expected an operand " + Twine(i) + " of rank 1 to " +
                        Twine(kMaxRank) + ", found '" + node.node.input(i) +
                        "' of shape " + shapeText(node.shape(i)));
  // A vector is a row on the left and a column on the right, and the result
  // lacks that dimension.
  Shape a(node.shape(0)), b(node.shape(1));
  if (node.rank(0) == 1)
    a.insert(a.begin(), 1);
  if (node.rank(1) == 1)
    b.push_back(1);
  int64_t inner = a.back(), columns = b.back();
  auto batch =
      ff::broadcastShapes(ArrayRef(a).drop_back(2), ArrayRef(b).drop_back(2));
  if (!batch || b[b.size() - 2] != inner)
    return node.error("cannot multiply " + shapeText(node.shape(0)) + " by " +
                      shapeText(node.shape(1)));
  Shape product(*batch), result(*batch);
  product.append({a[a.size() - 2], columns});
  if (node.rank(0) > 1)
    result.push_back(a[a.size() - 2]);
  if (node.rank(1) > 1)
    result.push_back(columns);
  if (isInteger(node.operand(0).type)) {
    takeNumberType(node, 0, /*integers=*/true);
    expectOneType(node, {0, 1});
    Expression made(node);
    return made.define(made.reshape(
        integerProduct(node, made, made.reshape(&node.operand(0), a),
                       made.reshape(&node.operand(1), b)),
        result));
  }
  Value va = node.tensor(0);
  Value vb = node.tensor(1, {Role::Weight, inner, columns});
  RankedTensorType type = node.resultType(product);
  if (node.failed())
    return;
  OpBuilder &builder = node.importer.builder;
  FloatAttr one = builder.getF64FloatAttr(1);
  IntegerAttr no = builder.getI64IntegerAttr(0);
  if (node.rank(0) == 1)
    va = node.part<ff::ReshapeOp>("a", a, va);
  if (node.rank(1) == 1)
    vb = node.part<ff::ReshapeOp>("b", b, vb);
  Value y =
      ff::MatMulOp::create(builder, node.location(), type, va, vb, Value(), one,
                           one, /*dim_names=*/ArrayAttr(), no, no);
  if (product != result)
    y = node.part<ff::ReshapeOp>("y", result, y);
  node.define(y.getDefiningOp());
}

void ffc::importer::registerProductOps() {
  registerOp("Gemm", {importGemm, 2, 3, 0b110});
  registerOp("MatMul", {importMatMul, 2, 2, 0b10});
}
