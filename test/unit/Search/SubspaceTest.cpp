//===- SubspaceTest.cpp - a larger space has no worse answers -------------===//
//
// NMT's layers share parameters over time, its anchors form a grid that dynamic
// programming cannot reduce, and its loss is an anchor only where FlexFlow's
// files are not what counts.
//
//===----------------------------------------------------------------------===//

#include "SearchFixture.h"

#include "ffc/Import/Import.h"
#include "ffc/Passes/Pipelines.h"

#include "mlir/Pass/PassManager.h"

using namespace ffc;
using namespace ffc::plan;
using namespace ffc::search;
using namespace ffc::search::testing;

TEST(Subspace, NmtIsNoWorseThanInFlexFlows) {
  mlir::MLIRContext context;
  ImportOptions importing;
  importing.batchSize = 128;
  auto module = importModel(
      context, std::string(FFC_SOURCE_DIR) + "/examples/nmt/nmt.onnxtxt",
      importing);
  ASSERT_TRUE(module);
  mlir::PassManager passes(&context);
  addRecognition(passes);
  addTraining(passes, {});
  addFusion(passes);
  ASSERT_TRUE(succeeded(passes.run(*module)));
  auto planned = buildPlanGraph(*module);
  ASSERT_TRUE(succeeded(planned));
  const Topology topology = plan::testing::load("flexflow-sim:2x4");
  const CostModel cost(topology);
  Options options;
  options.budget = 4000;
  options.forFlexFlow = true;
  const Result narrow = searchStrategy(planned->graph, topology, cost, options);
  options.forFlexFlow = false;
  for (uint64_t seed : {0, 1, 2}) {
    options.seed = seed;
    const Result whole =
        searchStrategy(planned->graph, topology, cost, options);
    EXPECT_LE(whole.quality.makespan, narrow.quality.makespan)
        << "seed " << seed;
  }
}
