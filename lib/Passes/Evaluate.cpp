//===- Evaluate.cpp - makes an evaluation of a graph that is trained ------===//

#include "LossOperands.h"
#include "UniqueNames.h"

#include "ffc/IR/BatchNorm.h"
#include "ffc/IR/MainFunction.h"
#include "ffc/IR/ShapeInference.h"
#include "ffc/Passes/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_EVALUATE
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// How many of the likeliest classes are found.
static constexpr int64_t kTop = 5;

namespace {
class Evaluation {
public:
  explicit Evaluation(func::FuncOp main)
      : main(main), names(main.front()), builder(main.getContext()) {}

  void takeRunningStatistics();
  void dropNothing();
  LogicalResult addRows(StringRef loss, std::optional<int64_t> classAxis);
  void eraseUnused();

private:
  /// Of logits and class numbers.
  void addClassRows(Value logits, Value target, int64_t axis);
  void addOutput(StringRef name, Value value) {
    OutputOp::create(builder, named(name), name, value);
  }
  Location named(const Twine &name) {
    return NameLoc::get(builder.getStringAttr(names.take(name)));
  }

  func::FuncOp main;
  UniqueNames names;
  OpBuilder builder;
};

/// The result of a normalisation that the new running statistic is made of, or
/// null.
Value batchStatisticOf(Value updated) {
  Operation *op = updated.getDefiningOp();
  if (!op)
    return {};
  if (isa<NormalizeOp>(op))
    return updated;
  if (!hasRole(op, kUpdateRole))
    return {};
  for (Value operand : op->getOperands())
    if (Value found = batchStatisticOf(operand))
      return found;
  return {};
}
} // namespace

void Evaluation::takeRunningStatistics() {
  Block &block = main.front();
  llvm::StringMap<StateOp> states;
  for (StateOp state : block.getOps<StateOp>())
    states[state.getName()] = state;
  struct Statistics {
    Value mean, var;
  };
  llvm::MapVector<Operation *, Statistics> running;
  for (StoreOp store : llvm::make_early_inc_range(block.getOps<StoreOp>())) {
    Value state = states.lookup(store.getName()).getResult();
    Value updated = store.getValue();
    store.erase();
    Value batch = batchStatisticOf(updated);
    updated.replaceAllUsesWith(state);
    if (!batch)
      continue;
    auto norm = batch.getDefiningOp<NormalizeOp>();
    (batch == norm.getMean() ? running[norm].mean : running[norm].var) = state;
  }
  for (auto &[op, statistics] : running) {
    auto norm = cast<NormalizeOp>(op);
    if (!statistics.mean || !statistics.var)
      continue;
    builder.setInsertionPoint(norm);
    const std::string name = nameOf(norm).str();
    Value y = normalizeByStatistics(
        builder, norm.getX(), norm.getScale(), norm.getBias(), statistics.mean,
        statistics.var, norm.getEpsilon().convertToDouble(),
        [&](StringRef part) {
          return part.empty() ? norm->getLoc() : named(name + "." + part);
        });
    // A strategy may call the operator by its aliases.
    y.getDefiningOp()->setDiscardableAttrs(
        norm->getDiscardableAttrDictionary());
    norm.getY().replaceAllUsesWith(y);
  }
}

void Evaluation::dropNothing() {
  main.walk([](DropoutOp dropout) {
    dropout.getY().replaceAllUsesWith(dropout.getX());
    dropout.erase();
  });
  main.walk([](AttentionOp attention) {
    attention.setRatio(APFloat(0.0));
    attention.setKey(0);
  });
}

void Evaluation::addClassRows(Value logits, Value target, int64_t axis) {
  auto type = cast<RankedTensorType>(logits.getType());
  RankedTensorType labels = labelType(type, axis),
                   rows = labels.clone(type.getElementType());
  SmallVector<int64_t> column(type.getShape());
  column[axis] = 1;
  auto along = [&](int64_t dim) { return builder.getI64IntegerAttr(dim); };
  Value logs = SoftmaxOp::create(builder, named("loss.log"), type, logits,
                                 builder.getDenseI64ArrayAttr({axis}),
                                 /*log=*/along(1));
  Value place = ReshapeOp::create(builder, named("loss.target"),
                                  labels.clone(column), target);
  Value picked =
      GatherElementsOp::create(builder, named("loss.picked"),
                               type.clone(column), logs, place, along(axis));
  Value line = ReshapeOp::create(builder, named("loss.rows"), rows, picked);
  addOutput("rows/loss",
            UnaryOp::create(builder, named("loss.negated"), rows,
                            UnaryKind::Scale, line,
                            builder.getF64FloatAttr(-1.0), FloatAttr()));
  SmallVector<int64_t> first(type.getShape());
  first[axis] = std::min(first[axis], kTop);
  auto top = TopKOp::create(
      builder, named("top"),
      TypeRange{type.clone(first),
                RankedTensorType::get(first, builder.getI64Type())},
      logits, along(axis), /*largest=*/along(1));
  Value classes = top.getIndex();
  if (axis + 1 < type.getRank()) {
    SmallVector<int64_t> perm =
        llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
    perm.erase(perm.begin() + axis);
    perm.push_back(axis);
    classes = TransposeOp::create(
        builder, named("top.rows"),
        transposedType(cast<RankedTensorType>(classes.getType()), perm),
        classes, builder.getDenseI64ArrayAttr(perm));
  }
  addOutput("rows/top", classes);
  addOutput("rows/target", target);
}

LogicalResult Evaluation::addRows(StringRef loss,
                                  std::optional<int64_t> classAxis) {
  FailureOr<LossOperands> operands = lossOperands(main, loss, classAxis);
  if (failed(operands))
    return failure();
  main.walk([](OutputOp output) { output.erase(); });
  builder.setInsertionPoint(main.front().getTerminator());
  StringRef rows = loss == "mse"   ? "numbers"
                   : loss == "bce" ? "logits"
                                   : "classes";
  if (loss == "cross-entropy") {
    addClassRows(operands->x, operands->target, operands->axis);
  } else if (auto own = operands->x.getDefiningOp<CrossEntropyOp>();
             own && loss == "none") {
    addClassRows(own.getLogits(), own.getTarget(),
                 static_cast<int64_t>(own.getAxis()));
  } else if (loss == "none") {
    rows = "losses";
    addOutput("rows/loss", operands->x);
  } else {
    addOutput("rows/prediction", operands->x);
    addOutput("rows/target", operands->target);
  }
  main->setAttr(kRowsAttr, builder.getStringAttr(rows));
  return success();
}

void Evaluation::eraseUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front())))
    if (isOpTriviallyDead(&op) || (isa<StateOp>(op) && op.use_empty()))
      op.erase();
}

namespace {
struct Evaluate : ffc::impl::EvaluateBase<Evaluate> {
  using EvaluateBase::EvaluateBase;

  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Evaluation evaluation(main);
    evaluation.takeRunningStatistics();
    evaluation.dropNothing();
    std::optional<int64_t> axis;
    if (classAxis != std::numeric_limits<int64_t>::min())
      axis = classAxis;
    if (failed(evaluation.addRows(loss, axis)))
      return signalPassFailure();
    evaluation.eraseUnused();
  }
};
} // namespace
