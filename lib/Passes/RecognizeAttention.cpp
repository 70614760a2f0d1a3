//===- RecognizeAttention.cpp - attention of all heads --------------------===//

#include "Aliases.h"
#include "RecognizePatterns.h"

#include "ffc/IR/ConstantValue.h"
#include "ffc/IR/NameOf.h"
#include "ffc/IR/ShapeInference.h"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

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

//===----------------------------------------------------------------------===//
// Rows that look at nothing
//===----------------------------------------------------------------------===//

/// What a softmax makes of a row of nothing but minus infinity is no number.
/// Exporters put 0 there.
namespace {
struct Guard {
  Value weights; ///< the result of the softmax
  Value visible; ///< 0 for rows that become 0; null: those with no number
};
} // namespace

/// `value` as weights of which those that are no numbers, or those of some
/// rows, are 0; the weights themselves if there is no such thing.
static Guard guardOf(Value value, Parts &parts) {
  auto select = value.getDefiningOp<SelectOp>();
  if (!select || select.getY().getType() != value.getType())
    return {value, {}};
  Value condition = select.getCondition();
  if (constantOf(select.getB()) == 0.0 &&
      cast<RankedTensorType>(condition.getType()).getRank() > 0 &&
      cast<RankedTensorType>(condition.getType()).getShape().back() == 1) {
    parts.insert(select);
    return {select.getA(), condition};
  }
  // 1 - (weights == weights)
  auto negated = plusConstant(condition);
  auto same = negated ? timesConstant(negated->x) : std::nullopt;
  BinaryOp equal = same ? binaryOf(same->x, BinaryKind::Equal) : BinaryOp();
  if (!equal || negated->number != 1 || same->number != -1 ||
      equal.getA() != equal.getB() || equal.getA() != select.getB() ||
      constantOf(select.getA()) != 0.0)
    return {value, {}};
  for (Operation *part : {select.getOperation(), condition.getDefiningOp(),
                          negated->x.getDefiningOp(), equal.getOperation()})
    parts.insert(part);
  return {select.getB(), {}};
}

/// Scores below this are of hidden positions.
static constexpr double kLowest = std::numeric_limits<float>::lowest();

/// Larger masks, of more than 4,096 positions, are not looked at.
static constexpr int64_t kMostElements = int64_t(1) << 24;

namespace {
/// What is known of masks, which layers share.
class HidingMasks {
public:
  /// May a mask that is added to scores or, with a number, replaces them by it
  /// where it is not 0, leave none of a row?
  bool hidesRows(Value mask, std::optional<double> replacement) {
    if (replacement)
      return *replacement < kLowest && isTrueOfRow(mask, /*replaces=*/true);
    return isTrueOfRow(mask, /*replaces=*/false);
  }

private:
  bool isTrueOfRow(Value mask, bool replaces) {
    // A name and a value: values are deleted, and others made in their place.
    auto [found, isNew] =
        known.try_emplace({mask.getAsOpaquePointer(),
                           mask.getLoc().getAsOpaquePointer(), replaces});
    if (isNew)
      found->second = computed(mask, replaces);
    return found->second;
  }
  static bool computed(Value mask, bool replaces);

  std::map<std::tuple<void *, const void *, bool>, bool> known;
};
} // namespace

bool HidingMasks::computed(Value mask, bool replaces) {
  auto value = constantValue(mask, kMostElements);
  if (!value || value->shape.empty())
    return true;
  const ArrayRef<double> data = value->data;
  const auto columns = static_cast<size_t>(value->shape.back());
  for (size_t row = 0; row < data.size(); row += columns)
    if (llvm::all_of(data.slice(row, columns),
                     [&](double x) { return replaces ? x != 0 : x < kLowest; }))
      return true;
  return false;
}

