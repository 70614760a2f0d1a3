//===- RecurrentOp.cpp - ff.recurrent and its gradient --------------------===//

#include "RuleHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimKind;
using plan::DimMap;

namespace {
/// Iteration dimensions.
enum { Step, Sample, Unit };

/// What follows from the kind of cell.
struct Cell {
  StringRef family;
  int64_t gates;
  /// Vectors per step that the gradient needs.
  int64_t saved;
  bool isLstm = false, isGru = false, isRnn = false;
};
} // namespace

static Cell cellOf(RecurrentKind kind) {
  switch (kind) {
  case RecurrentKind::Lstm:
    return {"lstm", 4, 5, true, false, false};
  case RecurrentKind::Gru:
    return {"gru", 3, 3, false, true, false};
  case RecurrentKind::GruResetAfter:
    return {"gru", 3, 4, false, true, false};
  case RecurrentKind::RnnTanh:
  case RecurrentKind::RnnRelu:
    return {"rnn", 1, 1, false, false, true};
  }
  llvm_unreachable("unknown cell");
}

//===----------------------------------------------------------------------===//
// What both operators have in common
//===----------------------------------------------------------------------===//

namespace {
struct Extents {
  int64_t steps, samples, units;

  plan::Shape sequence(int64_t vectors = 1) const {
    return {steps, samples, vectors * units};
  }
  plan::Shape state() const { return {samples, units}; }
};
} // namespace

/// `shape` without the leading dimension of one that may number directions.
static plan::Shape withoutDirection(plan::Shape shape, size_t rank) {
  if (shape.size() == rank + 1 && shape.front() == 1)
    shape.erase(shape.begin());
  return shape;
}

/// From r and saved.
static FailureOr<Extents> extentsOf(Operation *op, const Cell &cell, Value r,
                                    Value saved) {
  plan::Shape weight = withoutDirection(shapeOf(r), 2);
  plan::Shape sequence = shapeOf(saved);
  if (weight.size() != 2 || weight[0] != cell.gates * weight[1]) // constraint 1
    return op->emitOpError("expected r of ")
           << cell.gates << " * H rows and H columns, found " << r.getType();
  if (sequence.size() != 3) // constraint 4
    return op->emitOpError("expected saved of rank 3, found ")
           << saved.getType();
  return Extents{sequence[0], sequence[1], weight[1]};
}

/// Fails unless `value` is absent or has `shape`.
static LogicalResult verifyOptional(Operation *op, StringRef name,
                                    const plan::Shape &shape, Value value) {
  return value ? verifyShape(op, name, shape, value) : success();
}

static LogicalResult verifyPresence(Operation *op, StringRef name, Value value,
                                    bool expected, RecurrentKind kind) {
  if ((value != nullptr) == expected)
    return success();
  return op->emitOpError("expected ")
         << name << (expected ? " for " : " to be absent for ")
         << stringifyRecurrentKind(kind) << (expected ? ", found none" : "");
}

static std::vector<plan::IterDim> dimsOf(const Extents &extents) {
  return {{"t", extents.steps, DimKind::Attribute},
          {"n", extents.samples, DimKind::Sample},
          {"c", extents.units, DimKind::Parameter}};
}

/// Accesses to [T, N, vectors * H] and [N, H].
static plan::Access sequenceAccess(bool isOneVector) {
  return {{DimMap::dim(Step), DimMap::dim(Sample),
           isOneVector ? DimMap::dim(Unit) : DimMap::full()},
          plan::MemoryOrder::RowMajor,
          {}};
}
static plan::Access stateAccess() {
  return {{DimMap::dim(Sample), DimMap::dim(Unit)},
          plan::MemoryOrder::RowMajor,
          {}};
}
static plan::Access wholeAccess(size_t rank) {
  return {std::vector<DimMap>(rank), plan::MemoryOrder::RowMajor, {}};
}

/// Of one product with r, and the functions of the gates.
static double flopsPerPoint(const Cell &cell, const Extents &extents) {
  return static_cast<double>(2 * cell.gates * extents.units) +
         12.0 * static_cast<double>(cell.gates);
}

static DictionaryAttr recurrentArgs(MLIRContext *context, RecurrentKind kind,
                                    IntegerAttr reverse) {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(
           "kind", builder.getStringAttr(stringifyRecurrentKind(kind))),
       builder.getNamedAttr("reverse", reverse)});
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

