//===- FuseAddends.cpp - operators add to their own results ---------------===//

#include "Absorption.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSEADDENDS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

namespace {
/// A sum of two values of its result's shape, of which one may be narrow.
struct Sum {
  PartitionableInterface op; ///< null: none
  SmallVector<Value, 2> summands;

  explicit Sum(Operation &op) {
    auto fused = dyn_cast<FusedOp>(op);
    Block *body = fused ? &fused.getBody().front() : nullptr;
    // It widens what it adds, and does nothing else.
    auto sum = body ? dyn_cast<BinaryOp>(body->getTerminator()->getPrevNode())
                    : dyn_cast<BinaryOp>(op);
    if (!sum || sum.getKind() != BinaryKind::Add || op.getNumResults() != 1)
      return;
    for (Value value : sum->getOperands()) {
      summands.push_back(operandBehind(&op, value));
      if (!summands.back())
        return;
    }
    this->op = cast<PartitionableInterface>(op);
  }
};
} // namespace

/// The operator that computes `summand` can add `other` to it instead of `sum`.
static bool canAdd(AddingInterface producer, Value summand, Value other,
                   PartitionableInterface sum) {
  if (!producer || !producer.getAddendMutable().empty())
    return false;
  // Bounds are those of the sum.
  auto clamping = dyn_cast<ClampingInterface>(producer.getOperation());
  if (clamping && clamping.getClampAttr())
    return false;
  Operation *definition = other.getDefiningOp();
  return summand.getType() == sum->getResult(0).getType() &&
         takesAddend(producer, other.getType()) &&
         // Nothing is moved: that would make other values live longer.
         (!definition || definition->isBeforeInBlock(producer)) &&
         canTake(producer.getSummedResult(), sum);
}

namespace {
struct FuseAddends : ffc::impl::FuseAddendsBase<FuseAddends> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    Absorption absorption;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      const Sum sum(op);
      if (!sum.op)
        continue;
      for (int i : {0, 1}) {
        Value summand = sum.summands[i], other = sum.summands[1 - i];
        AddingInterface producer = adderOf(summand);
        if (!canAdd(producer, summand, other, sum.op))
          continue;
        producer.getAddendMutable().assign(other);
        absorption.take(&op, producer.getSummedResult());
        break;
      }
    }
    absorption.moveOwners(block);
  }
};
} // namespace
