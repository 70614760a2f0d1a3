//===- PipelineScheduleTest.cpp - pipelines of micro-batches --------------===//

#include "ffc/Plan/PipelineSchedule.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/LocalWork.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Plan/Verifier.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <map>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

constexpr int64_t kSamples = 16;

/// Stages of one product forward, f0 f1 ..., and two backward, a0 b0 a1 b1 ...,
/// all of which take equally long. The gradient of the loss is what the last
/// one makes.
TestGraph uniform(int stages) {
  TestGraph g;
  ValueId value = g.input("x", {kSamples, 8});
  std::vector<ValueId> weights;
  auto name = [](const char *kind, int stage) {
    return kind + std::to_string(stage);
  };
  for (int s = 0; s < stages; ++s) {
    weights.push_back(g.state(name("w", s), {8, 8}));
    value = g.product(name("f", s), value, weights.back());
  }
  for (int s = stages; s-- > 0;)
    for (const char *kind : {"a", "b"}) {
      value = g.product(name(kind, s), value, weights[s]);
      g.graph.ops.back().role = OpRole::Gradient;
      g.graph.ops.back().owner = s;
    }
  g.output("grad/x", value);
  return g;
}

/// A stage's operators on a device of its own, in so many micro-batches.
Strategy inStages(const Graph &graph, int microBatches) {
  Strategy strategy;
  for (const Op &op : graph.ops)
    strategy.push_back(
        {{{0, microBatches}},
         std::vector<DeviceId>(microBatches, std::stoi(op.name.substr(1)))});
  return strategy;
}

/// Devices whose memory and links cost nothing.
Topology free(int devices, bool overlap) {
  return parse(
      "kinds: {k: {target: cpu, flops: {f32: 1 GFLOP/s}, memory: {size: 1 GB, "
      "bandwidth: 1000 TB/s}, launch: 0 s, overlap: " +
      std::string(overlap ? "true" : "false") +
      "}}\ndevices: " + std::to_string(devices) +
      " x k\ninterconnect: {type: switch, bandwidth: 1000 TB/s, latency: "
      "0 s}\n");
}

std::string textOf(const std::vector<Turn> &turns, const Graph &graph,
                   const std::string &names) {
  std::string text;
  for (const Turn &turn : turns)
    if (names.find(graph.op(turn.op).name) != std::string::npos)
      text += (text.empty() ? "" : " ") + graph.op(turn.op).name + "." +
              std::to_string(turn.part);
  return text;
}

TEST(PipelineSchedule, CountsMicroBatches) {
  const TestGraph g = uniform(2);
  Strategy strategy = inStages(g.graph, 4);
  EXPECT_EQ(numMicroBatches(g.graph, strategy), 4);
  // Two devices that share every micro-batch.
  strategy[0] = {{{0, 8}}, {0, 1, 0, 1, 0, 1, 0, 1}};
  EXPECT_EQ(numMicroBatches(g.graph, strategy), 4);
  strategy[0].devices = {0, 1, 0, 1, 1, 0, 0, 1};
  EXPECT_EQ(numMicroBatches(g.graph, strategy), 1);
  strategy[0].devices = {0, 0, 1, 1, 0, 0, 1, 1};
  EXPECT_EQ(numMicroBatches(g.graph, strategy), 2);
  // Blocks of channels within.
  strategy[0] = {{{1, 2}, {0, 4}}, {0, 0, 0, 0, 1, 1, 1, 1}};
  EXPECT_EQ(numMicroBatches(g.graph, strategy), 4);
  strategy[1] = Configuration::onDevice(1);
  EXPECT_EQ(numMicroBatches(g.graph, strategy), 1);
}

