//===- Differentiate.cpp - adds loss, gradients and updates ---------------===//

#include "GradientParts.h"
#include "LossOperands.h"
#include "Marking.h"
#include "ParameterUpdates.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/IR/Optimizers.h"
#include "ffc/Passes/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
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

/// The reverse sweep over one function.
class Reverse {
public:
  Reverse(func::FuncOp main, const UpdateSettings &settings)
      : main(main), marking(main.front()),
        builder(OpBuilder::atBlockEnd(&main.front(), &marking)),
        updates(settings, builder, marking) {
    builder.setInsertionPoint(main.front().getTerminator());
    for (Operation &op : main.front())
      if (isa<PartitionableInterface>(op))
        forward.push_back(&op);
  }

  /// Of cross-entropy are `classAxis`, counted from the end if negative, and
  /// the smoothing of labels.
  LogicalResult addLoss(StringRef kind, std::optional<int64_t> classAxis,
                        double smoothing);
  LogicalResult sweep();

private:
  /// Values whose gradient is wanted: they depend on a parameter.
  void findActive();
  void findFirstReaders();
  LogicalResult differentiate(Operation *op);
  /// Erases what led to gradients that are zero, or that nobody wants.
  void eraseUnused();
  /// Sum of the contributions to `value`'s gradient, or null.
  Value gradientOf(Value value);
  /// Updates a parameter, read by `reader` first, if it has a gradient.
  void update(StateOp state, Operation *reader);
  Location named(const Twine &name) {
    return NameLoc::get(builder.getStringAttr(name));
  }

  func::FuncOp main;
  Marking marking;
  OpBuilder builder;
  ParameterUpdates updates;
  SmallVector<Operation *> forward;
  DenseSet<Value> active;
  DenseMap<Value, Operation *> firstReader; ///< in the forward graph
  DenseMap<Value, SmallVector<Value>> contributions;
  /// Of the loss; null: 1.
  Value lossGradient;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

LogicalResult Reverse::addLoss(StringRef kind, std::optional<int64_t> classAxis,
                               double smoothing) {
  FailureOr<LossOperands> operands = lossOperands(main, kind, classAxis);
  if (failed(operands))
    return failure();
  const auto [x, target, axis] = *operands;
  auto type = cast<RankedTensorType>(x.getType());
  marking.role = kLossRole;
  lossGradient = updates.addLossScale(main, type.getElementType());
  auto loss = RankedTensorType::get({}, type.getElementType());
  Operation *lossOp = nullptr;
  if (kind == "cross-entropy") {
    lossOp = CrossEntropyOp::create(builder, named("loss"), loss, x, target,
                                    builder.getI64IntegerAttr(axis),
                                    builder.getF64FloatAttr(smoothing));
  } else if (kind == "mse") {
    lossOp = MseOp::create(builder, named("loss"), loss, x, target);
  } else if (kind == "bce") {
    lossOp = BceOp::create(builder, named("loss"), loss, x, target);
  } else {
    // The model computes its own loss; its gradient starts at 1.
    if (auto own = x.getDefiningOp<CrossEntropyOp>()) {
      own->setAttr(kRoleAttr, builder.getStringAttr(kLossRole));
    } else {
      const std::string name = marking.names.take("loss.gradient");
      auto seed = StateOp::create(
          builder, named(name), type, name, "constant",
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
  }
  forward.push_back(lossOp);
  OutputOp::create(builder, named("loss"), "loss", lossOp->getResult(0));
  return success();
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

void Reverse::findFirstReaders() {
  for (Operation *op : forward)
    for (Value operand : op->getOperands())
      firstReader.try_emplace(operand, op);
}

Value Reverse::gradientOf(Value value) {
  auto it = contributions.find(value);
  if (it == contributions.end())
    return {};
  SmallVector<Value> &parts = it->second;
  // The sum is laid out as the value is: by its producer or first reader.
  Operation *owner = value.getDefiningOp();
  if (!owner || !isa<PartitionableInterface>(owner))
    if (Operation *reader = firstReader.lookup(value))
      owner = reader;
  marking.owner = nameOf(owner).str();
  if (parts.size() > 1) {
    GradientParts joined{builder, owner, parts, marking.stateReaders};
    joined.joinSlices(slotOf(owner, value));
    joined.joinProducts();
    joined.joinSums();
  }
  marking.carry = {slotOf(owner, value), 0};
  // Uses were met from the last to the first; sum in that order.
  Value sum = parts.front();
  for (size_t left = parts.size() - 1; left > 0; --left)
    sum = BinaryOp::create(builder,
                           named(marking.owner + ".gradient_sum" +
                                 (left > 1 ? Twine(left) : Twine())),
                           value.getType(), BinaryKind::Add, sum,
                           parts[parts.size() - left]);
  parts.assign({sum});
  marking.carry.reset();
  return sum;
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
// Sweep
//===----------------------------------------------------------------------===//

void Reverse::update(StateOp state, Operation *reader) {
  if (Value gradient = gradientOf(state.getResult()))
    updates.update(state, gradient, reader);
}

void Reverse::eraseUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front())))
    if (hasRole(&op, kGradientRole) && isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult Reverse::sweep() {
  findActive();
  findFirstReaders();
  marking.role = kGradientRole;
  // A parameter is updated as soon as its first reader, the last one in this
  // direction, has been passed, so that its gradient is not kept longer.
  DenseMap<Operation *, SmallVector<StateOp>> firstRead;
  for (auto state : main.front().getOps<StateOp>())
    if (Operation *op = firstReader.lookup(state.getResult());
        op && state.getKind() == "parameter")
      firstRead[op].push_back(state);
  for (Operation *op : llvm::reverse(forward)) {
    if (failed(differentiate(op)))
      return failure();
    for (StateOp state : firstRead.lookup(op))
      update(state, op);
  }
  updates.finish(forward.back());
  eraseUnused();
  if (updates.empty())
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
    Reverse reverse(
        main,
        {*chosen, clipNorm, ema, {lossScale, fixedLossScale}, rowUpdates});
    std::optional<int64_t> axis;
    if (classAxis != std::numeric_limits<int64_t>::min())
      axis = classAxis;
    if (failed(reverse.addLoss(loss, axis, labelSmoothing)) ||
        failed(reverse.sweep()))
      signalPassFailure();
    if (microBatches > 1)
      main->setAttr(kMicroBatchesAttr,
                    Builder(&getContext()).getI64IntegerAttr(microBatches));
  }
};
} // namespace