LogicalResult RecurrentOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  Cell cell = cellOf(getKind());
  auto extents = extentsOf(*this, cell, getR(), getSaved());
  // Constraint 1.
  if (failed(extents) ||
      failed(verifyShape(*this, "x", extents->sequence(cell.gates), getX())))
    return failure();
  // Constraint 2.
  if (getBias() && getKind() != RecurrentKind::GruResetAfter)
    return verifyPresence(*this, "bias", getBias(), false, getKind());
  if (Value bias = getBias();
      bias && withoutDirection(shapeOf(bias), 1) !=
                  plan::Shape{cell.gates * extents->units})
    return emitOpError("expected bias of shape [")
           << cell.gates * extents->units << "], found " << bias.getType();
  // Constraint 3.
  if ((getC0() &&
       failed(verifyPresence(*this, "c0", getC0(), cell.isLstm, getKind()))) ||
      failed(verifyPresence(*this, "c", getC(), cell.isLstm, getKind())))
    return failure();
  for (auto [name, value] : {std::pair("h0", getH0()), std::pair("c0", getC0()),
                             std::pair("h", getH()), std::pair("c", getC())})
    if (failed(verifyOptional(*this, name, extents->state(), value)))
      return failure();
  // Constraint 4.
  if (failed(verifyShape(*this, "y", extents->sequence(), getY())))
    return failure();
  return verifyShape(*this, "saved", extents->sequence(cell.saved), getSaved());
}

SmallVector<Value> RecurrentOp::getOperandSlots() {
  return {getX(), getR(), getBias(), getH0(), getC0()};
}
SmallVector<Value> RecurrentOp::getResultSlots() {
  return {getY(), getH(), getC(), getSaved()};
}

namespace {
/// Slots of ff.recurrent.
enum ForwardSlot { X, R, Bias, H0, C0, Y, H, C, Saved };
} // namespace

plan::OpRules RecurrentOp::getRules() {
  Cell cell = cellOf(getKind());
  plan::Shape y = shapeOf(getY());
  Extents extents{y[0], y[1], y[2]};
  plan::Phase phase;
  phase.kernel = "recurrent_forward";
  phase.reads = {{X, sequenceAccess(cell.gates == 1)},
                 {R, wholeAccess(shapeOf(getR()).size())},
                 {Bias, wholeAccess(getBias() ? shapeOf(getBias()).size() : 1)},
                 {H0, stateAccess()},
                 {C0, stateAccess()}};
  phase.writes = {
      {Y, sequenceAccess(true), plan::Reduction::None},
      {H, stateAccess(), plan::Reduction::None},
      {C, stateAccess(), plan::Reduction::None},
      {Saved, sequenceAccess(cell.saved == 1), plan::Reduction::None}};
  phase.flopsPerPoint = flopsPerPoint(cell, extents);
  phase.parts = extents.steps;
  plan::OpRules rules =
      onePhaseRules(dimsOf(extents), std::move(phase), {Step, Unit});
  rules.optionalResults = {0, 1, 2, 3};
  return rules;
}

StringRef RecurrentOp::getFamily() { return cellOf(getKind()).family; }

DictionaryAttr RecurrentOp::getKernelArgs() {
  return recurrentArgs(getContext(), getKind(), getReverseAttr());
}

namespace {
/// Builds the gradients of the weights from those of the gates. Operators that
/// work on sequences or states take the configuration of the forward operator
/// through a tensor of its own, since their dimensions are named by position.
struct WeightGradients {
  RecurrentOp op;
  OpBuilder &builder;
  plan::Shape sequence;

  WeightGradients(RecurrentOp op, OpBuilder &builder)
      : op(op), builder(builder), sequence(shapeOf(op.getY())) {}

  RankedTensorType typeOf(const plan::Shape &shape) {
    return RankedTensorType::get(
        shape, cast<RankedTensorType>(op.getY().getType()).getElementType());
  }
  template <class Op, class... Args>
  Value make(StringRef part, const plan::Shape &shape, ForwardSlot slot,
             int ownSlot, Args &&...args) {
    auto made = Op::create(builder, gradientLoc(op, part), typeOf(shape),
                           std::forward<Args>(args)...);
    carryThrough(made, slot, ownSlot);
    return made->getResult(0);
  }
  /// `count` of the vectors of `x`, from number `first` on.
  Value vectors(StringRef part, ForwardSlot slot, Value x, int64_t first,
                int64_t count) {
    plan::Shape shape = sequence;
    shape[2] *= count;
    return make<SliceOp>(
        part, shape, slot, 0, x,
        builder.getDenseI64ArrayAttr({0, 0, first * sequence[2]}));
  }
  /// The states before the steps, or null if they are all zero.
  Value previous();
  /// sum over steps and samples of gates^T states.
  Value product(StringRef part, Value gates, Value states);
  Value recurrent(Value dr);
  Value bias(Value dr);
};
} // namespace

