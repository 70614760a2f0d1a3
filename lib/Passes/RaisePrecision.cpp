//===- RaisePrecision.cpp - everything in f64 -----------------------------===//

#include "ffc/IR/FF.h"
#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;

namespace ffc {
#define GEN_PASS_DEF_RAISEPRECISION
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

static void raise(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && type.getElementType().isF32())
    value.setType(type.clone(Float64Type::get(value.getContext())));
}

namespace {
struct RaisePrecision : ffc::impl::RaisePrecisionBase<RaisePrecision> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    // Those that the runtime has no kernels for.
    const WalkResult found = main->walk([](Operation *op) {
      if (!isa<ff::RecurrentOp, ff::RecurrentBackwardOp>(op))
        return WalkResult::advance();
      op->emitError("--precision=f64: expected no recurrent layers, for which "
                    "there are no kernels in f64, found one");
      return WalkResult::interrupt();
    });
    if (found.wasInterrupted())
      return signalPassFailure();
    main->walk([](Block *block) {
      llvm::for_each(block->getArguments(), raise);
      for (Operation &op : *block)
        llvm::for_each(op.getResults(), raise);
    });
    main.setType(FunctionType::get(&getContext(),
                                   main.front().getArgumentTypes(),
                                   main.getFunctionType().getResults()));
  }
};
} // namespace
