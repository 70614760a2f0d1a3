//===- GeluProducts.cpp - products behind which GELU comes ----------------===//

#include "GeluProducts.h"

#include "Absorption.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// What `op` computes of its operands, perhaps widened; null if it is more.
static Operation *functionOf(Operation *op) {
  auto fused = dyn_cast<FusedOp>(op);
  if (!fused)
    return op;
  Operation *function = nullptr;
  for (Operation &inside : fused.getBody().front().without_terminator()) {
    if (isWidening(&inside))
      continue;
    if (function)
      return nullptr;
    function = &inside;
  }
  return function;
}

/// The product that makes `sum` for `op` and can go on with it.
static MatMulOp productOf(Value sum, Operation *op) {
  auto product = sum ? sum.getDefiningOp<MatMulOp>() : MatMulOp();
  // What is carried over is carried through a slot, which moves.
  if (!product || !product.isLinear() || product.getClampAttr() ||
      product->hasAttr(kCarryAttr) ||
      sum.getType() != wideType(sum.getType()) ||
      product->getAttr(kRoleAttr) != op->getAttr(kRoleAttr))
    return nullptr;
  return product;
}

GeluProduct ffc::geluProductOf(Operation *op) {
  Operation *function = functionOf(op);
  if (auto gelu = dyn_cast_or_null<UnaryOp>(function)) {
    if (gelu.getKind() != UnaryKind::GeluTanh)
      return {};
    return {productOf(operandBehind(op, gelu.getX()), op), {}};
  }
  auto gradient = dyn_cast_or_null<UnaryBackwardOp>(function);
  if (!gradient || gradient.getKind() != UnaryKind::GeluTanh)
    return {};
  MatMulOp product = productOf(operandBehind(op, gradient.getDy()), op);
  Value saved = operandBehind(op, gradient.getSaved());
  if (!product || !saved || product.getC() || !product->hasOneUse())
    return {};
  // Nothing is moved: that would make other values live longer.
  Operation *maker = saved.getDefiningOp();
  if (maker && !maker->isBeforeInBlock(product))
    return {};
  return {product, saved};
}
