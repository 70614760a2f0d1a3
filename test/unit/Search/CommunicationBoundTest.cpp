//===- CommunicationBoundTest.cpp - no strategy beats the bound -----------===//

#include "SearchFixture.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Search/CommunicationBound.h"

#include <cmath>
#include <cstdlib>

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

/// Layers of `k` x `k` parameters, with all of their gradients and updates.
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
      g.graph.ops.back().owner = i;
    }
    g.update("u" + layer, weights[i], gradient, "f" + layer);
  }
  return g;
}

std::string chip(bool overlap) {
  return "kinds:\n  chip:\n    target: cuda\n    flops: {f32: 1 TFLOP/s}\n"
         "    memory: {size: 8 GB, bandwidth: 1000 GB/s}\n"
         "    launch: 10 ns\n    overlap: " +
         std::string(overlap ? "true" : "false") + "\n";
}

/// Devices that compute fast for what their links bring.
Topology joined(int devices, bool overlap, const std::string &bandwidth) {
  return parse(chip(overlap) + "devices: " + std::to_string(devices) +
               " x chip\ninterconnect: {type: switch, bandwidth: " + bandwidth +
               ", latency: 1 ns}\n");
}
Topology joinedNodes(int nodes, int devices, bool overlap,
                     const std::string &network) {
  return parse(chip(overlap) + "nodes:\n  count: " + std::to_string(nodes) +
               "\n  devices: " + std::to_string(devices) +
               " x chip\n  interconnect: {type: switch, bandwidth: 100 GB/s, "
               "latency: 1 ns}\n  nic: {count: 1, bandwidth: 5 GB/s, latency: "
               "1 ns}\n" +
               network);
}

/// Tries random strategies, pipelines and recomputations, and, since these are
/// far from any bound, what a short search finds, which it returns.
Result expectNoneBelow(Picoseconds bound, const Graph &graph,
                       const Topology &topology, int trials, int64_t budget,
                       std::mt19937 &random) {
  const int devices = topology.numDevices();
  for (int trial = 0; trial < trials; ++trial) {
    PipelineSchedule schedule;
    const Strategy strategy =
        trial % 3 == 0 ? randomStrategy(graph, devices, random)
        : trial % 3 == 1
            ? randomPipeline(graph, devices, schedule, random)
            : randomRecomputation(graph, devices, schedule, random);
    EXPECT_LE(bound, timeOf(graph, strategy, schedule, topology))
        << topology.name() << "\n"
        << str(graph, strategy);
  }
  Options options;
  options.budget = budget;
  options.threads = options.chains = 1;
  Result found = searchStrategy(graph, topology, CostModel(topology), options);
  EXPECT_LE(bound, found.quality.makespan)
      << topology.name() << ", " << graph.ops.size() << " operators";
  return found;
}

TEST(CommunicationBound, NoStrategyTakesLess) {
  const unsigned seed = 20261127;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const Topology topologies[] = {
      joined(2, true, "1 GB/s"),
      joined(4, true, "20 GB/s"),
      joined(4, false, "5 GB/s"),
      joined(16, true, "5 GB/s"),
      joinedNodes(4, 2, true, ""),
      joinedNodes(
          4, 2, false,
          "  network: {type: ring, bandwidth: 2 GB/s, latency: 1 ns}\n"),
      ranks(3)};
  int higher = 0;
  for (const Topology &topology : topologies)
    for (const TestGraph &g :
         {training(1, 64, 64), training(3, 256, 256), training(3, 1024, 256),
          layers(256), residual(512), stack(3), trainingGraph()}) {
      const Picoseconds least = lowerBound(g.graph, topology);
      const Picoseconds bound = communicationBound(g.graph, topology, least);
      EXPECT_GE(bound, least);
      higher += bound > least;
      const Result found =
          expectNoneBelow(bound, g.graph, topology, 12, 1000, random);
      EXPECT_EQ(found.boundWithCommunication, bound);
    }
  EXPECT_GE(higher, 8);
}

