//===- Differentiate.cpp - adds loss, gradients and updates ---------------===//

#include "GradientParts.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/IR/Optimizers.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

namespace {

/// Marks every operator made while it is alive with its role and owner.
class Marking : public OpBuilder::Listener {
public:
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    OpBuilder builder(op->getContext());
    op->setAttr(kRoleAttr, builder.getStringAttr(role));
    if (!owner.empty())
      op->setAttr(kOwnerAttr, builder.getStringAttr(owner));
    if (carry)
      op->setAttr(kCarryAttr,
                  builder.getDenseI64ArrayAttr({carry->first, carry->second}));
  }

  StringRef role = kGradientRole;
  std::string owner;
  std::optional<std::pair<int64_t, int64_t>> carry;
};

/// What the gradient of the loss is, where that is not 1.
struct LossScale {
  double first = 0; ///< in the first step; 0: the gradient is 1
  bool isFixed = false;
};

/// The reverse sweep over one function.
class Reverse {
public:
  /// `clipNorm` bounds the norm of all gradients together; 0: nothing does.
  Reverse(func::FuncOp main, const Optimizer &optimizer, double clipNorm,
          LossScale lossScale, bool rowUpdates)
      : main(main), optimizer(optimizer), clipNorm(clipNorm),
        lossScale(lossScale), rowUpdates(rowUpdates),
        builder(OpBuilder::atBlockEnd(&main.front(), &marking)) {
    builder.setInsertionPoint(main.front().getTerminator());
    for (Operation &op : main.front())
      if (isa<PartitionableInterface>(op))
        forward.push_back(&op);
  }

  /// `classAxis` is that of cross-entropy, counted from the end if negative.
  LogicalResult addLoss(StringRef kind, std::optional<int64_t> classAxis);
  LogicalResult sweep();

private:
  /// Values whose gradient is wanted: they depend on a parameter.
  void findActive();
  /// Makes the gradient of the loss a state of this element type.
  void addLossScale(Type element);
  LogicalResult differentiate(Operation *op);
  /// Sum of the contributions to `value`'s gradient, or null.
  Value gradientOf(Value value);
  /// Adds the update of a parameter that has a gradient, or notes it for after
  /// the sweep.
  void update(StateOp state);
  /// What gradients are multiplied by, which depends on all of them.
  Value updateScale();
  /// The updates that were noted.
  void updateNoted();
  /// What is built next belongs to `state`: it is laid out as that is where
  /// `reader` reads it.
  void markUpdate(StateOp state, Operation *reader);
  /// The operator that makes the whole gradient of `state`, if it can update
  /// rows instead and that is wanted; else null.
  RowGradientInterface rowGradientOf(StateOp state);
  void updateWhole(StateOp state, Value gradient, Value scale);
  void updateRows(StateOp state, RowGradientInterface rows, Value scale);
  /// What the optimizer keeps of a parameter.
  SmallVector<Value> createSlots(StateOp state);
  /// Keeps an updated parameter and, after it, its slots.
  void storeUpdated(StateOp state, ValueRange updated);
  Location named(const Twine &name) {
    return NameLoc::get(builder.getStringAttr(name));
  }
  /// Slot of `value` among the operands, then results, of `op`.
  static int64_t slotOf(Operation *op, Value value);

  func::FuncOp main;
  const Optimizer &optimizer;
  const double clipNorm;
  const LossScale lossScale;
  const bool rowUpdates;
  Marking marking;
  OpBuilder builder;
  SmallVector<Operation *> forward;
  DenseSet<Value> active;
  DenseMap<Value, SmallVector<Value>> contributions;
  int updates = 0;
  /// Of the loss; null: 1.
  Value lossGradient;
  /// That, and the numbers of steps that are kept with it.
  SmallVector<StateOp, 3> scaleStates;

