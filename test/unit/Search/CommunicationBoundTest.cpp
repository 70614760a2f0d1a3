//===- CommunicationBoundTest.cpp - no strategy beats the bound -----------===//

#include "SearchFixture.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Search/CommunicationBound.h"

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

Picoseconds boundOf(const Graph &graph, const Topology &topology) {
  return communicationBound(graph, topology, lowerBound(graph, topology));
}

Picoseconds timeOf(const Graph &graph, const Strategy &strategy,
                   const PipelineSchedule &schedule, const Topology &topology) {
  const CostModel cost(topology);
  const Program program =
      planProgram(graph, strategy, topology.numDevices(), cost, schedule);
  return timeProgram(graph, strategy, program, cost).makespan;
}

/// Layers x -> x w_i of `k` columns with their gradients and updates.
TestGraph training(int layers, int64_t rows, int64_t k) {
  TestGraph g;
  ValueId value = g.input("x", {rows, k});
  std::vector<ValueId> weights, inputs;
  for (int i = 0; i < layers; ++i) {
    inputs.push_back(value);
    weights.push_back(g.state("w" + std::to_string(i), {k, k}));
    value = g.product("f" + std::to_string(i), value, weights.back());
  }
  for (int i = layers; i-- > 0;) {
    const std::string layer = std::to_string(i);
    const ValueId gradient =
        g.outer("g" + layer, inputs[i], value, "f" + layer);
    if (i > 0) {
      value = g.product("b" + layer, value, weights[i]);
      g.graph.ops.back().role = OpRole::Gradient;
      g.graph.ops.back().owner = g.graph.ops.front().owner < 0 ? i : i;
    }
    g.update("u" + layer, weights[i], gradient, "f" + layer);
  }
  return g;
}

/// Chips with links so slow that most of a step is communication.
Topology slow(int devices, bool overlap, const std::string &bandwidth) {
  return parse(
      "kinds:\n  chip:\n    target: cuda\n    flops: {f32: 1 TFLOP/s}\n"
      "    memory: {size: 8 GB, bandwidth: 1000 GB/s}\n"
      "    launch: 10 ns\n    overlap: " +
      std::string(overlap ? "true" : "false") +
      "\ndevices: " + std::to_string(devices) +
      " x chip\ninterconnect: {type: switch, bandwidth: " + bandwidth +
      ", latency: 1 ns}\n");
}
Topology slowNodes(int nodes, int devices, bool overlap) {
  return parse(
      "kinds:\n  chip:\n    target: cuda\n    flops: {f32: 1 TFLOP/s}\n"
      "    memory: {size: 8 GB, bandwidth: 1000 GB/s}\n"
      "    launch: 10 ns\n    overlap: " +
      std::string(overlap ? "true" : "false") + "\nnodes:\n  count: " +
      std::to_string(nodes) + "\n  devices: " + std::to_string(devices) +
      " x chip\n  interconnect: {type: switch, bandwidth: 100 GB/s, "
      "latency: 1 ns}\n  nic: {count: 1, bandwidth: 5 GB/s, latency: "
      "1 ns}\n");
}

TEST(CommunicationBound, RandomStrategiesTakeLonger) {
  const unsigned seed = 20261127;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const Topology topologies[] = {
      slow(2, true, "1 GB/s"),  slow(4, true, "20 GB/s"),
      slow(4, false, "5 GB/s"), slow(16, true, "5 GB/s"),
      slowNodes(4, 2, true),    slowNodes(2, 4, false)};
  if (getenv("DBG5")) {
    TestGraph g = stack(3);
    Topology t = slow(2, true, "1 GB/s");
    fprintf(stderr, "bound %ld\n",
            communicationBound(g.graph, t, lowerBound(g.graph, t)));
    return;
  }
  int higher = 0;
  for (const Topology &topology : topologies)
    for (const TestGraph &g :
         {training(1, 64, 64), training(3, 256, 256), training(3, 1024, 256),
          layers(1024), residual(512), stack(3)}) {
      const Picoseconds least = lowerBound(g.graph, topology);
      const Picoseconds bound = communicationBound(g.graph, topology, least);
      higher += bound > least;
      for (int trial = 0; trial < 60; ++trial) {
        PipelineSchedule schedule;
        const Strategy strategy =
            trial % 3 == 0
                ? randomStrategy(g.graph, topology.numDevices(), random)
            : trial % 3 == 1
                ? randomPipeline(g.graph, topology.numDevices(), schedule,
                                 random)
                : randomRecomputation(g.graph, topology.numDevices(), schedule,
                                      random);
        ASSERT_LE(bound, timeOf(g.graph, strategy, schedule, topology))
            << topology.name() << "\n"
            << str(g.graph, strategy);
      }
      // Those that are good.
      const CostModel cost(topology);
      Options options;
      options.budget = 3000;
      options.threads = options.chains = 1;
      const Result result = searchStrategy(g.graph, topology, cost, options);
      if (getenv("DBG3"))
        fprintf(stderr, "%d devices %zu ops: least %ld bound %ld found %ld\n",
                topology.numDevices(), g.graph.ops.size(), least, bound,
                result.quality.makespan);
      EXPECT_LE(bound, result.quality.makespan);
    }
  EXPECT_GE(higher, 10);
}

} // namespace
