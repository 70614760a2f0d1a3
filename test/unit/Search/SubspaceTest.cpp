//===- SubspaceTest.cpp - a larger space has no worse answers -------------===//
//
// NMT's layers share parameters over time, its anchors form a grid that dynamic
// programming cannot reduce, and its loss is an anchor only where FlexFlow's
// files are not what counts.
//
//===----------------------------------------------------------------------===//

#include "ModelGraph.h"
#include "SearchFixture.h"

using namespace ffc;
using namespace ffc::plan;
using namespace ffc::search;
using namespace ffc::search::testing;

TEST(Subspace, NmtIsNoWorseThanInFlexFlows) {
  ImportOptions importing;
  importing.batchSize = 128;
  const Graph graph = graphOf("examples/nmt/nmt.onnxtxt", importing);
  const Topology topology = plan::testing::load("flexflow-sim:2x4");
  const CostModel cost(topology);
  Options options;
  options.budget = 4000;
  options.forFlexFlow = true;
  const Result narrow = searchStrategy(graph, topology, cost, options);
  options.forFlexFlow = false;
  for (uint64_t seed : {0, 1, 2}) {
    options.seed = seed;
    const Result whole = searchStrategy(graph, topology, cost, options);
    EXPECT_LE(whole.quality.makespan, narrow.quality.makespan)
        << "seed " << seed;
  }
}
