//===- PipelinesTest.cpp - strategies that are pipelines ------------------===//

#include "ffc/Search/Pipelines.h"

#include "PlanJudges.h"
#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Plan/Verifier.h"
#include "ffc/Search/Recompute.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace ffc;
using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;
using ::testing::Each;
using ::testing::ElementsAre;

namespace {

Topology linked(const std::string &bandwidth) {
  return parse("kinds: {k: {target: cpu, flops: {f32: 10 MFLOP/s}, memory: "
               "{size: 1 GB, bandwidth: 1 TB/s}, launch: 0 s, overlap: true}}\n"
               "devices: 4 x k\ninterconnect: {type: switch, bandwidth: " +
               bandwidth + ", latency: 0 s}\n");
}

TEST(Pipelines, CutsWhereStagesAreEqual) {
  const TestGraph g = products(8);
  const Topology topology = linked("1 GB/s");
  const CostModel cost(topology);
  const PipelineCuts cuts(g.graph, topology, cost);
  EXPECT_THAT(cuts.cut({4, 1, 4}).begins, ElementsAre(2, 4, 6));
  EXPECT_THAT(cuts.cut({2, 2, 4}).begins, ElementsAre(4));
  EXPECT_THAT(*cuts.moved({4}, 0, true), ElementsAre(3));
  EXPECT_THAT(*cuts.moved({4}, 0, false), ElementsAre(5));
  EXPECT_EQ(cuts.moved({1}, 0, true), std::nullopt);
  EXPECT_FALSE(cuts.isPossible({5, 1, 2})) << "devices";
  EXPECT_FALSE(cuts.isPossible({2, 2, 64})) << "samples";
  const auto strategy = cuts.strategy({2, 2, 4}, {4});
  ASSERT_TRUE(strategy);
  EXPECT_THAT((*strategy)[3].devices, ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT((*strategy)[4].devices, ElementsAre(2, 3, 2, 3, 2, 3, 2, 3));
  EXPECT_EQ(numMicroBatches(g.graph, *strategy), 4);
}

/// One device is three times as fast as the others.
TEST(Pipelines, CutsByTheSpeedsOfDevices) {
  const TestGraph g = products(8);
  auto cutsFor = [&](const std::string &devices, PipelineShape shape) {
    const Topology topology = parse(
        "kinds:\n"
        "  slow: {target: cpu, flops: {f32: 10 MFLOP/s}, memory: {size: 1 GB, "
        "bandwidth: 1 TB/s}, launch: 0 s, overlap: true}\n"
        "  fast: {target: cpu, flops: {f32: 30 MFLOP/s}, memory: {size: 1 GB, "
        "bandwidth: 1 TB/s}, launch: 0 s, overlap: true}\n"
        "devices: " +
        devices +
        "\ninterconnect: {type: switch, bandwidth: 1 TB/s, latency: 0 s}\n");
    const CostModel cost(topology);
    return PipelineCuts(g.graph, topology, cost).cut(shape).begins;
  };
  EXPECT_THAT(cutsFor("[1 x fast, 1 x slow]", {2, 1, 4}), ElementsAre(6));
  EXPECT_THAT(cutsFor("[1 x slow, 1 x fast]", {2, 1, 4}), ElementsAre(2));
  EXPECT_THAT(cutsFor("[2 x slow, 2 x fast]", {2, 2, 4}), ElementsAre(2));
  // The slower one of a stage has as many samples as the other.
  EXPECT_THAT(cutsFor("[1 x fast, 3 x slow]", {2, 2, 4}), ElementsAre(4));
  // Of two rounds over both devices the fast one has the first and the third.
  PipelineShape twice{2, 1, 4};
  twice.rounds = 2;
  EXPECT_THAT(cutsFor("[1 x fast, 1 x slow]", twice), ElementsAre(3, 4, 7));
}

/// Stages come back to the devices of earlier ones.
TEST(Pipelines, OfSeveralRounds) {
  const TestGraph g = products(8);
  const Topology topology = linked("1 GB/s");
  const CostModel cost(topology);
  const PipelineCuts cuts(g.graph, topology, cost);
  PipelineShape shape{2, 2, 4};
  shape.rounds = 2;
  EXPECT_TRUE(cuts.isPossible(shape));
  EXPECT_THAT(cuts.cut(shape).begins, ElementsAre(2, 4, 6));
  const auto strategy = cuts.strategy(shape, {2, 4, 6});
  ASSERT_TRUE(strategy);
  for (int op = 0; op < 8; ++op)
    EXPECT_EQ((*strategy)[op].devices[0], op / 2 % 2 * 2) << op;
  EXPECT_EQ(numStages(g.graph, *strategy, {4, 1}), 4);
  shape.microBatches = 3;
  EXPECT_FALSE(cuts.isPossible(shape)) << "two at a time";
  shape = {2, 2, 4};
  shape.rounds = 5;
  EXPECT_FALSE(cuts.isPossible(shape));
}

/// Neighbours have parts of the layers, and all samples of a micro-batch.
TEST(Pipelines, OfSharedLayers) {
  const TestGraph g = products(8);
  const Topology topology = linked("1 GB/s");
  const CostModel cost(topology);
  const PipelineCuts cuts(g.graph, topology, cost);
  PipelineShape shape{2, 2, 4};
  shape.tensor = 2;
  const auto strategy = cuts.strategy(shape, {4});
  ASSERT_TRUE(strategy);
  EXPECT_EQ(numMicroBatches(g.graph, *strategy), 4);
  for (int op = 0; op < 8; ++op) {
    const Configuration &config = (*strategy)[op];
    EXPECT_EQ(config.degreeOf(0), 4);
    ASSERT_THAT(config.axes, ::testing::SizeIs(2));
    EXPECT_EQ(config.axes[1].degree, 2);
    const DeviceId first = op / 4 * 2;
    EXPECT_THAT(config.devices,
                ElementsAre(first, first + 1, first, first + 1, first,
                            first + 1, first, first + 1));
  }
  // What a device computes, and what it has of the parameters, is half as much.
  auto stateOf = [&](const PipelineShape &shape) {
    return planProgram(g.graph, *cuts.strategy(shape, {4}), 4, cost,
                       {shape.microBatches, 1})
        .devices[0]
        .stateBytes;
  };
  EXPECT_EQ(stateOf(shape) * 2, stateOf({2, 2, 4}));
  shape.tensor = 3;
  EXPECT_FALSE(cuts.isPossible(shape));
}

TEST(Pipelines, FoundWhereLinksAreSlow) {
  const TestGraph g = products(8);
  const Topology topology = linked("1 MB/s");
  const CostModel cost(topology);
  const Strategy alone(g.graph.ops.size(), Configuration::onDevice(0));
  Quality best;
  best.makespan =
      timeProgram(g.graph, alone, planProgram(g.graph, alone, 4, cost), cost)
          .makespan;
  const auto found = searchPipelines(*judgeOf(g, topology, cost), best).found;
  ASSERT_TRUE(found);
  EXPECT_LT(found->quality.makespan, best.makespan);
  EXPECT_TRUE(found->quality.fits());
  EXPECT_THAT(found->name(), ::testing::HasSubstr("stages of 1 device, "));
  // Its time is that of its plan, which is safe.
  const Program program =
      planProgram(g.graph, found->strategy, 4, cost, found->schedule);
  EXPECT_EQ(verifyProgram(g.graph, found->strategy, program, topology),
            std::nullopt);
  EXPECT_EQ(timeProgram(g.graph, found->strategy, program, cost).makespan,
            found->quality.makespan);
  // Nothing is better than it, and what does not fit is no answer.
  EXPECT_FALSE(
      searchPipelines(*judgeOf(g, topology, cost), found->quality).found);
  const Topology small = topology.withMemory(1000);
  const PipelineResult none =
      searchPipelines(*judgeOf(g, small, cost), {best.makespan, 10});
  EXPECT_FALSE(none.found);
  ASSERT_THAT(none.unfitting, ::testing::SizeIs(4));
  EXPECT_LE(none.unfitting[0].quality.makespan,
            none.unfitting[3].quality.makespan);
}

/// Its gradients are added up over the micro-batches.
TEST(Pipelines, OfOneStage) {
  const TestGraph g = products(8);
  const Topology topology = load("cpu:1");
  const CostModel cost(topology);
  EXPECT_THAT(PipelineCuts(g.graph, topology, cost).cut({1, 1, 4}).begins,
              ::testing::IsEmpty());
  // What is known does not fit.
  const Quality best{kNoLimit, 2};
  EXPECT_FALSE(searchPipelines(*judgeOf(g, topology, cost), best).found);
  const auto found =
      searchPipelines(*judgeOf(g, topology, cost), best, 1).found;
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->quality.fits());
  EXPECT_EQ(found->name(),
            std::to_string(found->shape.microBatches) +
                " micro-batches one after the other on 1 device");
  // Nothing is planned when it is over.
  EXPECT_FALSE(searchPipelines(*judgeOf(g, topology, cost), best, 1, [] {
                 return false;
               }).found);
}

/// On so many devices that plans are not made, what needs many times the memory
/// is tried as experts would take it, with its forward pass computed again.
TEST(Pipelines, OfExpertsWhereNothingComesNear) {
  const TestGraph g = products(8);
  constexpr int kDevices = 4096;
  auto machine = [&](const char *memory) {
    return parse("kinds: {k: {target: cpu, flops: {f32: 10 MFLOP/s}, memory: "
                 "{size: " +
                 std::string(memory) +
                 ", bandwidth: 1 TB/s}, launch: 0 s, overlap: true}}\n"
                 "devices: " +
                 std::to_string(kDevices) +
                 " x k\ninterconnect: {type: switch, bandwidth: 1 GB/s, "
                 "latency: 0 s}\n");
  };
  const Topology topology = machine("200 kB");
  const CostModel cost(topology);
  const Quality alone{kNoLimit, 10};
  EXPECT_TRUE(isFarOff(alone, g.graph, kDevices));
  EXPECT_FALSE(isFarOff({kNoLimit, 2}, g.graph, kDevices)) << "memory";
  EXPECT_FALSE(isFarOff(alone, g.graph, 4)) << "parts of the step";
  const auto judge = judgeOf(g, topology, cost);
  const PipelineResult tried = searchPipelines(*judge, alone, 1);
  EXPECT_FALSE(tried.found);
  ASSERT_THAT(tried.unfitting, ::testing::Not(::testing::IsEmpty()));
  std::vector<Unfitting> starts;
  for (const Pipeline &each : tried.unfitting) {
    EXPECT_EQ(each.shape.sharesUpdates, each.shape.groups() > 1);
    EXPECT_EQ(each.shape.stages * each.shape.width, kDevices);
    starts.push_back(
        {each.name(), each.strategy, each.schedule, each.quality.makespan});
  }
  const auto found = bestRecomputation(*judge, starts, alone);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->quality.fits());
  EXPECT_GT(found->operators, 0);
  // Nothing can hold a weight.
  const Topology none = machine("1 B");
  EXPECT_THAT(searchPipelines(*judgeOf(g, none, cost), alone, 1).unfitting,
              ::testing::IsEmpty());
}

} // namespace