TEST(PipelineSchedule, OrdersPasses) {
  const TestGraph g = uniform(3);
  const Strategy strategy = inStages(g.graph, 4);
  auto of = [&](int ahead, const char *names) {
    return textOf(turnsOf(g.graph, strategy, {4, ahead}, false), g.graph,
                  names);
  };
  // Narayanan et al., 2021, figure 4: as many passes as stages from here on.
  EXPECT_EQ(of(1, "f0 b0"), "f0.0 f0.1 f0.2 b0.0 f0.3 b0.1 b0.2 b0.3");
  EXPECT_EQ(of(1, "f1 b1"), "f1.0 f1.1 b1.0 f1.2 b1.1 f1.3 b1.2 b1.3");
  EXPECT_EQ(of(1, "f2 b2"), "f2.0 b2.0 f2.1 b2.1 f2.2 b2.2 f2.3 b2.3");
  EXPECT_EQ(of(2, "f1 b1"), "f1.0 f1.1 f1.2 b1.0 f1.3 b1.1 b1.2 b1.3");
  for (const char *stage : {"f0 b0", "f1 b1", "f2 b2"}) {
    const std::string text = of(4, stage);
    EXPECT_LT(text.rfind('f'), text.find('b')) << "GPipe";
  }
  EXPECT_EQ(numStages(g.graph, strategy, {4, 1}), 3);
  EXPECT_EQ((PipelineSchedule{4, 4}).str(), "gpipe");
  EXPECT_EQ((PipelineSchedule{4, 1}).str(), "1f1b");
  EXPECT_EQ((PipelineSchedule{4, 2}).str(), "1f1b:2");
  EXPECT_EQ((PipelineSchedule{4, 1, true}).str(), "zb-h1");
  EXPECT_EQ((PipelineSchedule{4, 2, true}).str(), "zb-h2");
  EXPECT_EQ((PipelineSchedule{4, 3, true}).str(), "zb:3");
  EXPECT_EQ(PipelineSchedule().str(), "none");
  EXPECT_EQ(of(1, "a0 b0 a1"),
            "a1.0 a0.0 b0.0 a1.1 a0.1 b0.1 a1.2 a0.2 b0.2 a1.3 a0.3 b0.3");
}

/// All of a device's micro-batches, and the time to fill and to drain the
/// pipeline: (m + s - 1) times that of a micro-batch (GPipe, section 2.3;
/// Megatron-LM, 2021, section 2.2.1).
TEST(PipelineSchedule, BubblesAreThoseOfThePapers) {
  for (int stages : {1, 2, 4})
    for (int microBatches : {2, 4, 8})
      for (int ahead : {1, 2, microBatches})
        for (bool overlap : {false, true}) {
          const TestGraph g = uniform(stages);
          const Strategy strategy = inStages(g.graph, microBatches);
          const Topology topology = free(stages, overlap);
          const CostModel cost(topology);
          const PipelineSchedule schedule{microBatches, ahead};
          const Program program =
              planProgram(g.graph, strategy, stages, cost, schedule);
          EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology),
                    std::nullopt);
          const Picoseconds product =
              1000 * 2 * 8 * 8 * kSamples / microBatches;
          const Picoseconds found =
              timeProgram(g.graph, strategy, program, cost).makespan;
          const Picoseconds expected =
              3 * product * (microBatches + stages - 1);
          // Where messages travel beside kernels, they do so in the order in
          // which they are asked for, which costs 1F1B some time.
          const bool isOrdered = overlap && ahead == 1 && stages == 4;
          const std::string what =
              std::to_string(stages) + " stages, " + schedule.str() + " of " +
              std::to_string(microBatches) + (overlap ? ", overlap" : "");
          if (isOrdered)
            EXPECT_GE(found, expected) << what;
          else
            EXPECT_EQ(found, expected) << what;
        }
}

TEST(PipelineSchedule, OperatorAfterOperatorWithoutOne) {
  const TestGraph g = uniform(4);
  const Strategy strategy = inStages(g.graph, 8);
  const Topology topology = free(4, false);
  const CostModel cost(topology);
  const Program program = planProgram(g.graph, strategy, 4, cost);
  // Links take a picosecond for all samples.
  EXPECT_NEAR(timeProgram(g.graph, strategy, program, cost).makespan,
              4 * 3 * Picoseconds(1000) * 2 * 8 * 8 * kSamples, 10);
}

/// So many micro-batches a stage keeps activations of: S - s in 1F1B, all in
/// GPipe.
TEST(PipelineSchedule, MicroBatchesInFlight) {
  const TestGraph g = uniform(4);
  const Strategy strategy = inStages(g.graph, 8);
  for (int ahead : {1, 2, 8}) {
    std::map<int, int> now, most;
    for (const Turn &turn : turnsOf(g.graph, strategy, {8, ahead}, false)) {
      const std::string &name = g.graph.op(turn.op).name;
      const int stage = std::stoi(name.substr(1));
      now[stage] += name[0] == 'f' ? 1 : name[0] == 'b' ? -1 : 0;
      most[stage] = std::max(most[stage], now[stage]);
    }
    for (int stage = 0; stage < 4; ++stage) {
      EXPECT_EQ(now[stage], 0);
      EXPECT_EQ(most[stage],
                ahead == 8 ? 8 : std::min(8, 1 + ahead * (3 - stage)));
    }
  }
}

