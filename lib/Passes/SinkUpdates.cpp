//===- SinkUpdates.cpp - updates at the end of the step -------------------===//

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_SINKUPDATES
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

namespace {
struct SinkUpdates : ffc::impl::SinkUpdatesBase<SinkUpdates> {
  using SinkUpdatesBase::SinkUpdatesBase;

  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    // In the order of the block, since users come after what they use.
    llvm::SetVector<Operation *> last;
    for (Operation &op : block.without_terminator())
      if (hasRole(&op, kUpdateRole) ||
          llvm::any_of(op.getOperands(), [&](Value operand) {
            return last.contains(operand.getDefiningOp());
          }))
        last.insert(&op);
    for (Operation *op : last)
      op->moveBefore(block.getTerminator());
    if (microBatches > 1)
      main->setAttr(kMicroBatchesAttr,
                    Builder(&getContext()).getI64IntegerAttr(microBatches));
  }
};
} // namespace