/// A number from the environment.
int given(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

/// More are drawn with FFC_BOUND_CASES=N, others with FFC_BOUND_SEED=N.
TEST(CommunicationBound, NorOnGraphsAndMachinesDrawnAtRandom) {
  const int cases = given("FFC_BOUND_CASES", 40);
  const int seed = given("FFC_BOUND_SEED", 1);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(static_cast<unsigned>(seed));
  auto oneOf = [&](const auto &list) { return list[random() % list.size()]; };
  const std::vector<int> numDevices = {2, 3, 4, 6, 8, 16};
  const std::vector<std::string> bandwidths = {"300 MB/s", "1 GB/s", "5 GB/s",
                                               "20 GB/s", "100 GB/s"};
  const std::vector<std::string> networks = {
      "", "  network: {type: ring, bandwidth: 2 GB/s, latency: 1 ns}\n"};
  const std::vector<int64_t> rows = {16, 64, 256, 1024, 4096},
                             columns = {16, 64, 256, 512, 1024};
  int higher = 0;
  double closest = HUGE_VAL, most = 1;
  for (int i = 0; i < cases; ++i) {
    const bool overlap = random() % 3 > 0;
    const Topology topology =
        random() % 3 > 0
            ? joined(oneOf(numDevices), overlap, oneOf(bandwidths))
            : joinedNodes(random() % 2 ? 2 : 4, random() % 2 ? 2 : 4, overlap,
                          oneOf(networks));
    const int64_t k = oneOf(columns);
    const TestGraph g =
        random() % 4 > 0
            ? training(1 + static_cast<int>(random() % 4), oneOf(rows), k)
        : random() % 2 ? layers(k)
                       : residual(k);
    const Picoseconds least = lowerBound(g.graph, topology);
    const Picoseconds bound = communicationBound(g.graph, topology, least);
    const double ratio =
        static_cast<double>(bound) / static_cast<double>(least);
    if (ratio < 1.002)
      continue;
    ++higher;
    most = std::max(most, ratio);
    const Result found =
        expectNoneBelow(bound, g.graph, topology, 6, 2000, random);
    closest = std::min(closest, static_cast<double>(found.quality.makespan) /
                                    static_cast<double>(bound));
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(higher, cases / 5);
  RecordProperty("higher", higher);
  RecordProperty("most", std::to_string(most));
  RecordProperty("closest", std::to_string(closest));
}

/// On devices that turn by turn compute and communicate, which need not share
/// anything if they have the time to compute all.
TEST(CommunicationBound, OneDeviceNeedsNone) {
  const TestGraph g = training(3, 256, 256);
  const Topology none = joined(2, false, "1 kB/s");
  const Picoseconds alone =
      timeOf(g.graph, Strategy(g.graph.ops.size(), Configuration::onDevice(0)),
             {}, none);
  EXPECT_LE(boundOf(g.graph, none), alone);
  EXPECT_EQ(boundOf(g.graph, joined(1, false, "1 GB/s")),
            lowerBound(g.graph, joined(1, false, "1 GB/s")));
}

/// Slower links never make a lower bound lower, and at some point the products
/// of a layer count with what they need of their operands.
TEST(CommunicationBound, GrowsWithTheTimeOfBytes) {
  const TestGraph g = training(2, 1024, 1024);
  Picoseconds before = 0;
  for (const char *bandwidth : {"1000 GB/s", "10 GB/s", "4 GB/s", "1 GB/s"}) {
    const Topology topology = joined(16, true, bandwidth);
    const Picoseconds bound = boundOf(g.graph, topology);
    EXPECT_GE(bound, before) << bandwidth;
    before = bound;
  }
  const Topology fast = joined(16, true, "1000 GB/s");
  EXPECT_EQ(boundOf(g.graph, fast), lowerBound(g.graph, fast));
  EXPECT_GT(before, 1.2 * lowerBound(g.graph, fast));
}

/// A device has the time for any of these products alone, but not for what they
/// are made of, of which it cannot receive all either.
TEST(CommunicationBound, SharesOfAllLimitTheShareOfEach) {
  const TestGraph g = training(6, 2048, 1024);
  const Topology topology = joined(64, true, "1 GB/s");
  EXPECT_GT(boundOf(g.graph, topology), 1.5 * lowerBound(g.graph, topology));
}

/// A strategy of which all is simulated again in each micro-batch.
TEST(CommunicationBound, MicroBatchesCountEach) {
  TestGraph g = products(3);
  g.graph.microBatches = 4;
  std::mt19937 random(5);
  for (const Topology &topology :
       {joined(4, true, "5 GB/s"), joined(4, false, "5 GB/s")}) {
    const Picoseconds bound = boundOf(g.graph, topology);
    for (int trial = 0; trial < 100; ++trial)
      ASSERT_LE(bound,
                timeOf(g.graph,
                       randomStrategy(g.graph, topology.numDevices(), random),
                       {}, topology));
  }
}

TEST(CommunicationBound, LargeMachines) {
  const TestGraph g = training(300, 8192, 1024);
  const Topology topology = load("h200x8:8192");
  EXPECT_GE(boundOf(g.graph, topology), lowerBound(g.graph, topology));
}

} // namespace
