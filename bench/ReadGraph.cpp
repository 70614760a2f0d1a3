//===- ReadGraph.cpp - models of measurements -----------------------------===//

#include "ReadGraph.h"

#include "ffc/Import/Import.h"
#include "ffc/Passes/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ffc;

namespace cl = llvm::cl;
static cl::opt<std::string> model(cl::Positional, cl::Required,
                                  cl::desc("MODEL"));
static cl::opt<std::string> devices("devices", cl::Required,
                                    cl::desc("as for ffc, as are the next "
                                             "three"));
static cl::opt<int64_t> batchSize("batch-size");
static cl::opt<std::string> loss("loss", cl::init("cross-entropy"));
static cl::opt<double> momentum("momentum", cl::init(0.9));

static plan::Topology readTopology() {
  std::string error;
  auto topology = plan::Topology::load(devices, error);
  if (!topology) {
    llvm::errs() << error << "\n";
    std::exit(1);
  }
  return *topology;
}

static LogicalResult readModel(bench::Problem &problem) {
  ImportOptions importing;
  if (batchSize > 0)
    importing.batchSize = batchSize;
  problem.module = importModel(problem.context, model, importing);
  if (!problem.module)
    return failure();
  DifferentiateOptions differentiating;
  differentiating.loss = loss;
  differentiating.optimizer = "sgd:momentum=" + std::to_string(momentum);
  differentiating.rowUpdates = momentum == 0;
  PassManager passes(&problem.context);
  addRecognition(passes);
  addTraining(passes, differentiating);
  addFusion(passes);
  if (failed(passes.run(*problem.module)))
    return failure();
  auto planned = buildPlanGraph(*problem.module);
  if (failed(planned))
    return failure();
  problem.graph = std::move(planned->graph);
  return success();
}

std::unique_ptr<bench::Problem> bench::readProblem(int argc, char **argv,
                                                   const char *overview) {
  cl::ParseCommandLineOptions(argc, argv, overview);
  auto problem = std::make_unique<Problem>(readTopology());
  if (failed(readModel(*problem)))
    std::exit(1);
  return problem;
}
