//===- RewriteJoinSums.cpp - sums of products are one product -------------===//
//
//   a b + c d = [a c] [b; d]
//
// Two layers whose results are added up, as those behind attention and behind a
// gated layer where these are side by side (PaLM, 2022), sum over what both
// contract at once: devices that share them add up one partial sum, not two. It
// costs copies of the operands.
//
//===----------------------------------------------------------------------===//

#include "RewriteColumns.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::rewriting;

/// `value` as a layer that nobody else reads, or null.
static MatMulOp layerOf(Value value) {
  auto op = value.getDefiningOp<MatMulOp>();
  return op && value.hasOneUse() && !op.getAddend() && !op.getClampAttr() &&
                 op.getTransA() == 0 && shapeOf(op.getB()).size() == 2
             ? op
             : MatMulOp();
}

static BinaryOp sumOf(Value value) {
  auto op = value.getDefiningOp<BinaryOp>();
  return op && op.getKind() == BinaryKind::Add &&
                 op.getA().getType() == op.getB().getType()
             ? op
             : BinaryOp();
}

/// May `other` be summed with `first`? One of both at most has a row to add.
static bool areAlike(MatMulOp first, MatMulOp other) {
  return first.getAlphaAttr() == other.getAlphaAttr() &&
         first.getTransBAttr() == other.getTransBAttr() &&
         first.getDimNamesAttr() == other.getDimNamesAttr() &&
         !(first.getC() && other.getC());
}

namespace {
/// A sum of any number of summands, of which two or more are products.
struct Sum {
  SmallVector<Operation *> adds; ///< the last one first
  SmallVector<MatMulOp> products;
  SmallVector<Value> others;
};
} // namespace

static Sum summandsOf(BinaryOp last) {
  Sum sum;
  SmallVector<Value> open = {last.getY()};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    BinaryOp add = sumOf(value);
    if (add && (add == last || value.hasOneUse())) {
      sum.adds.push_back(add);
      // The first summand is the next one.
      open.push_back(add.getB());
      open.push_back(add.getA());
      continue;
    }
    MatMulOp product = layerOf(value);
    if (product && llvm::all_of(sum.products, [&](MatMulOp other) {
          return areAlike(other, product);
        }))
      sum.products.push_back(product);
    else
      sum.others.push_back(value);
  }
  return sum;
}

static void join(Maker &maker, BinaryOp last, const Sum &sum) {
  maker.insertBefore(last);
  SmallVector<Value> left, right;
  SmallVector<int64_t> depths;
  MatMulOp first = sum.products.front();
  Value row;
  FloatAttr beta = first.getBetaAttr();
  for (MatMulOp op : sum.products) {
    left.push_back(op.getA());
    right.push_back(op.getB());
    depths.push_back(shapeOf(op.getA()).back());
    if (op.getC()) {
      row = op.getC();
      beta = op.getBetaAttr();
    }
  }
  const int64_t groups = groupsOf(depths);
  const std::string name = (nameOf(last) + ".joined").str();
  Value a = deal(maker, name + ".left", left, shapeOf(left.front()).size() - 1,
                 groups);
  Value b = deal(maker, name + ".right", right, first.getTransB() != 0 ? 1 : 0,
                 groups);
  Value y = MatMulOp::create(
      maker.builder, maker.named(name), last.getY().getType(), a, b, row,
      Value(), first.getAlphaAttr(), beta, first.getDimNamesAttr(),
      first.getTransAAttr(), first.getTransBAttr(), DenseF64ArrayAttr());
  for (Value other : sum.others)
    y = BinaryOp::create(maker.builder, maker.named(name + ".sum"), y.getType(),
                         BinaryKind::Add, y, other);
  maker.replace(last, y);
  for (Operation *op : ArrayRef(sum.adds).drop_front())
    op->erase();
  for (MatMulOp op : sum.products)
    op->erase();
}

size_t rewriting::joinSums(func::FuncOp main) {
  Maker maker(main);
  size_t places = 0;
  // Whole sums come before their parts.
  SmallVector<BinaryOp> all(main.front().getOps<BinaryOp>());
  llvm::SmallPtrSet<Operation *, 16> seen;
  for (BinaryOp op : llvm::reverse(all)) {
    if (seen.contains(op) || !sumOf(op.getY()))
      continue;
    const Sum sum = summandsOf(op);
    seen.insert(sum.adds.begin(), sum.adds.end());
    if (sum.products.size() < 2)
      continue;
    join(maker, op, sum);
    ++places;
  }
  return places;
}