/// Stages of a product forward, one for the gradient of what it reads, and one
/// for that of its weight, which nobody waits for. All take equally long.
TestGraph withWeights(int stages) {
  TestGraph g;
  std::vector<ValueId> values = {g.input("x", {kSamples, 8})};
  std::vector<ValueId> weights;
  auto name = [](const char *kind, int stage) {
    return kind + std::to_string(stage);
  };
  for (int s = 0; s < stages; ++s) {
    weights.push_back(g.state(name("w", s), {8, 8}));
    values.push_back(g.product(name("f", s), values.back(), weights.back()));
  }
  ValueId gradient = values.back();
  for (int s = stages; s-- > 0;) {
    const ValueId made = gradient;
    gradient = g.product(name("a", s), made, weights[s]);
    auto isGradient = [&] {
      g.graph.ops.back().role = OpRole::Gradient;
      g.graph.ops.back().owner = s;
    };
    isGradient();
    g.output("grad/" + name("w", s), g.product(name("b", s), made, weights[s]));
    isGradient();
  }
  g.output("grad/x", gradient);
  return g;
}

/// The longest time for which a device does nothing after its first task and
/// before its last one.
Picoseconds idleTime(const TestGraph &g, const Strategy &strategy,
                     const Program &program, const CostModel &cost) {
  const Timeline timing = timeProgram(g.graph, strategy, program, cost);
  Picoseconds most = 0;
  for (size_t device = 0; device < program.devices.size(); ++device) {
    Picoseconds first = INT64_MAX, last = 0, busy = 0;
    const auto &actions = program.devices[device].actions;
    for (size_t i = 0; i < actions.size(); ++i)
      if (actions[i].is<KernelAction>()) {
        const auto &at = timing.devices[device][i];
        first = std::min(first, at.start);
        last = std::max(last, at.end);
        busy += at.end - at.start;
      }
    most = std::max(most, last - first - busy);
  }
  return most;
}

/// Qi et al., ICLR 2024, table 1: with F, B and W the times of a stage's
/// passes, a device is idle for (s - 1) (F + B - W) in ZB-H1, and for (s - 1)
/// (F + B - 2 W) in ZB-H2. In 1F1B it is for (s - 1) (F + B + W) there; here a
/// stage sends what the one before waits for before it does W.
TEST(PipelineSchedule, ZeroBubbleFillsWaitingTime) {
  for (int stages : {2, 4})
    for (int microBatches : {8, 16}) {
      const TestGraph g = withWeights(stages);
      const Strategy strategy = inStages(g.graph, microBatches);
      const Topology topology = free(stages, false);
      const CostModel cost(topology);
      const Picoseconds pass = 1000 * 2 * 8 * 8 * kSamples / microBatches;
      auto idle = [&](int ahead, bool defers) {
        const PipelineSchedule schedule{microBatches, ahead, defers};
        const Program program =
            planProgram(g.graph, strategy, stages, cost, schedule);
        EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology),
                  std::nullopt);
        return idleTime(g, strategy, program, cost);
      };
      EXPECT_EQ(idle(1, false), (stages - 1) * 2 * pass);
      EXPECT_EQ(idle(1, true), (stages - 1) * pass);
      EXPECT_EQ(idle(2, true), 0);
    }
}

TEST(PipelineSchedule, DefersGradientsOfWeights) {
  const TestGraph g = withWeights(3);
  const Strategy strategy = inStages(g.graph, 4);
  auto of = [&](int ahead, const char *names) {
    return textOf(turnsOf(g.graph, strategy, {4, ahead, true}, false), g.graph,
                  names);
  };
  EXPECT_EQ(of(1, "f2 a2 b2"), "f2.0 a2.0 f2.1 a2.1 f2.2 a2.2 b2.0 f2.3 a2.3 "
                               "b2.1 b2.2 b2.3");
  EXPECT_EQ(of(1, "f1 a1 b1"), "f1.0 f1.1 a1.0 f1.2 a1.1 b1.0 f1.3 a1.2 b1.1 "
                               "a1.3 b1.2 b1.3");
  for (int ahead : {1, 2}) {
    std::map<int, int> now, most;
    for (const Turn &turn :
         turnsOf(g.graph, strategy, {4, ahead, true}, false)) {
      const std::string &name = g.graph.op(turn.op).name;
      const int stage = std::stoi(name.substr(1));
      now[stage] += name[0] == 'f' ? 1 : name[0] == 'b' ? -1 : 0;
      most[stage] = std::max(most[stage], now[stage]);
    }
    for (int stage = 0; stage < 3; ++stage)
      EXPECT_EQ(most[stage], ahead == 1 ? 3 : 4) << "of 2 s - 1 at most 4";
  }
}