  /// A parameter that is updated when all gradients are there.
  struct Noted {
    StateOp state;
    Value gradient;
    RowGradientInterface rows; ///< that it is updated in instead
    Operation *reader;
  };
  SmallVector<Noted> noted;
};

} // namespace

int64_t Reverse::slotOf(Operation *op, Value value) {
  auto operands = cast<PartitionableInterface>(op).getOperandSlots();
  if (auto it = llvm::find(operands, value); it != operands.end())
    return it - operands.begin();
  return operands.size() + cast<OpResult>(value).getResultNumber();
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

/// The value under a trailing operator that the loss contains already.
static Value lookThrough(Value answer, StringRef loss) {
  Operation *op = answer.getDefiningOp();
  if (auto softmax = dyn_cast_or_null<SoftmaxOp>(op))
    if (loss == "cross-entropy")
      return softmax.getX();
  if (auto unary = dyn_cast_or_null<UnaryOp>(op))
    if (loss == "bce" && unary.getKind() == UnaryKind::Sigmoid)
      return unary.getX();
  return answer;
}

/// The class axis of logits: the softmax's if there is one with a single axis
/// of more than one class; else, of sequences [samples, positions, classes] and
/// of rank 2, the last dimension, and dimension 1 of anything else.
static int64_t classAxis(Value answer) {
  auto type = cast<RankedTensorType>(answer.getType());
  if (auto softmax = answer.getDefiningOp<SoftmaxOp>()) {
    SmallVector<int64_t> wide;
    for (int64_t axis : softmax.getAxes())
      if (type.getDimSize(axis) > 1)
        wide.push_back(axis);
    if (wide.size() == 1)
      return wide.front();
  }
  return type.getRank() == 3 ? 2 : 1;
}

LogicalResult Reverse::addLoss(StringRef kind,
                               std::optional<int64_t> givenAxis) {
  OutputOp answer;
  main.walk([&](OutputOp output) {
    if (!answer)
      answer = output;
  });
  if (!answer)
    return main.emitError("the model has no output to train on");
  Value x = lookThrough(answer.getValue(), kind);
  auto type = cast<RankedTensorType>(x.getType());

  marking.role = kLossRole;
  if (lossScale.first != 0)
    addLossScale(type.getElementType());
  auto loss = RankedTensorType::get({}, type.getElementType());
  auto addTarget = [&](RankedTensorType targetType) {
    (void)main.insertArgument(main.getNumArguments(), targetType,
                              builder.getDictionaryAttr(builder.getNamedAttr(
                                  kNameAttr, builder.getStringAttr("target"))),
                              named("target"));
    return main.getArgument(main.getNumArguments() - 1);
  };
  Operation *lossOp = nullptr;
  if (kind == "cross-entropy") {
    int64_t axis = givenAxis ? *givenAxis : classAxis(answer.getValue());
    if (givenAxis && axis < 0)
      axis += type.getRank();
    if (givenAxis && (axis < 0 || axis >= type.getRank()))
      return main.emitError("expected a class axis of ")
             << answer.getValue().getType() << ", found " << *givenAxis;
    if (axis >= type.getRank())
      return main.emitError("cross-entropy needs logits with a class axis, "
                            "expected a model output of rank 2 or more, found ")
             << answer.getValue().getType();
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    Value target =
        addTarget(RankedTensorType::get(shape, builder.getI32Type()));
    lossOp =
        CrossEntropyOp::create(builder, named("loss"), loss, x, target, axis);
  } else if (kind == "mse") {
    lossOp = MseOp::create(builder, named("loss"), loss, x, addTarget(type));
  } else if (kind == "bce") {
    lossOp = BceOp::create(builder, named("loss"), loss, x, addTarget(type));
  } else if (kind == "none") {
    // The model computes its own loss; its gradient starts at 1.
    if (type.getNumElements() != 1)
      return main.emitError("--loss=none takes the model's first output as the "
                            "loss, expected one element, found ")
             << type;
    if (auto own = x.getDefiningOp<CrossEntropyOp>()) {
      own->setAttr(kRoleAttr, builder.getStringAttr(kLossRole));
    } else {
      auto seed = StateOp::create(
          builder, named("loss.gradient"), type, "loss.gradient", "constant",
          InitAttr::get(builder.getContext(), InitKind::Constant, 1.0, 0));
      contributions[x].push_back(seed);
      if (lossGradient) {
        marking.role = kGradientRole;
        marking.owner = nameOf(x.getDefiningOp()).str();
        contributions[x].back() =
            BinaryOp::create(builder, named("loss.gradient_scaled"), type,
                             BinaryKind::Mul, seed, lossGradient);
      }
    }
    OutputOp::create(builder, named("loss"), "loss", x);
    return success();
  } else {
    return main.emitError("unknown loss '")
           << kind << "', expected cross-entropy, mse, bce or none";
  }
  forward.push_back(lossOp);
  OutputOp::create(builder, named("loss"), "loss", lossOp->getResult(0));
  return success();
}

void Reverse::addLossScale(Type element) {
  auto type = RankedTensorType::get({}, element);
  OpBuilder top = OpBuilder::atBlockBegin(&main.front());
  for (auto [name, first] : {std::pair("loss.scale", lossScale.first),
                             std::pair("loss.good_steps", 0.0),
                             std::pair("loss.skipped_steps", 0.0)})
    scaleStates.push_back(StateOp::create(
        top, named(name), type, name, "slot",
        InitAttr::get(top.getContext(), InitKind::Constant, first, 0)));
  lossGradient = scaleStates.front();
  OutputOp::create(builder, named("loss_scale"), "loss_scale", lossGradient);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

void Reverse::findActive() {
  for (auto state : main.front().getOps<StateOp>())
    if (state.getKind() == "parameter")
      active.insert(state.getResult());
  for (Operation *op : forward)
    if (llvm::any_of(op->getOperands(),
                     [&](Value v) { return active.contains(v); }))
      for (Value result : op->getResults())
        // Indices and conditions have no gradient.
        if (isa<FloatType>(getElementTypeOrSelf(result)))
          active.insert(result);
}

Value Reverse::gradientOf(Value value) {
  auto it = contributions.find(value);
  if (it == contributions.end())
    return {};
  SmallVector<Value> &parts = it->second;
  // The sum is laid out as the value is: by its producer or first reader.
  Operation *owner = value.getDefiningOp();
  if (!owner || !isa<PartitionableInterface>(owner))
    for (Operation *user : forward)
      if (llvm::is_contained(user->getOperands(), value)) {
        owner = user;
        break;
      }
  marking.owner = nameOf(owner).str();
  if (parts.size() > 1) {
    GradientParts joined{builder, owner, parts};
    joined.joinSlices(slotOf(owner, value));
    joined.joinProducts();
    joined.joinSums();
  }
  marking.carry = {slotOf(owner, value), 0};
  while (parts.size() > 1) {
    // Uses were met from the last to the first; sum in that order.
    parts[1] = BinaryOp::create(
        builder,
        named(marking.owner + ".gradient_sum" +
              (parts.size() > 2 ? Twine(parts.size() - 1) : Twine())),
        value.getType(), BinaryKind::Add, parts[0], parts[1]);
    parts.erase(parts.begin());
  }
  marking.carry.reset();
  return parts.front();
}

LogicalResult Reverse::differentiate(Operation *op) {
  bool isLoss = hasRole(op, kLossRole);
  SmallVector<Value> resultGrads;
  for (Value result : op->getResults())
    resultGrads.push_back(isLoss ? lossGradient : gradientOf(result));
  if (!isLoss && llvm::none_of(resultGrads, [](Value v) { return bool(v); }))
    return success();

  SmallVector<Value> operands =
      cast<PartitionableInterface>(op).getOperandSlots();
  SmallVector<bool> needed;
  for (Value operand : operands)
    needed.push_back(operand && active.contains(operand));
  if (llvm::none_of(needed, [](bool b) { return b; }))
    return success();

  auto differentiable = dyn_cast<DifferentiableInterface>(op);
  if (!differentiable)
    return op->emitError("'")
           << nameOf(op) << "' (" << op->getName() << ") has no gradient";
  marking.owner = nameOf(op).str();
  SmallVector<Value> operandGrads;
  if (failed(differentiable.buildGradient(builder, resultGrads, needed,
                                          operandGrads)))
    return op->emitError("'") << nameOf(op) << "': cannot build the gradient";
  for (auto [operand, grad] : llvm::zip_equal(operands, operandGrads))
    if (grad && operand && active.contains(operand))
      contributions[operand].push_back(grad);
  return success();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

RowGradientInterface Reverse::rowGradientOf(StateOp state) {
  const SmallVector<Value> &parts = contributions[state.getResult()];
  // The norm of all gradients is that of sums of rows.
  if (!rowUpdates || clipNorm > 0 || !optimizer.updatesRows() ||
      parts.size() != 1)
    return {};
  return dyn_cast_or_null<RowGradientInterface>(parts.front().getDefiningOp());
}

SmallVector<Value> Reverse::createSlots(StateOp state) {
  SmallVector<Value> kept;
  OpBuilder top(state);
  top.setInsertionPointAfter(state);
  for (const char *slot : optimizer.slots()) {
    std::string name = (state.getName() + "/" + slot).str();
    kept.push_back(StateOp::create(
        top, named(name), state.getType(), name, "slot",
        InitAttr::get(top.getContext(), InitKind::Constant, 0.0, 0)));
  }
  return kept;
}

void Reverse::storeUpdated(StateOp state, ValueRange updated) {
  std::string name = state.getName().str();
  StoreOp::create(builder, named(name), name, updated.front());
  for (auto [slot, value] :
       llvm::zip_equal(optimizer.slots(), updated.drop_front()))
    StoreOp::create(builder, named(name + "/" + slot), name + "/" + slot,
                    value);
}

void Reverse::updateWhole(StateOp state, Value gradient, Value scale) {
  std::string name = state.getName().str();
  SmallVector<Value> slots = createSlots(state);
  OutputOp::create(builder, named(name), "grad/" + name, gradient);
  auto update = UpdateOp::create(
      builder, named(name + ".update"), state.getType(),
      SmallVector<Type>(slots.size(), state.getType()), optimizer.kind,
      state.getResult(), gradient, slots, scale, optimizer.hyper);
  storeUpdated(state, update->getResults());
}

void Reverse::updateRows(StateOp state, RowGradientInterface rows,
                         Value scale) {
  storeUpdated(state,
               rows.buildRowUpdate(builder, named(state.getName() + ".update"),
                                   optimizer, state.getResult(),
                                   createSlots(state), scale));
  rows->erase();
}

void Reverse::markUpdate(StateOp state, Operation *reader) {
  marking.role = kUpdateRole;
  marking.owner = nameOf(reader).str();
  marking.carry = {slotOf(reader, state.getResult()), 0};
}

void Reverse::update(StateOp state) {
  Value gradient = gradientOf(state.getResult());
  if (!gradient)
    return;
  ++updates;
  Operation *reader = nullptr;
  for (Operation *op : forward)
    if (llvm::is_contained(op->getOperands(), state.getResult())) {
      reader = op;
      break;
    }
  RowGradientInterface rows = rowGradientOf(state);
  if (clipNorm > 0 || lossGradient) {
    noted.push_back({state, gradient, rows, reader});
    return;
  }
  markUpdate(state, reader);
  if (rows)
    updateRows(state, rows, /*scale=*/{});
  else
    updateWhole(state, gradient, /*scale=*/{});
  marking.role = kGradientRole;
  marking.carry.reset();
}

Value Reverse::updateScale() {
  SmallVector<Value> sums;
  for (Noted &one : noted) {
    markUpdate(one.state, one.reader);
    Value gradient = one.gradient;
    // Of rows, these are enough: squares overflow before sums of rows do.
    if (one.rows) {
      gradient = one.rows.getRowGradients();
      marking.carry.reset();
      for (Value looked : one.reader->getResults())
        if (looked.getType() == gradient.getType())
          marking.carry = {slotOf(one.reader, looked), 0};
    }
    auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(gradient));
    sums.push_back(SquareSumOp::create(
        builder, named(one.state.getName() + ".square_sum"), scalar, gradient));
  }
  // One number, which every device that had the loss computes.
  marking.owner = nameOf(forward.back()).str();
  marking.carry.reset();
  auto scalar = cast<RankedTensorType>(sums.front().getType());
  if (!lossGradient)
    return ClipScaleOp::create(builder, named("clip_scale"), scalar, sums,
                               builder.getF64FloatAttr(clipNorm));
  // As other frameworks have it (Micikevicius et al., ICLR 2018).
  constexpr int64_t kInterval = 2000;
  constexpr double kLeast = 1, kMost = 1 << 24;
  auto decided = LossScaleOp::create(
      builder, named("loss_scale"),
      RankedTensorType::get({2}, scalar.getElementType()), scalar, scalar,
      scalar, scaleStates[0], scaleStates[1], scaleStates[2], sums, kInterval,
      llvm::APFloat(lossScale.isFixed ? lossScale.first : kLeast),
      llvm::APFloat(clipNorm),
      llvm::APFloat(lossScale.isFixed ? lossScale.first : kMost));
  for (auto [state, value] :
       llvm::zip_equal(scaleStates, decided->getResults().drop_front()))
    StoreOp::create(builder, named(state.getName()), state.getName(), value);
  return decided.getFactor();
}

void Reverse::updateNoted() {
  if (noted.empty())
    return;
  Value scale = updateScale();
  for (Noted &one : noted) {
    markUpdate(one.state, one.reader);
    if (one.rows)
      updateRows(one.state, one.rows, scale);
    else
      updateWhole(one.state, one.gradient, scale);
  }
}

LogicalResult Reverse::sweep() {
  findActive();
  marking.role = kGradientRole;
  // A parameter is updated as soon as its first reader, the last one in this
  // direction, has been passed, so that its gradient is not kept longer.
  llvm::MapVector<Operation *, SmallVector<StateOp>> firstReader;
  for (auto state : main.front().getOps<StateOp>())
    for (Operation *op : forward)
      if (state.getKind() == "parameter" &&
          llvm::is_contained(op->getOperands(), state.getResult())) {
        firstReader[op].push_back(state);
        break;
      }
  for (Operation *op : llvm::reverse(forward)) {
    if (failed(differentiate(op)))
      return failure();
    for (StateOp state : firstReader.lookup(op))
      update(state);
  }
  updateNoted();
  if (updates == 0)
    return main.emitError("nothing to train: the loss depends on no parameter; "
                          "--mode=infer compiles the forward graph alone");
  return success();
}

namespace {
struct Differentiate : ffc::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    llvm::Expected<Optimizer> chosen = Optimizer::parse(optimizer);
    if (!chosen) {
      main.emitError("optimizer: ") << llvm::toString(chosen.takeError());
      return signalPassFailure();
    }
    Reverse reverse(main, *chosen, clipNorm, {lossScale, fixedLossScale},
                    rowUpdates);
    std::optional<int64_t> axis;
    if (classAxis != std::numeric_limits<int64_t>::min())
      axis = classAxis;
    if (failed(reverse.addLoss(loss, axis)) || failed(reverse.sweep()))
      signalPassFailure();
  }
};
} // namespace
