//===- Fusion.cpp - passes that make fewer operators ----------------------===//

#include "ffc/Passes/Passes.h"

void ffc::addFusion(mlir::OpPassManager &passes, bool early) {
  // What an operator does at no cost is none of a chain's business.
  passes.addPass(createFuseSums({early}));
  passes.addPass(createFuseAddends({early}));
  passes.addPass(createFuseActivations({early}));
  passes.addPass(createFuseCuts());
  passes.addPass(createFuseGelu({early}));
  // Bounds come first: they are those of the wide value.
  passes.addPass(createFuseCasts({early}));
  passes.addPass(createFuseElementwise());
}
