//===- AttentionOp.cpp - ff.attention and its gradient --------------------===//

#include "RuleHelpers.h"
#include "Windows.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimKind;
using plan::DimMap;
using plan::Reduction;

namespace {
/// Iteration dimensions.
enum { Sample, Row, Head, Key };

struct Extents {
  int64_t samples, rows, heads, keys;
  int64_t width;  ///< of queries and keys
  int64_t values; ///< width of v

  Extents(Value q, Value v)
      : samples(shapeOf(q)[0]), rows(shapeOf(q)[1]), heads(shapeOf(q)[2]),
        keys(shapeOf(v)[1]), width(shapeOf(q)[3]), values(shapeOf(v)[3]) {}

  plan::Shape scores() const { return {samples, heads, rows, keys}; }
  plan::Shape sums() const { return {samples, heads, rows}; }
  plan::Shape result() const { return {samples, rows, heads, values}; }
  std::vector<plan::IterDim> dims() const {
    return {{"n", samples, DimKind::Sample},
            {"r", rows, DimKind::Attribute},
            {"h", heads, DimKind::Attribute},
            {"s", keys, DimKind::Reduction}};
  }
};
} // namespace

/// Accesses to [n, r, h, width], [n, s, h, width] and [n, h, r].
static plan::Access heads(int position) {
  return {{DimMap::dim(Sample), DimMap::dim(position), DimMap::dim(Head),
           DimMap::full()},
          plan::MemoryOrder::RowMajor,
          {}};
}
static plan::Access sums() {
  return {{DimMap::dim(Sample), DimMap::dim(Head), DimMap::dim(Row)},
          plan::MemoryOrder::RowMajor,
          {}};
}

/// Access to what is broadcast to the scores.
static plan::Access maskAccess(Value mask, const Extents &extents) {
  const int dims[] = {Sample, Head, Row, Key};
  plan::Access access;
  access.order = plan::MemoryOrder::RowMajor;
  if (!mask)
    return access;
  plan::Shape shape = shapeOf(mask), scores = extents.scores();
  size_t skipped = scores.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    access.dims.push_back(shape[d] == scores[skipped + d]
                              ? DimMap::dim(dims[skipped + d])
                              : DimMap::full());
  return access;
}

template <class Op> static DictionaryAttr attentionArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("causal", op.getCausalAttr()),
       builder.getNamedAttr("hidden", op.getHiddenAttr()),
       builder.getNamedAttr(kRandomKeyArg, op.getKeyAttr()),
       builder.getNamedAttr("ratio", op.getRatioAttr()),
       builder.getNamedAttr("scale", op.getScaleAttr())});
}

/// Flops that dropping an element takes, as in ff.dropout.
static constexpr double kDropFlops = 30;
template <class Op> static double dropFlops(Op op) {
  return op.getRatio().isZero() ? 0 : kDropFlops;
}

/// Constraints 1, 2, 4, 5 and 7, and the results of the forward operator.
template <class Op> static LogicalResult verifyAttention(Op op) {
  if (failed(verifyTensors(op)))
    return failure();
  Extents extents(op.getQ(), op.getV());
  plan::Shape keys = {extents.samples, extents.keys, extents.heads,
                      extents.width},
              values = {extents.samples, extents.keys, extents.heads,
                        extents.values};
  // Constraint 1.
  if (failed(verifyShape(op, "k", keys, op.getK())) ||
      failed(verifyShape(op, "v", values, op.getV())))
    return failure();
  // Constraint 2.
  if (Value mask = op.getMask()) {
    plan::Shape scores = extents.scores();
    auto common = broadcastShapes(shapeOf(mask), scores);
    if (!common || ArrayRef<int64_t>(*common) != ArrayRef<int64_t>(scores))
      return op.emitOpError("expected mask that broadcasts to [")
             << ArrayRef<int64_t>(scores) << "], found " << mask.getType();
  }
  // Constraint 4.
  if (op.getHidden().size() > (op.getMask() ? 1 : 0))
    return op.emitOpError("expected ")
           << (op.getMask() ? "one number at most" : "no number")
           << " in hidden, found " << op.getHidden().size();
  // Constraint 5.
  if (double ratio = op.getRatio().convertToDouble();
      !(ratio >= 0 && ratio < 1))
    return op.emitOpError("expected a ratio from 0 to below 1, found ")
           << op.getRatioAttr();
  // Constraint 7.
  const bool mayBeCausal =
      !op.getHidden().empty() && extents.rows == extents.keys;
  if (op.getCausal() < 0 || op.getCausal() > (mayBeCausal ? 1 : 0))
    return op.emitOpError("expected causal to be 0, or 1 with a mask, hidden "
                          "and as many rows as positions, found ")
           << op.getCausal() << " with " << op.getHidden().size() << " hidden, "
           << extents.rows << " rows and " << extents.keys << " positions";
  // Constraint 3.
  if (failed(verifyShape(op, "y", extents.result(), op.getY())))
    return failure();
  return verifyShape(op, "lse", extents.sums(), op.getLse());
}

/// Constraint 6.
template <class Op>
static LogicalResult verifyTypes(Op op, ArrayRef<Value> operands) {
  SmallVector<Value, 3> others = {op.getLse()};
  if (Value mask = op.getMask())
    others.push_back(mask);
  if (getElementTypeOrSelf(op.getY()) != getElementTypeOrSelf(op.getQ()))
    others.push_back(op.getY());
  return verifyMultiplied(op, operands, others);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  if (failed(verifyAttention(*this)))
    return failure();
  return verifyTypes(*this, {getQ(), getK(), getV()}); // constraint 6
}

