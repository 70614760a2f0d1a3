//===- RecognizeAttention.cpp - attention of all heads --------------------===//

#include "Aliases.h"
#include "RecognizePatterns.h"

#include "ffc/IR/NameOf.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::recognition;

/// [N, H, T, D] as [N, T, H, D] and back.
static constexpr int64_t kSwapped[] = {0, 2, 1, 3};
/// [N, H, D, S] as [N, S, H, D].
static constexpr int64_t kKeysFirst[] = {0, 3, 1, 2};

namespace {
/// What the scores are made of.
struct Scores {
  MatMulOp product;
  double scale = 1;
  Value mask; ///< null: none
  std::optional<double> hidden;
  bool hidesZeros = false; ///< where the mask is 0
};
} // namespace

/// `value` as a product times constants.
static bool matchProduct(Value value, Scores &scores, Parts &parts) {
  while (auto scaled = timesConstant(value)) {
    scores.scale *= scaled->number;
    parts.insert(value.getDefiningOp());
    value = scaled->x;
  }
  scores.product = value.getDefiningOp<MatMulOp>();
  if (!scores.product || scores.product.getC() || scores.product.getAddend() ||
      scores.product.getClampAttr() ||
      cast<RankedTensorType>(value.getType()).getRank() != 4)
    return false;
  scores.scale *= scores.product.getAlpha().convertToDouble();
  parts.insert(scores.product);
  return true;
}

/// `value` as such a product with a mask.
static std::optional<Scores> matchScores(Value value, Parts &parts) {
  auto with = [&](Value scored) -> std::optional<Scores> {
    Scores scores;
    Parts more = parts;
    if (scored.getType() != value.getType() ||
        !matchProduct(scored, scores, more))
      return std::nullopt;
    if (scored != value)
      more.insert(value.getDefiningOp());
    parts = more;
    return scores;
  };
  if (auto scores = with(value))
    return scores;
  if (auto select = value.getDefiningOp<SelectOp>())
    for (bool first : {true, false})
      if (auto hidden = constantOf(first ? select.getA() : select.getB()))
        if (auto scores = with(first ? select.getB() : select.getA())) {
          scores->mask = select.getCondition();
          scores->hidden = hidden;
          scores->hidesZeros = !first;
          return scores;
        }
  if (BinaryOp sum = binaryOf(value, BinaryKind::Add))
    for (bool first : {true, false})
      if (auto scores = with(first ? sum.getA() : sum.getB())) {
        scores->mask = first ? sum.getB() : sum.getA();
        return scores;
      }
  return std::nullopt;
}

/// Does `value` depend on a parameter?
static bool isTrained(Value value) {
  SmallVector<Value> open = {value};
  SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto state = dyn_cast<StateOp>(op);
        state && state.getKind() != "constant")
      return true;
    open.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// transpose(value, perm), together with what transposes already, which becomes
/// a part if nobody else needs it.
static Value transposed(PatternRewriter &rewriter, Operation *last,
                        Parts &parts, StringRef part, Value value,
                        ArrayRef<int64_t> perm) {
  SmallVector<int64_t> order(perm);
  if (auto before = value.getDefiningOp<TransposeOp>()) {
    for (int64_t &d : order)
      d = before.getPerm()[d];
    value = before.getX();
    if (before->hasOneUse())
      parts.insert(before);
  }
  if (llvm::is_sorted(order))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Location loc =
      NameLoc::get(rewriter.getStringAttr(ff::nameOf(last) + "." + part));
  return TransposeOp::create(rewriter, loc, transposedType(type, order), value,
                             rewriter.getDenseI64ArrayAttr(order));
}

