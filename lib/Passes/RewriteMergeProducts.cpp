//===- RewriteMergeProducts.cpp - one product for several of one operand --===//
//
// Queries, keys and values are products of one operand with three matrices, and
// so are the two halves of a gated layer. One product with the matrices side by
// side reads the operand once; its gradient is one product where there would be
// a sum of three, each of which devices that share the layer would have to add
// up. It costs copies: of the matrices, and of the parts of the result.
//
//===----------------------------------------------------------------------===//

#include "RewriteColumns.h"

#include "llvm/ADT/MapVector.h"

#include <numeric>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::rewriting;

/// Queries, keys and values are three times as wide as their operand, or less;
/// the halves of gated layers five to seven times.
static constexpr int64_t kNarrow = 4;

/// The columns of a product.
static int64_t columnsOf(MatMulOp op) { return shapeOf(op.getY()).back(); }

/// Is it a layer: an operand times a parameter, and a row or not?
static bool isLayer(MatMulOp op) {
  auto weights = op.getB().getDefiningOp<StateOp>();
  if (!weights || shapeOf(weights).size() != 2 || op.getAddend() ||
      op.getTransA() != 0 || op.getA() == op.getB())
    return false;
  auto bias = op.getC() ? op.getC().getDefiningOp<StateOp>() : StateOp();
  // A row that is broadcast to all columns is not one of them.
  return !op.getC() ||
         (bias && shapeOf(bias) == ArrayRef<int64_t>(columnsOf(op)));
}

/// What products that become one have in common, all of it unique: operand,
/// numbers and flags, and the kinds of states, since what is trained needs
/// gradients, which the rest had better not get.
using ProductKey = SmallVector<const void *, 8>;

static ProductKey keyOf(MatMulOp op) {
  auto kindOf = [](Value state) {
    return state ? state.getDefiningOp<StateOp>().getKindAttr() : StringAttr();
  };
  return {op.getA().getAsOpaquePointer(),
          op.getAlphaAttr().getAsOpaquePointer(),
          op.getC() ? op.getBetaAttr().getAsOpaquePointer() : nullptr,
          op.getDimNamesAttr().getAsOpaquePointer(),
          op.getTransBAttr().getAsOpaquePointer(),
          op.getClampAttr().getAsOpaquePointer(),
          kindOf(op.getB()).getAsOpaquePointer(),
          kindOf(op.getC()).getAsOpaquePointer()};
}

static void merge(Maker &maker, ArrayRef<MatMulOp> products) {
  MatMulOp first = products.front();
  maker.insertBefore(first);
  SmallVector<Value> weights, biases;
  SmallVector<int64_t> widths;
  for (MatMulOp op : products) {
    weights.push_back(maker.before(first, op.getB()));
    if (op.getC())
      biases.push_back(maker.before(first, op.getC()));
    widths.push_back(columnsOf(op));
  }
  const int64_t groups = groupsOf(widths);
  const std::string name = (nameOf(first) + ".merged").str();
  Value b = deal(maker, name + ".weights", weights,
                 first.getTransB() != 0 ? 0 : 1, groups);
  Value c =
      biases.empty() ? Value() : deal(maker, name + ".bias", biases, 0, groups);
  SmallVector<int64_t> shape(shapeOf(first.getY()));
  shape.back() = std::accumulate(widths.begin(), widths.end(), int64_t(0));
  Value y = MatMulOp::create(maker.builder, maker.named(name),
                             shaped(first.getY(), shape), first.getA(), b, c,
                             Value(), first.getAlphaAttr(), first.getBetaAttr(),
                             first.getDimNamesAttr(), first.getTransAAttr(),
                             first.getTransBAttr(), first.getClampAttr());
  for (auto [op, part] :
       llvm::zip_equal(products, undeal(maker, name, y, widths, groups)))
    maker.replace(op, part);
}

/// Are the results of all, which are copied, at most kNarrow times as large as
/// the operand, which is read once?
static bool isNarrow(ArrayRef<MatMulOp> products) {
  int64_t columns = 0;
  for (MatMulOp op : products)
    columns += columnsOf(op);
  MatMulOp first = products.front();
  return columns <= kNarrow * shapeOf(first.getA()).back();
}

/// Of narrow products, or of all others.
static size_t mergeProducts(func::FuncOp main, bool narrow) {
  llvm::MapVector<Value,
                  SmallVector<std::pair<ProductKey, SmallVector<MatMulOp>>>>
      byOperand;
  for (MatMulOp op : main.front().getOps<MatMulOp>()) {
    if (!isLayer(op))
      continue;
    auto &groups = byOperand[op.getA()];
    const ProductKey key = keyOf(op);
    auto known = llvm::find_if(
        groups, [&](const auto &group) { return group.first == key; });
    if (known == groups.end())
      known = groups.insert(groups.end(), {key, {}});
    known->second.push_back(op);
  }
  Maker maker(main);
  size_t places = 0;
  for (auto &[operand, groups] : byOperand)
    for (auto &[key, products] : groups)
      if (products.size() > 1 && isNarrow(products) == narrow) {
        merge(maker, products);
        ++places;
      }
  return places;
}

size_t rewriting::mergeNarrowProducts(func::FuncOp main) {
  return mergeProducts(main, /*narrow=*/true);
}

size_t rewriting::mergeWideProducts(func::FuncOp main) {
  return mergeProducts(main, /*narrow=*/false);
}
