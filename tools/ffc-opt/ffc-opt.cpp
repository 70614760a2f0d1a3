//===- ffc-opt.cpp - runs single passes on IR -----------------------------===//
//
// The tool of the lit tests: verifies and prints `ff` and `rank`, and runs
// passes and pipelines by name.
//
//===----------------------------------------------------------------------===//

#include "ffc/IR/FF.h"
#include "ffc/IR/Rank.h"
#ifdef FFC_HAS_PASSES
#include "ffc/Passes/Pipelines.h"
#endif

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, ffc::ff::FFDialect,
                  ffc::rank::RankDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
#ifdef FFC_HAS_PASSES
  ffc::registerFFCPasses();
  ffc::registerPipelines();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "ffc pass driver\n", registry));
}