Value WeightGradients::previous() {
  int64_t steps = sequence[0];
  bool reverse = op.getReverse() != 0;
  Value h0 = op.getH0();
  if (!h0) {
    if (steps == 1)
      return {};
    int64_t shift = reverse ? -1 : 1;
    return make<PadOp>(
        "previous", sequence, Y, 0, op.getY(),
        builder.getDenseI64ArrayAttr({shift, 0, 0, -shift, 0, 0}),
        builder.getF64FloatAttr(0));
  }
  plan::Shape shape = sequence;
  shape[0] = 1;
  Value first = make<ReshapeOp>("first", shape, H0, 0, h0);
  if (steps == 1)
    return first;
  shape[0] = steps - 1;
  Value others =
      make<SliceOp>("others", shape, Y, 0, op.getY(),
                    builder.getDenseI64ArrayAttr({reverse ? 1 : 0, 0, 0}));
  SmallVector<Value> parts = {first, others};
  if (reverse)
    std::swap(parts[0], parts[1]);
  return make<ConcatOp>("previous", sequence, Y, 2, parts,
                        builder.getI64IntegerAttr(0));
}

Value WeightGradients::product(StringRef part, Value gates, Value states) {
  plan::Shape shape = shapeOf(op.getR());
  shape[shape.size() - 2] = shapeOf(gates)[2];
  FloatAttr one = builder.getF64FloatAttr(1);
  return MatMulOp::create(
      builder, gradientLoc(op, part), typeOf(shape), gates, states, Value(),
      one, one, builder.getStrArrayAttr({"t", "c", "k", "n"}),
      builder.getI64IntegerAttr(1), builder.getI64IntegerAttr(0));
}

Value WeightGradients::recurrent(Value dr) {
  Value states = previous();
  if (!states)
    return {};
  if (op.getKind() != RecurrentKind::Gru)
    return product("r", dr, states);
  // The last gate saw the states after they were reset.
  Value reset = vectors("reset", Saved, op.getSaved(), 1, 1);
  Value seen =
      make<BinaryOp>("seen", sequence, Y, 2, BinaryKind::Mul, reset, states);
  SmallVector<Value> parts = {
      product("r.gates", vectors("gates", X, dr, 0, 2), states),
      product("r.update", vectors("update", X, dr, 2, 1), seen)};
  plan::Shape shape = shapeOf(op.getR());
  return make<ConcatOp>(
      "r", shape, R, 2, parts,
      builder.getI64IntegerAttr(static_cast<int64_t>(shape.size()) - 2));
}

Value WeightGradients::bias(Value dr) {
  Value sum = make<ReduceSumOp>("bias.sum", {shapeOf(dr)[2]}, X, 0, dr,
                                builder.getDenseI64ArrayAttr({0, 1}),
                                builder.getI64IntegerAttr(0));
  if (sum.getType() == op.getBias().getType())
    return sum;
  return make<ReshapeOp>("bias", shapeOf(op.getBias()), Bias, 1, sum);
}

LogicalResult RecurrentOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(5, nullptr);
  Value dy = resultGrads[0], dh = resultGrads[1];
  Value dc = getC() ? resultGrads[2] : Value();
  if (!dy && !dh && !dc)
    return success();
  Cell cell = cellOf(getKind());
  Type state = getH().getType();
  Value saved = cell.isRnn ? Value(getY()) : Value(getSaved());
  auto backward = RecurrentBackwardOp::create(
      builder, gradientLoc(*this), getX().getType(), state,
      cell.isLstm ? state : Type(), getX().getType(), getKind(), getR(), saved,
      dy, dh, dc, cell.isGru ? Value(getY()) : Value(),
      cell.isGru ? Value(getH0()) : Value(), getC0(), getReverse());
  if (needed[X])
    operandGrads[X] = backward.getDx();
  if (getH0() && needed[H0])
    operandGrads[H0] = backward.getDh0();
  if (getC0() && needed[C0])
    operandGrads[C0] = backward.getDc0();
  WeightGradients weights(*this, builder);
  Value dr = getKind() == RecurrentKind::GruResetAfter ? backward.getDr()
                                                       : backward.getDx();
  if (needed[R])
    operandGrads[R] = weights.recurrent(dr);
  if (getBias() && needed[Bias])
    operandGrads[Bias] = weights.bias(dr);
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

