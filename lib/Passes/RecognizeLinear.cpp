//===- RecognizeLinear.cpp - products of a linear layer -------------------===//

#include "RecognizePatterns.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::recognition;

/// The operand of a transposition of the last two dimensions.
static Value untransposed(Value value, Parts &parts) {
  auto op = value.getDefiningOp<TransposeOp>();
  if (!op)
    return {};
  ArrayRef<int64_t> perm = op.getPerm();
  auto rank = static_cast<int64_t>(perm.size());
  for (int64_t d = 0; d < rank; ++d)
    if (perm[d] != (d < rank - 2 ? d : 2 * rank - 3 - d))
      return {};
  parts.insert(op);
  return op.getX();
}

namespace {
/// matmul(a, transpose(b)) and the like.
struct TransposedOperand : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatMulOp last,
                                PatternRewriter &rewriter) const override {
    Parts parts;
    bool transA = last.getTransA() != 0, transB = last.getTransB() != 0;
    Value a = last.getA(), b = last.getB();
    if (Value x = untransposed(a, parts)) {
      a = x;
      transA = !transA;
    }
    if (Value x = untransposed(b, parts)) {
      b = x;
      transB = !transB;
    }
    if (parts.empty() || !areInside(parts, last))
      return failure();
    Value y = MatMulOp::create(
        rewriter, last.getLoc(), last.getY().getType(), a, b, last.getC(),
        last.getAddend(), last.getAlphaAttr(), last.getBetaAttr(),
        last.getDimNamesAttr(), rewriter.getI64IntegerAttr(transA),
        rewriter.getI64IntegerAttr(transB), last.getClampAttr());
    replace(rewriter, last, parts, y, "a product with a transposed operand");
    return success();
  }
};

/// matmul(a, b) + bias, a vector.
struct Bias : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BinaryOp last,
                                PatternRewriter &rewriter) const override {
    if (last.getKind() != BinaryKind::Add)
      return failure();
    for (bool first : {true, false}) {
      Value bias = first ? last.getB() : last.getA();
      auto op = (first ? last.getA() : last.getB()).getDefiningOp<MatMulOp>();
      if (!op || op.getC() || op.getAddend() || op.getClampAttr())
        continue;
      auto type = cast<RankedTensorType>(op.getY().getType());
      Parts parts;
      parts.insert(op);
      if (cast<RankedTensorType>(bias.getType()).getShape() !=
              type.getShape().take_back() ||
          !areInside(parts, last))
        continue;
      Value y = MatMulOp::create(
          rewriter, last.getLoc(), type, op.getA(), op.getB(), bias,
          op.getAlphaAttr(), rewriter.getF64FloatAttr(1), op.getDimNamesAttr(),
          op.getTransAAttr(), op.getTransBAttr());
      replace(rewriter, last, parts, y, "a product with a bias");
      return success();
    }
    return failure();
  }
};
} // namespace

void recognition::addLinear(RewritePatternSet &patterns) {
  patterns.add<TransposedOperand, Bias>(patterns.getContext());
}
