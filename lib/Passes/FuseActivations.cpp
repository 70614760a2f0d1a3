//===- FuseActivations.cpp - operators clamp their own results ------------===//

#include "Absorption.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSEACTIVATIONS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

//===----------------------------------------------------------------------===//
// What may be merged
//===----------------------------------------------------------------------===//

/// The operator that can do what `activation` does, or null.
static ClampingInterface findProducer(UnaryOp activation) {
  ClampingInterface producer = clamperOf(activation);
  if (!producer || producer.getClampAttr() ||
      !canTake(producer.getClampedResult(), activation))
    return nullptr;
  return producer;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {
struct FuseActivations : ffc::impl::FuseActivationsBase<FuseActivations> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    Absorption absorption;
    for (UnaryOp activation :
         llvm::make_early_inc_range(block.getOps<UnaryOp>())) {
      ClampingInterface producer = findProducer(activation);
      if (!producer)
        continue;
      producer.setClampAttr(activation.asClamp());
      absorption.take(activation, producer.getClampedResult());
    }
    absorption.moveOwners(block);
  }
};
} // namespace
