//===- Pipelines.cpp - which passes run, in which order -------------------===//

#include "ffc/Passes/Pipelines.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace ffc;

void ffc::addRecognition(OpPassManager &passes) {
  passes.addPass(createRecognizePatterns());
  passes.addPass(createMergeConstants());
  passes.addPass(createMarkCausal());
}

void ffc::addTraining(OpPassManager &passes,
                      const DifferentiateOptions &options) {
  passes.addPass(createDifferentiate(options));
  passes.addPass(createFuseLosses());
}

void ffc::addRounding(OpPassManager &passes, StringRef type) {
  if (type.empty())
    return;
  if (type == "f64") {
    passes.addPass(createRaisePrecision());
    return;
  }
  LowerPrecisionOptions lowering;
  lowering.type = type.str();
  passes.addPass(createLowerPrecision(lowering));
  passes.addPass(createKeepRounded());
}

void ffc::addActivationFusion(OpPassManager &passes) {
  passes.addPass(createFuseActivations());
  passes.addPass(createFuseCuts());
  passes.addPass(createFuseGelu());
}

void ffc::addFusion(OpPassManager &passes) {
  // What an operator does at no cost is none of a chain's business.
  passes.addPass(createFuseSums());
  passes.addPass(createFuseAddends());
  addActivationFusion(passes);
  // Bounds come first: they are those of the wide value.
  passes.addPass(createFuseCasts());
  passes.addPass(createFuseElementwise());
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct TrainOptions : PassPipelineOptions<TrainOptions> {
  Option<std::string> loss{*this, "loss", llvm::cl::init("cross-entropy"),
                           llvm::cl::desc("as of --ff-differentiate")};
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::init("sgd"),
                                llvm::cl::desc("as of --ff-differentiate")};
  Option<int64_t> microBatches{*this, "micro-batches", llvm::cl::init(1),
                               llvm::cl::desc("of a step")};
};
struct RoundOptions : PassPipelineOptions<RoundOptions> {
  Option<std::string> type{*this, "type", llvm::cl::init("bf16"),
                           llvm::cl::desc("bf16, f16, tf32 or f64")};
};
} // namespace

void ffc::registerPipelines() {
  PassPipelineRegistration<>(
      "ffc-recognize", "operators that exporters write in parts become one",
      addRecognition);
  PassPipelineRegistration<TrainOptions>(
      "ffc-train", "from a forward graph to one step of training",
      [](OpPassManager &passes, const TrainOptions &options) {
        DifferentiateOptions training;
        training.loss = options.loss;
        training.optimizer = options.optimizer;
        training.microBatches = options.microBatches;
        addTraining(passes, training);
      });
  PassPipelineRegistration<RoundOptions>(
      "ffc-round", "what products read, and what is made of it, is narrower",
      [](OpPassManager &passes, const RoundOptions &options) {
        addRounding(passes, options.type);
      });
  PassPipelineRegistration<>(
      "ffc-fuse", "fewer operators for what is computed in the same way",
      addFusion);
}