namespace {
/// transpose(matmul(softmax(scores), v)), or the same of what dropout leaves,
/// where the transposition brings the heads behind the positions.
struct Attention : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp last,
                                PatternRewriter &rewriter) const override {
    if (last.getPerm() != ArrayRef<int64_t>(kSwapped))
      return failure();
    auto values = last.getX().getDefiningOp<MatMulOp>();
    if (!values || values.getC() || values.getAddend() ||
        values.getClampAttr() || values.getTransA() != 0 ||
        !values.getAlpha().isExactlyValue(1))
      return failure();
    auto dropout = values.getA().getDefiningOp<DropoutOp>();
    auto softmax =
        (dropout ? dropout.getX() : values.getA()).getDefiningOp<SoftmaxOp>();
    if (!softmax || softmax.getLog() != 0 ||
        softmax.getAxes() != ArrayRef<int64_t>{3})
      return failure();
    Parts parts;
    parts.insert(values);
    if (dropout)
      parts.insert(dropout);
    parts.insert(softmax);
    auto scores = matchScores(softmax.getX(), parts);
    if (!scores || scores->product.getTransA() != 0 ||
        !areInside(parts, last) || (scores->mask && isTrained(scores->mask)))
      return failure();
    // Batches must not be broadcast.
    auto batch = [](Value x) {
      return cast<RankedTensorType>(x.getType()).getShape().drop_back(2);
    };
    ArrayRef<int64_t> common = batch(last.getX());
    for (Value x : {scores->product.getA(), scores->product.getB(),
                    values.getA(), values.getB()})
      if (batch(x) != common)
        return failure();

    Value mask = scores->mask;
    if (mask && scores->hidesZeros) {
      auto named = [&](StringRef part) {
        return rewriter.getStringAttr(ff::nameOf(last) + part);
      };
      auto type = cast<RankedTensorType>(mask.getType());
      StringAttr zeroName = named(".zero");
      Value zero = StateOp::create(
          rewriter, NameLoc::get(zeroName),
          RankedTensorType::get({}, type.getElementType()), zeroName.getValue(),
          "constant",
          InitAttr::get(rewriter.getContext(), InitKind::Constant, 0.0, 0));
      mask = BinaryOp::create(rewriter, NameLoc::get(named(".hidden")), type,
                              BinaryKind::Equal, mask, zero);
    }
    Value q = transposed(rewriter, last, parts, "q", scores->product.getA(),
                         kSwapped);
    Value k = transposed(rewriter, last, parts, "k", scores->product.getB(),
                         scores->product.getTransB() ? kSwapped : kKeysFirst);
    Value v = transposed(rewriter, last, parts, "v", values.getB(),
                         values.getTransB() ? kKeysFirst : kSwapped);
    auto type = cast<RankedTensorType>(last.getX().getType());
    auto op = AttentionOp::create(
        rewriter, last.getLoc(), last.getY().getType(),
        type.clone(type.getShape().drop_back()), q, k, v, mask,
        scores->hidden ? rewriter.getDenseF64ArrayAttr({*scores->hidden})
                       : rewriter.getDenseF64ArrayAttr({}),
        rewriter.getF64FloatAttr(scores->scale),
        dropout ? dropout.getKeyAttr() : rewriter.getI64IntegerAttr(0),
        dropout ? dropout.getRatioAttr() : rewriter.getF64FloatAttr(0),
        rewriter.getI64IntegerAttr(0));
    replace(rewriter, last, parts, op.getY(), "attention");
    return success();
  }
};

/// Queries or keys times a constant, before their heads are made: the scores
/// are scaled instead.
struct ScaledHeads : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand *use : {&op.getQMutable(), &op.getKMutable()}) {
      while (use->get().hasOneUse() && isa_and_nonnull<ReshapeOp, TransposeOp>(
                                           use->get().getDefiningOp()))
        use = &use->get().getDefiningOp()->getOpOperand(0);
      auto scaled = timesConstant(use->get());
      if (!scaled || !use->get().hasOneUse())
        continue;
      Operation *scaling = use->get().getDefiningOp();
      emitRemark(op.getLoc())
          << "'" << ff::nameOf(op.getOperation()) << "' scales scores by what '"
          << ff::nameOf(scaling) << "' scales";
      rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(scaled->x); });
      rewriter.modifyOpInPlace(op, [&] {
        op.setScale(APFloat(op.getScale().convertToDouble() * scaled->number));
        addAliases(op, scaling);
      });
      rewriter.eraseOp(scaling);
      return success();
    }
    return failure();
  }
};
} // namespace

void recognition::addAttention(RewritePatternSet &patterns) {
  patterns.add<Attention, ScaledHeads>(patterns.getContext());
}