/// Megatron-LM, 2021, section 2.2.2: with v stages on each of p devices the
/// time to fill and to drain is a v-th of (p - 1) times a micro-batch's.
TEST(PipelineSchedule, InterleavesStages) {
  for (int devices : {2, 4})
    for (int rounds : {2, 3})
      for (int microBatches : {devices, 2 * devices, 4 * devices}) {
        const TestGraph g = uniform(devices * rounds);
        Strategy strategy = inStages(g.graph, microBatches);
        for (Configuration &config : strategy)
          for (DeviceId &device : config.devices)
            device %= devices;
        const Topology topology = free(devices, false);
        const CostModel cost(topology);
        const PipelineSchedule schedule{microBatches, 1};
        const Program program =
            planProgram(g.graph, strategy, devices, cost, schedule);
        EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology),
                  std::nullopt);
        const Picoseconds product = 1000 * 2 * 8 * 8 * kSamples / microBatches;
        EXPECT_EQ(timeProgram(g.graph, strategy, program, cost).makespan,
                  3 * product * (rounds * microBatches + devices - 1))
            << devices << " devices, " << rounds << " rounds, " << microBatches
            << " micro-batches";
      }
}

/// A micro-batch's gradient is added to the sum of those before, in its buffer,
/// which the kernel reads as well.
TEST(PipelineSchedule, AddsGradientsUpWhereTheyAre) {
  TestGraph g;
  const ValueId x = g.input("x", {kSamples, 8});
  const ValueId y = g.product("f0", x, g.state("w", {8, 8}));
  g.output("grad/w", g.outer("b0", x, y, "f0"));
  const Topology topology = free(1, false);
  const CostModel cost(topology);
  std::vector<int64_t> bytes;
  for (int microBatches : {1, 4}) {
    Strategy strategy = inStages(g.graph, microBatches);
    strategy[1].axes[0].dim = 2; // the samples of the gradient
    const Program program =
        planProgram(g.graph, strategy, 1, cost, {microBatches, 1});
    EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology),
              std::nullopt);
    int adding = 0;
    for (const Action &action : program.devices[0].actions) {
      EXPECT_FALSE(action.is<CopyAction>());
      const auto *kernel = action.as<KernelAction>();
      if (!kernel || kernel->addsTo.empty())
        continue;
      ++adding;
      const auto work =
          workOf(g.graph, strategy, program.devices[0], action, true);
      EXPECT_EQ(work->bytes, 4 * (2 * kSamples / microBatches * 8 + 2 * 8 * 8));
      EXPECT_EQ(work->key, "outer() f32[4,8] f32[4,8] -> f32[8,8] +0");
    }
    EXPECT_EQ(adding, microBatches - 1);
    bytes.push_back(program.devices[0].stateBytes);
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

/// What needs all samples comes when all are there: here a halo reaches into
/// the next micro-batch.
TEST(PipelineSchedule, WaitsForWhatReachesFurther) {
  TestGraph g;
  const ValueId x = g.input("x", {kSamples, 8});
  const ValueId y = g.product("y", x, g.state("w", {8, 8}));
  g.output("out/z", g.window("z", y));
  const Strategy strategy(2, Configuration{{{0, 4}}, {0, 0, 0, 0}});
  const std::vector<Turn> turns = turnsOf(g.graph, strategy, {4, 1}, false);
  EXPECT_EQ(textOf(turns, g.graph, "y z"), "y.0 y.1 y.2 y.3 z.0");
  EXPECT_EQ(turns.back().parts, 1);
}

/// Neighbours who share a product complete its sums before they send them, so
/// that the next stage need not take part when it is busy.
TEST(PipelineSchedule, CompletesSumsBeforeTheyAreSent) {
  TestGraph g;
  const ValueId x = g.input("x", {64, 64});
  const ValueId y = g.product("f0", x, g.state("w0", {64, 64}));
  g.product("f1", y, g.state("w1", {64, 64}));
  const Topology topology = parse(
      "kinds: {k: {target: cpu, flops: {f32: 1 GFLOP/s}, memory: {size: 1 GB, "
      "bandwidth: 1 GB/s}, launch: 0 s, overlap: true}}\ndevices: 4 x k\n"
      "interconnect: {type: switch, bandwidth: 1 GB/s, latency: 0 s}\n");
  const CostModel cost(topology);
  // Rows, columns, and what is added up.
  const Strategy strategy = {{{{0, 4}, {2, 2}}, {0, 1, 0, 1, 0, 1, 0, 1}},
                             {{{0, 4}, {1, 2}}, {2, 3, 2, 3, 2, 3, 2, 3}}};
  const Program program =
      planProgram(g.graph, strategy, 4, cost, PipelineSchedule{4, 1});
  EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology), std::nullopt);
  auto textOf = [&](DeviceId device) {
    std::string text;
    for (const Action &action : program.devices[device].actions)
      text += action.is<KernelAction>()       ? "k"
              : action.is<CollectiveAction>() ? "r"
              : action.is<ExchangeAction>()   ? "m"
                                              : "";
    return text;
  };
  EXPECT_EQ(textOf(0), "krmkrmkrmkrm");
  EXPECT_EQ(textOf(2), "mkmkmkmk");
}

} // namespace