SmallVector<Value> AttentionOp::getOperandSlots() {
  return {getQ(), getK(), getV(), getMask()};
}

SmallVector<OpOperand *> AttentionOp::getMultipliedOperands() {
  return {&getQMutable(), &getKMutable(), &getVMutable()};
}

plan::OpRules AttentionOp::getRules() {
  Extents extents(getQ(), getV());
  enum Slot { Q, K, V, Mask, Y, Lse, Most, Total, Sum };
  const plan::SlotRead q{Q, heads(Row)}, k{K, heads(Key)}, v{V, heads(Key)},
      mask{Mask, maskAccess(getMask(), extents)}, most{Most, sums()},
      total{Total, sums()}, sum{Sum, heads(Row)};
  const plan::SlotWrite y{Y, heads(Row), Reduction::None},
      lse{Lse, sums(), Reduction::None};
  const auto width = static_cast<double>(extents.width),
             values = static_cast<double>(extents.values),
             keys = static_cast<double>(extents.keys);
  // Sums are not as narrow as operands.
  const plan::ElementType type = tensorTypeOf(getLse().getType()).type;
  plan::OpRules rules;
  rules.dims = extents.dims();
  rules.optionalResults = {Lse - Y};
  rules.internals = {
      {extents.sums(), type}, {extents.sums(), type}, {extents.result(), type}};
  rules.schedules = {
      {{Key},
       {{"attention_forward",
         {q, k, v, mask},
         {y, lse},
         2 * (width + values) + 12 + dropFlops(*this)}}},
      {{},
       {{"attention_max",
         {q, k, mask},
         {{Most, sums(), Reduction::Max}},
         2 * width + 2},
        {"attention_sum",
         {q, k, v, mask, most},
         {{Total, sums(), Reduction::Sum}, {Sum, heads(Row), Reduction::Sum}},
         2 * (width + values) + 12 + dropFlops(*this)},
        {"attention_apply",
         {most, total, sum},
         {y, lse},
         (values + 10) / keys}}}};
  return rules;
}

StringRef AttentionOp::getFamily() { return "attention"; }

DictionaryAttr AttentionOp::getKernelArgs() { return attentionArgs(*this); }

LogicalResult AttentionOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(4, nullptr);
  Value dy = resultGrads[0];
  if (!dy)
    return success();
  if (needed[3])
    return emitOpError("has no gradient for its mask");
  auto backward = AttentionBackwardOp::create(
      builder, gradientLoc(*this), getQ().getType(), getK().getType(),
      getV().getType(), getQ(), getK(), getV(), getY(), getLse(), dy, getMask(),
      getHiddenAttr(), getScaleAttr(), getKeyAttr(), getRatioAttr(),
      getCausalAttr());
  for (unsigned i = 0; i < 3; ++i)
    if (needed[i])
      operandGrads[i] = backward->getResult(i);
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

LogicalResult AttentionBackwardOp::verify() {
  if (failed(verifyAttention(*this)))
    return failure();
  for (auto [name, found, like] :
       {std::tuple("dy", Value(getDy()), Value(getY())),
        std::tuple("dq", Value(getDq()), Value(getQ())),
        std::tuple("dk", Value(getDk()), Value(getK())),
        std::tuple("dv", Value(getDv()), Value(getV()))})
    if (failed(verifyShape(*this, name, shapeOf(like), found)))
      return failure();
  if (failed(verifyTypes(*this, {getQ(), getK(), getV(), getDy()})))
    return failure();
  RankedTensorType y = wideType(getY().getType());
  for (unsigned i = 0; i < 3; ++i)
    if (failed(verifyNarrowedType(*this, y.clone(shapeOf(getResult(i))), i)))
      return failure();
  return success();
}

SmallVector<Value> AttentionBackwardOp::getOperandSlots() {
  return {getQ(), getK(), getV(), getY(), getLse(), getDy(), getMask()};
}

SmallVector<OpOperand *> AttentionBackwardOp::getNarrowable() {
  return {&getYMutable()};
}

SmallVector<OpOperand *> AttentionBackwardOp::getMultipliedOperands() {
  return {&getQMutable(), &getKMutable(), &getVMutable(), &getDyMutable()};
}

plan::OpRules AttentionBackwardOp::getRules() {
  Extents extents(getQ(), getV());
  enum Slot { Q, K, V, Y, Lse, Dy, Mask, Dq, Dk, Dv };
  plan::Phase phase;
  phase.kernel = "attention_backward";
  phase.reads = {{Q, heads(Row)},
                 {K, heads(Key)},
                 {V, heads(Key)},
                 {Y, heads(Row)},
                 {Lse, sums()},
                 {Dy, heads(Row)},
                 {Mask, maskAccess(getMask(), extents)}};
  phase.writes = {{Dq, heads(Row), Reduction::Sum},
                  {Dk, heads(Key), Reduction::Sum},
                  {Dv, heads(Key), Reduction::Sum}};
  phase.flopsPerPoint =
      static_cast<double>(6 * extents.width + 4 * extents.values + 16) +
      dropFlops(*this);
  // Partial sums are not as narrow as what is written of them.
  std::vector<int> unsplit;
  if (isNarrow(getDk()) || isNarrow(getDv()))
    unsplit.push_back(Row);
  if (isNarrow(getDq()))
    unsplit.push_back(Key);
  plan::OpRules rules =
      onePhaseRules(extents.dims(), std::move(phase), std::move(unsplit));
  rules.optionalResults = {0, 1, 2};
  return rules;
}

StringRef AttentionBackwardOp::getFamily() { return "attention_backward"; }

DictionaryAttr AttentionBackwardOp::getKernelArgs() {
  return attentionArgs(*this);
}