LogicalResult RecurrentBackwardOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  Cell cell = cellOf(getKind());
  auto extents = extentsOf(*this, cell, getR(), getSaved());
  if (failed(extents))
    return failure();
  // Constraints 5 and 6.
  if (!getDy() && !getDh() && !getDc())
    return emitOpError("expected one of dy, dh and dc at least, found none");
  if ((getDc() &&
       failed(verifyPresence(*this, "dc", getDc(), cell.isLstm, getKind()))) ||
      failed(verifyPresence(*this, "y", getY(), cell.isGru, getKind())) ||
      (getH0() &&
       failed(verifyPresence(*this, "h0", getH0(), cell.isGru, getKind()))))
    return failure();
  // Constraint 3.
  if ((getC0() &&
       failed(verifyPresence(*this, "c0", getC0(), cell.isLstm, getKind()))) ||
      failed(verifyPresence(*this, "dc0", getDc0(), cell.isLstm, getKind())))
    return failure();
  for (auto [name, value] :
       {std::pair("dh", getDh()), std::pair("dc", getDc()),
        std::pair("h0", getH0()), std::pair("c0", getC0()),
        std::pair("dh0", getDh0()), std::pair("dc0", getDc0())})
    if (failed(verifyOptional(*this, name, extents->state(), value)))
      return failure();
  // Constraints 1 and 4.
  for (auto [name, value, vectors] :
       {std::tuple("saved", Value(getSaved()), cell.saved),
        std::tuple("dy", Value(getDy()), int64_t(1)),
        std::tuple("y", Value(getY()), int64_t(1)),
        std::tuple("dx", Value(getDx()), cell.gates),
        std::tuple("dr", Value(getDr()), cell.gates)})
    if (failed(verifyOptional(*this, name, extents->sequence(vectors), value)))
      return failure();
  return success();
}

SmallVector<Value> RecurrentBackwardOp::getOperandSlots() {
  return {getR(),  getSaved(), getDy(), getDh(),
          getDc(), getY(),     getH0(), getC0()};
}
SmallVector<Value> RecurrentBackwardOp::getResultSlots() {
  return {getDx(), getDh0(), getDc0(), getDr()};
}

plan::OpRules RecurrentBackwardOp::getRules() {
  Cell cell = cellOf(getKind());
  plan::Shape saved = shapeOf(getSaved());
  Extents extents{saved[0], saved[1], shapeOf(getR()).back()};
  plan::Phase phase;
  phase.kernel = "recurrent_backward";
  phase.reads = {{0, wholeAccess(shapeOf(getR()).size())},
                 {1, sequenceAccess(cell.saved == 1)},
                 {2, sequenceAccess(true)},
                 {3, stateAccess()},
                 {4, stateAccess()},
                 {5, sequenceAccess(true)},
                 {6, stateAccess()},
                 {7, stateAccess()}};
  plan::Access gates = sequenceAccess(cell.gates == 1);
  phase.writes = {{8, gates, plan::Reduction::None},
                  {9, stateAccess(), plan::Reduction::None},
                  {10, stateAccess(), plan::Reduction::None},
                  {11, gates, plan::Reduction::None}};
  phase.flopsPerPoint = flopsPerPoint(cell, extents);
  phase.parts = extents.steps;
  plan::OpRules rules =
      onePhaseRules(dimsOf(extents), std::move(phase), {Step, Unit});
  rules.optionalResults = {0, 1, 2, 3};
  return rules;
}

StringRef RecurrentBackwardOp::getFamily() {
  return getKind() == RecurrentKind::Lstm ? "lstm_backward"
         : cellOf(getKind()).isGru        ? "gru_backward"
                                          : "rnn_backward";
}

DictionaryAttr RecurrentBackwardOp::getKernelArgs() {
  return recurrentArgs(getContext(), getKind(), getReverseAttr());
}