/// Is the mask bounded from below, as importers make it?
static bool isFinite(Value mask) {
  BinaryOp most = binaryOf(mask, BinaryKind::Max);
  return most && llvm::any_of(most->getOperands(), [](Value bound) {
           return constantOf(bound).value_or(-HUGE_VAL) >= kLowest;
         });
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
/// Values per row of scores, which are parts of `last`.
struct Rows {
  PatternRewriter &rewriter;
  Operation *last;

  Location loc(StringRef part) const {
    return NameLoc::get(rewriter.getStringAttr(ff::nameOf(last) + "." + part));
  }
  /// The mask without infinities, whose sums with scores are numbers.
  Value finite(Value mask) const {
    return UnaryOp::create(rewriter, loc("finite"), mask.getType(),
                           UnaryKind::Clip, mask,
                           rewriter.getF64FloatAttr(kLowest / 2),
                           rewriter.getF64FloatAttr(-kLowest));
  }
  /// [..., rows, 1], 0 where the mask hides all positions (see HidingMasks).
  Value visible(Value mask, bool replaces) const {
    if (replaces)
      mask = UnaryOp::create(rewriter, loc("shown"), mask.getType(),
                             UnaryKind::Scale, mask,
                             rewriter.getF64FloatAttr(-1), FloatAttr());
    auto type = cast<RankedTensorType>(mask.getType());
    const int64_t columns = type.getRank() - 1;
    RankedTensorType column = reducedType(type, columns, /*keepdims=*/true);
    Value most = ReduceMaxOp::create(rewriter, loc("most"), column, mask,
                                     rewriter.getDenseI64ArrayAttr(columns),
                                     rewriter.getI64IntegerAttr(1));
    StringAttr name = rewriter.getStringAttr(ff::nameOf(last) + ".least_shown");
    Value least =
        StateOp::create(rewriter, NameLoc::get(name),
                        RankedTensorType::get({}, type.getElementType()),
                        name.getValue(), "constant",
                        InitAttr::get(rewriter.getContext(), InitKind::Constant,
                                      replaces ? 0.0 : kLowest, 0));
    return BinaryOp::create(rewriter, loc("visible"), column,
                            BinaryKind::GreaterOrEqual, most, least);
  }
  /// Such a value as [samples, rows, heads, 1].
  Value ofHeads(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(4 - type.getRank(), 1);
    llvm::append_range(shape, type.getShape());
    if (type.getRank() < 4)
      value =
          ReshapeOp::create(rewriter, loc("rows"), type.clone(shape), value);
    return TransposeOp::create(
        rewriter, loc("heads"),
        transposedType(cast<RankedTensorType>(value.getType()), kSwapped),
        value, rewriter.getDenseI64ArrayAttr(kSwapped));
  }
};

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
    Parts parts;
    const Guard guard =
        guardOf(dropout ? dropout.getX() : values.getA(), parts);
    const bool isGuarded = !parts.empty();
    auto softmax = guard.weights.getDefiningOp<SoftmaxOp>();
    if (!softmax || softmax.getLog() != 0 ||
        softmax.getAxes() != ArrayRef<int64_t>{3})
      return failure();
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
    Value visible = guard.visible;
    if (isGuarded && mask && hides->hidesRows(mask, scores->hidden)) {
      Rows rows{rewriter, last};
      if (!visible)
        visible = rows.visible(mask, scores->hidden.has_value());
      // Rows of nothing but hidden positions get numbers, which become 0, as
      // do their gradients.
      if (scores->hidden)
        scores->hidden = kLowest;
      else if (!isFinite(mask))
        mask = rows.finite(mask);
    }
    auto type = cast<RankedTensorType>(last.getX().getType());
    Location loc = last.getLoc();
    if (visible)
      loc =
          NameLoc::get(rewriter.getStringAttr(ff::nameOf(last) + ".attention"));
    auto op = AttentionOp::create(
        rewriter, loc, last.getY().getType(),
        type.clone(type.getShape().drop_back()), q, k, v, mask,
        scores->hidden ? rewriter.getDenseF64ArrayAttr({*scores->hidden})
                       : rewriter.getDenseF64ArrayAttr({}),
        rewriter.getF64FloatAttr(scores->scale),
        dropout ? dropout.getKeyAttr() : rewriter.getI64IntegerAttr(0),
        dropout ? dropout.getRatioAttr() : rewriter.getF64FloatAttr(0),
        rewriter.getI64IntegerAttr(0));
    Value y = op.getY();
    if (visible)
      y = BinaryOp::create(rewriter, last.getLoc(), y.getType(),
                           BinaryKind::Keep, y,
                           Rows{rewriter, last}.ofHeads(visible));
    replace(rewriter, last, parts, y, "attention");
    return success();
  }

private:
  std::shared_ptr<HidingMasks> hides = std::make_shared<HidingMasks>();
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
