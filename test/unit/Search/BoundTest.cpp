//===- BoundTest.cpp - no strategy beats the bound ------------------------===//

#include "SearchFixture.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Timing.h"

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

Picoseconds timeOf(const Graph &graph, const Strategy &strategy, int devices,
                   const CostModel &cost) {
  Program program = planProgram(graph, strategy, devices, cost);
  return timeProgram(graph, strategy, program, cost).makespan;
}

/// Every second row of the last value: y[n,c] = x[2n + from,c].
ValueId rows(TestGraph &g, const std::string &name, ValueId x, int64_t from) {
  const Shape shape = g.graph.value(x).type.shape;
  ValueId y = g.window(name, x);
  OpRules &rules = g.graph.ops[g.graph.value(y).producer].rules;
  rules.dims[0].extent = shape[0] / 2;
  for (Schedule &schedule : rules.schedules)
    schedule.phases[0].reads[0].access.dims[0] =
        DimMap::window(0, /*stride=*/2, /*reach=*/1, /*pad=*/-from);
  g.graph.values[y].type.shape[0] = shape[0] / 2;
  return y;
}

TestGraph strided() {
  TestGraph g;
  ValueId x = g.product("p", g.input("x", {64, 32}), g.state("w", {32, 16}));
  ValueId even = rows(g, "even", x, 0), odd = rows(g, "odd", x, 1);
  g.output("out/y", g.sum("sum", even, g.window("window", odd)));
  return g;
}

/// Layers of which the second goes over time steps.
TestGraph recurrent(int64_t k) {
  TestGraph g = layers(k);
  for (Schedule &schedule : g.graph.ops.back().rules.schedules)
    schedule.phases.front().parts = 20;
  return g;
}

/// Updates have no start of their own where kernels are collected.
TestGraph collected() {
  TestGraph g = trainingGraph();
  for (Op &op : g.graph.ops)
    if (op.role == OpRole::Update)
      for (Schedule &schedule : op.rules.schedules)
        schedule.phases.front().startsWithOthers = true;
  return g;
}

const char *const kUnlike = R"(
kinds:
  fast: {target: cpu, flops: {f32: 4 TFLOP/s}, memory: {size: 8 GB, bandwidth: 50 GB/s}, launch: 3 us, overlap: false}
  slow: {target: cpu, flops: {f32: 1 TFLOP/s}, memory: {size: 8 GB, bandwidth: 200 GB/s}, launch: 1 us, overlap: false}
devices: [1 x fast, 2 x slow]
interconnect: {type: shared-memory, bandwidth: 30 GB/s, latency: 100 ns}
)";

TEST(Bound, RandomStrategiesTakeLonger) {
  const Topology topologies[] = {chips(1), chips(4), ranks(3), load("h200x8"),
                                 parse(kUnlike)};
  const unsigned seed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const Topology &topology : topologies) {
    const CostModel cost(topology);
    for (const TestGraph &g :
         {layers(64), layers(1024), residual(64), residual(512), recurrent(64),
          trainingGraph(), collected(), strided()}) {
      const Picoseconds bound = lowerBound(g.graph, topology);
      EXPECT_GT(bound, 0);
      for (int trial = 0; trial < 60; ++trial) {
        Strategy strategy =
            randomStrategy(g.graph, topology.numDevices(), random);
        EXPECT_LE(bound, timeOf(g.graph, strategy, topology.numDevices(), cost))
            << topology.name() << "\n"
            << str(g.graph, strategy);
      }
    }
  }
}

/// One device has nothing to wait for. (The rows between those that a strided
/// window reads lie in its buffer as well, which the bound cannot know.)
TEST(Bound, OneDeviceMeetsIt) {
  for (const Topology &topology : {chips(1), parse("devices: 1 x h200")}) {
    const CostModel cost(topology);
    for (const TestGraph &g : {layers(256), residual(256), recurrent(256),
                               trainingGraph(), collected()}) {
      Strategy strategy(g.graph.ops.size(), Configuration::onDevice(0));
      auto time = static_cast<double>(timeOf(g.graph, strategy, 1, cost));
      EXPECT_NEAR(static_cast<double>(lowerBound(g.graph, topology)), time,
                  1e-6 * time);
    }
  }
}

/// Many devices cannot do what comes one after the other at once.
TEST(Bound, ChainsTakeALaunchEach) {
  TestGraph g;
  ValueId x = g.input("x", {64, 2});
  for (int i = 0; i < 10; ++i)
    x = g.window("w" + std::to_string(i), x);
  g.output("out/x", x);
  EXPECT_GE(lowerBound(g.graph, chips(64)), 9'999'999);
  EXPECT_LT(lowerBound(g.graph, chips(64)), 10'000'001);
  for (Schedule &schedule : g.graph.ops[4].rules.schedules)
    schedule.phases[0].parts = 6;
  EXPECT_GE(lowerBound(g.graph, chips(64)), 14'999'999);
  EXPECT_LT(lowerBound(g.graph, chips(64)), 15'000'001);
}

} // namespace
