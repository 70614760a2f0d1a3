//===- VerifierTest.cpp - planted faults and random plans -----------------===//

#include "ffc/Plan/Verifier.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Timing.h"

#include "gtest/gtest.h"

#include <stdexcept>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// With little latency, so that there are collectives.
Topology fast(int count) { return ranks(count, "10 GB/s", "1 ns"); }

/// A plan that can be damaged before it is verified.
struct Plan {
  Plan(Graph g, Strategy s, const Topology &on)
      : graph(std::move(g)), strategy(std::move(s)), topology(on),
        cost(topology),
        program(planProgram(graph, strategy, on.numDevices(), cost)) {}

  std::string verify() const {
    return verifyProgram(graph, strategy, program, topology).value_or("");
  }
  /// The first action of a kind on `device`, of which there must be one.
  template <class Kind> Kind &first(DeviceId device) {
    for (Action &action : program.devices[device].actions)
      if (auto *found = action.as<Kind>())
        return *found;
    throw std::logic_error("no such action");
  }

  Graph graph;
  Strategy strategy;
  Topology topology;
  CostModel cost;
  Program program;
};

/// p1 split over samples, the window by rows (halo), p2 split over samples, so
/// that the gradient of w2 is summed over both devices.
Plan dataParallelPlan() {
  TestGraph g = trainingGraph();
  std::vector<std::optional<Configuration>> given(g.graph.ops.size());
  for (OpId op : {0, 1, 2})
    given[op] = Configuration{{{0, 2}}, {0, 1}};
  Strategy strategy = completeStrategy(g.graph, given);
  return Plan(g.graph, strategy, fast(2));
}

/// Data parallelism with the gradients of two layers in one batch.
Plan batchedPlan() {
  TestGraph g = stack(2);
  std::vector<std::optional<Configuration>> given(g.graph.ops.size());
  for (OpId op : {0, 1})
    given[op] = Configuration{{{0, 2}}, {0, 1}};
  Strategy strategy = completeStrategy(g.graph, given);
  return Plan(g.graph, strategy, overlapping(2, "1 ms"));
}

TEST(Verifier, Batches) {
  Plan plan = batchedPlan();
  ASSERT_EQ(plan.program.batches.size(), 1u);
  EXPECT_EQ(plan.verify(), "");

  Program::Batch &batch = plan.program.batches[0];
  batch.bytes += 4;
  EXPECT_EQ(plan.verify(), "device 0: batch 0: has 1536 bytes, expected 1540");
  batch.bytes -= 4;
  auto &reshard = std::get<TaskId::Reshard>(batch.first.what);
  ++reshard.value;
  EXPECT_EQ(plan.verify(), "device 0: batch 0: begins with 'p2.backward', "
                           "expected the task it is known by");
  --reshard.value;

  std::vector<Action> &actions = plan.program.devices[0].actions;
  CollectiveAction *last = nullptr;
  for (Action &action : actions)
    if (auto *collective = action.as<CollectiveAction>())
      last = collective;
  ASSERT_TRUE(last);
  EXPECT_EQ(last->batch, 0);
  last->combine = Reduction::Max;
  EXPECT_EQ(plan.verify(),
            "device 0: batch 0: 'p1.backward' is of another kind, "
            "group or type than 'p2.backward'");
  last->combine = Reduction::Sum;
  last->batch = -1;
  CollectiveAction late = *last;
  late.src = late.dst = plan.program.devices[0].states[0].buffer;
  late.batch = 0;
  actions.back().what = late;
  EXPECT_EQ(plan.verify(), "device 0: batch 0: has 1024 bytes, expected 1536");
  batch.bytes = 1024;
  EXPECT_EQ(plan.verify(), "device 0: batch 0: '" + actions.back().name +
                               "' does not follow the others");
}

TEST(Verifier, MicroBatches) {
  TestGraph g = trainingGraph();
  g.graph.microBatches = 2;
  std::vector<std::optional<Configuration>> given(g.graph.ops.size());
  for (OpId op : {0, 1, 2})
    given[op] = Configuration{{{0, 2}}, {0, 1}};
  Plan plan(g.graph, completeStrategy(g.graph, given), fast(2));
  EXPECT_EQ(plan.verify(), "");

  // The sums are still partial when they are added up.
  DeviceProgram &device = plan.program.devices[0];
  auto at = std::find_if(device.actions.begin(), device.actions.end(),
                         [](const Action &a) {
                           const auto *copy = a.as<CopyAction>();
                           return copy && copy->accumulates;
                         });
  ASSERT_NE(at, device.actions.end());
  EXPECT_LT(at - device.actions.begin(), device.microBatchActions);
  auto *mean = at->as<CopyAction>();
  EXPECT_EQ(device.buffers[mean->dst].section, Section::State);
  EXPECT_TRUE(std::none_of(
      device.actions.begin(), device.actions.begin() + device.microBatchActions,
      [](const Action &a) { return a.is<CollectiveAction>(); }));

  mean->accumulates = false;
  EXPECT_EQ(
      plan.verify(),
      "device 0, task p2.backward#0@6.-3 (p2.backward.mean): writes state "
      "'p2.backward.mean' in a micro-batch, expected after the last one");
  mean->accumulates = true;
  const int microBatchActions = device.microBatchActions;
  device.microBatchActions = 0;
  EXPECT_EQ(
      plan.verify(),
      "device 0, task p2.backward#0@6.-3 (p2.backward.mean): adds "
      "'p2.backward' up over the micro-batches in 'p2.backward.mean', expected "
      "in a micro-batch and in the state");
  device.microBatchActions = static_cast<int>(device.actions.size());
  EXPECT_EQ(
      plan.verify(),
      "device 0, task w2.update#0@0.0 (w2.update): writes state 'w2' in a "
      "micro-batch, expected after the last one");
  device.microBatchActions = microBatchActions;
}

TEST(Verifier, AcceptsDataParallelPlan) {
  Plan plan = dataParallelPlan();
  EXPECT_EQ(plan.verify(), "");
  EXPECT_GT(
      timeProgram(plan.graph, plan.strategy, plan.program, plan.cost).makespan,
      0);
}

/// Whatever runs gets what it takes.
TEST(Verifier, OperandsOfKernels) {
  Plan plan = dataParallelPlan();
  auto &kernel = plan.first<KernelAction>(0);
  const BufferId x = kernel.ins[0], y = kernel.outs[0];
  Buffer &result = plan.program.devices[0].buffers[y];

  kernel.outs[0] = -1;
  EXPECT_EQ(plan.verify(), "device 0, task p1#0@0.0 (p1): writes nothing in "
                           "slot 2 of 'product', expected a buffer");
  kernel.outs[0] = y;

  kernel.ins[0] = -1;
  EXPECT_EQ(plan.verify(), "device 0, task p1#0@0.0 (p1): reads nothing in "
                           "slot 0 of 'product', expected a buffer");
  const BufferId w = kernel.ins[1];
  kernel.ins = {x};
  EXPECT_EQ(plan.verify(), "device 0, task p1#0@0.0 (p1): has 1 operands and 1 "
                           "results, expected 2 and 1");
  kernel.ins = {x, w};
  EXPECT_EQ(plan.verify(), "");
  // The graph has no such operand.
  ValueId &operand = plan.graph.ops[0].operands[1];
  const ValueId was = std::exchange(operand, -1);
  EXPECT_EQ(plan.verify(), "device 0, task p1#0@0.0 (p1): reads 'w1' in slot 1 "
                           "of 'product', expected nothing");
  operand = was;

  result.type = ElementType::I32;
  EXPECT_EQ(plan.verify(), "device 0, task p1#0@0.0 (p1): writes 'p1' of i32 "
                           "[0:12, 0:8], expected f32 [0:12, 0:8]");
  result.type = ElementType::F32;
  result.global.insert(result.global.begin(), 1);
  EXPECT_EQ(plan.verify(), "device 0, task p1#0@0.0 (p1): writes 'p1' of f32 "
                           "[0:1, 0:12, 0:8], expected f32 [0:12, 0:8]");
  result.global.erase(result.global.begin());
  result.order = MemoryOrder::ChannelsLast;
  EXPECT_EQ(plan.verify(),
            "device 0, task p1#0@0.0 (p1): writes 'p1' in channels-last order, "
            "expected row-major");
  result.order = MemoryOrder::Pitched;
  EXPECT_EQ(plan.verify(),
            "device 0, task p1#0@0.0 (p1): writes 'p1' in pitched order, "
            "expected row-major");
  result.order = MemoryOrder::RowMajor;
  EXPECT_EQ(plan.verify(), "");
}

TEST(Verifier, DroppedAllReduce) {
  Plan plan = dataParallelPlan();
  for (DeviceProgram &device : plan.program.devices)
    for (size_t i = 0; i < device.actions.size(); ++i)
      // In its place nothing is exchanged, so that indices of events hold.
      if (device.actions[i].is<CollectiveAction>())
        device.actions[i].what = ExchangeAction();
  EXPECT_EQ(plan.verify(),
            "device 1, task -#0@0.0 (grad/w2): offers [0:8, 0:6] of "
            "'p2.backward' as output 'grad/w2', expected all of 'p2.backward' "
            "there");
  // Who asks for no gradients still has them updated with.
  for (DeviceProgram &device : plan.program.devices)
    for (Action &action : device.actions)
      if (action.is<ProbeAction>())
        action.what = ExchangeAction();
  EXPECT_EQ(plan.verify(),
            "device 1, task w2.update#0@1.0 (w2.update): reads 'p2.backward' "
            "[0:8, 0:6], found 1 of 2 partial results");
}

TEST(Verifier, OutputIsOffered) {
  Plan plan = dataParallelPlan();
  for (DeviceProgram &device : plan.program.devices)
    for (Action &action : device.actions)
      if (auto *probe = action.as<ProbeAction>())
        if (probe->output == "grad/w2")
          action.what = ExchangeAction();
  EXPECT_EQ(plan.verify(),
            "output 'grad/w2' of [0:8, 0:6] is not offered as a whole");
  plan.first<ProbeAction>(0).output = "nothing";
  EXPECT_EQ(plan.verify(), "device 0, task -#0@0.0 (out/y): offers 'nothing', "
                           "which is no output");
}

TEST(Verifier, MissingWait) {
  // A message is read before it is there, a sum while it is under way.
  for (bool ofCollective : {false, true}) {
    Plan plan = dataParallelPlan();
    auto &actions = plan.program.devices[0].actions;
    for (Action &action : actions)
      if (auto *wait = action.as<WaitAction>();
          wait && actions[wait->event].is<CollectiveAction>() == ofCollective)
        action.what = ExchangeAction();
    EXPECT_EQ(plan.verify(),
              ofCollective ? "device 0, task -#0@0.0 (grad/w2): touches "
                             "'p2.backward' while communication with it is "
                             "under way"
                           : "device 0, task s#0@3.1 (p1): touches "
                             "'p1.receive' while communication with it is "
                             "under way");
  }
}

TEST(Verifier, MissingLastWait) {
  Plan plan = dataParallelPlan();
  DeviceProgram &from = plan.program.devices[0], &to = plan.program.devices[1];
  const BufferId sent = from.states[0].buffer;
  const auto received = static_cast<BufferId>(to.buffers.size());
  to.buffers.push_back(from.buffers[sent]);
  to.buffers.back().section = Section::Arena;
  to.buffers.back().offset = to.arenaBytes;
  to.arenaBytes += to.buffers.back().bytes;
  const TaskId task{0, 0, TaskId::Reshard{}};
  const auto event = static_cast<int>(from.actions.size());
  from.actions.push_back({task, "last", ExchangeAction{9, {{1, sent}}, {}}});
  to.actions.push_back({task, "last", ExchangeAction{9, {}, {{0, received}}}});
  to.actions.push_back(
      {task, "last", WaitAction{static_cast<int>(to.actions.size()) - 1}});
  EXPECT_EQ(plan.verify(),
            "device 0, task p1#0@0.1 (last): is never waited for");
  from.actions.push_back({task, "last", WaitAction{event}});
  EXPECT_EQ(plan.verify(), "");
}

TEST(Verifier, WrongHalo) {
  Plan plan = dataParallelPlan();
  bool shifted = false;
  for (Action &action : plan.program.devices[0].actions)
    if (auto *copy = action.as<CopyAction>();
        copy && copy->dstAt[0] > 0 && !shifted) {
      --copy->dstAt[0];
      shifted = true;
    }
  ASSERT_TRUE(shifted);
  EXPECT_EQ(plan.verify(),
            "device 0, task s#0@3.1 (p1): copies [6:7, 0:8] of 'p1.receive' to "
            "[5:6, 0:8] of 'p1.2'");
}

TEST(Verifier, SendWithoutReceive) {
  Plan plan = dataParallelPlan();
  plan.first<ExchangeAction>(1).receives.clear();
  EXPECT_EQ(plan.verify(),
            "device 1, task s#0@3.1 (p1): copies [5:6, 0:8] of 'p1.receive', "
            "which was not written");
}

TEST(Verifier, ReceiveWithoutSend) {
  Plan plan = dataParallelPlan();
  plan.first<ExchangeAction>(1).sends.clear();
  EXPECT_EQ(plan.verify(),
            "device 0, task s#0@3.1 (p1): never goes on (deadlock)");
}

TEST(Verifier, OverlappingArenaRanges) {
  Plan plan = dataParallelPlan();
  auto &buffers = plan.program.devices[0].buffers;
  int64_t offset = -1;
  for (Buffer &buffer : buffers) {
    if (buffer.name == "x")
      offset = buffer.offset;
    if (buffer.name == "p1")
      buffer.offset = offset;
  }
  EXPECT_EQ(plan.verify(),
            "device 0: buffers 'p1' and 'x' share bytes while both are in use");
}

/// Two reductions over both devices, entered in different orders.
TEST(Verifier, CollectivesInDifferentOrder) {
  TestGraph g;
  ValueId x = g.input("x", {8, 8});
  ValueId w = g.state("w", {8, 64}), v = g.state("v", {8, 64});
  ValueId a = g.product("a", x, w), b = g.product("b", x, v);
  ValueId c = g.window("c", a), d = g.window("d", b);
  g.output("out/c", c);
  g.output("out/d", d);
  Configuration reduced{{{2, 2}}, {0, 1}}, copied{{{kReplica, 2}}, {0, 1}};
  Plan plan(g.graph, {reduced, reduced, copied, copied}, fast(2));
  ASSERT_EQ(plan.verify(), "");
  auto &actions = plan.program.devices[1].actions;
  std::vector<size_t> found;
  for (size_t i = 0; i < actions.size(); ++i)
    if (actions[i].is<CollectiveAction>())
      found.push_back(i);
  ASSERT_EQ(found.size(), 2u);
  std::swap(actions[found[0]].what, actions[found[1]].what);
  std::swap(actions[found[0]].name, actions[found[1]].name);
  EXPECT_EQ(plan.verify(), "device 1, task c#0@3.1 (b): enters another "
                           "collective than device 0 (a)");
}

TEST(Verifier, AlgorithmsOfCollectives) {
  TestGraph g;
  ValueId x = g.input("x", {8, 8}), w = g.state("w", {8, 512});
  ValueId a = g.product("a", x, w);
  g.output("out/b", g.window("b", a));
  const Configuration reduced{{{2, 2}}, {0, 1}},
      copied{{{kReplica, 2}}, {0, 1}};
  Plan plan(g.graph, {reduced, copied}, fast(2));
  ASSERT_EQ(plan.verify(), "");
  auto set = [&](CollectiveAlgorithm algorithm) {
    for (DeviceId device : {0, 1})
      plan.first<CollectiveAction>(device).algorithm = algorithm;
  };
  EXPECT_EQ(plan.first<CollectiveAction>(0).algorithm,
            CollectiveAlgorithm::TwoShot);
  set(CollectiveAlgorithm::OneShot);
  EXPECT_EQ(plan.verify(), "device 0: 'a' is to run one_shot: expected at most "
                           "8192 bytes, found 16384");
  set(CollectiveAlgorithm::TwoShot);
  plan.first<CollectiveAction>(1).algorithm = CollectiveAlgorithm::Library;
  EXPECT_EQ(plan.verify(), "device 1, task b#0@2.1 (a): enters another "
                           "collective than device 0 (a)");
  set(CollectiveAlgorithm::TwoShot);
  plan.first<CollectiveAction>(0).kind = CollectiveKind::Broadcast;
  EXPECT_EQ(plan.verify(), "device 0: 'a' is to run two_shot: expected another "
                           "kind of collective, found broadcast");
  plan.first<CollectiveAction>(0).kind = CollectiveKind::AllReduce;
  plan.topology = parse("devices: 2 x h200\n"
                        "interconnect: {type: switch, bandwidth: 10 GB/s, "
                        "latency: 1 us}\n");
  EXPECT_EQ(plan.verify(), "device 0: 'a' is to run two_shot: expected CPUs of "
                           "one node, found others");
}

TEST(Verifier, SchedulesOfCollectives) {
  TestGraph g;
  ValueId x = g.input("x", {8, 8}), w = g.state("w", {8, 512});
  ValueId a = g.product("a", x, w);
  g.output("out/b", g.window("b", a));
  const Configuration reduced{{{2, 3}}, {0, 1, 2}},
      copied{{{kReplica, 3}}, {0, 1, 2}};
  Plan plan(g.graph, {reduced, copied},
            parse("nodes:\n  count: 3\n  devices: 1 x cpu-core\n"
                  "  nic: {count: 1, bandwidth: 1 GB/s, latency: 1 us}\n"
                  "  network: {type: ring, bandwidth: 1 GB/s, latency: 1 us}"
                  "\n"));
  ASSERT_EQ(plan.verify(), "");
  ASSERT_EQ(plan.first<CollectiveAction>(0).algorithm,
            CollectiveAlgorithm::Schedule);
  ASSERT_FALSE(plan.program.schedules.empty());
  const auto good = plan.program.schedules;
  auto change = [&](auto how) {
    plan.program.schedules = good;
    CollectiveSchedule changed =
        *good[static_cast<size_t>(plan.first<CollectiveAction>(0).schedule)];
    how(changed);
    for (auto &schedule : plan.program.schedules)
      schedule = std::make_shared<const CollectiveSchedule>(changed);
    return plan.verify();
  };
  // No transfer can be left out.
  const size_t count = good[0]->transfers.size();
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(change([&](CollectiveSchedule &schedule) {
                schedule.transfers.erase(schedule.transfers.begin() +
                                         static_cast<std::ptrdiff_t>(i));
                schedule.reducing -= i < schedule.reducing;
              }).substr(0, 9),
              "schedule ")
        << i;
  EXPECT_EQ(change([](CollectiveSchedule &schedule) {
              schedule.transfers.clear();
              schedule.reducing = 0;
              schedule.members = 1;
            }),
            "schedule '" + good[0]->algorithm +
                "': expected 2 to 256 members, found 1");
  plan.program.schedules.clear();
  EXPECT_EQ(plan.verify(), "device 0: 'a' is to run schedule: expected one of "
                           "0 schedules, found 0");
  plan.program.schedules = good;
  for (DeviceId device : {0, 1, 2})
    plan.first<CollectiveAction>(device).kind = CollectiveKind::Broadcast;
  EXPECT_EQ(plan.verify(), "device 0: 'a' is to run schedule: expected another "
                           "kind of collective, found broadcast");
}

TEST(Verifier, TooLittleMemory) {
  Plan plan = dataParallelPlan();
  plan.program.devices[1].arenaBytes = int64_t(1) << 50;
  EXPECT_EQ(plan.verify().substr(0, 28), "device 1: plan needs 1125899");
}

/// Random legal strategies give programs that verify.
TEST(Verifier, RandomStrategies) {
  TestGraph g = trainingGraph();
  std::mt19937 random(20261121);
  for (int devices : {1, 2, 3, 4, 8})
    for (int trial = 0; trial < 200; ++trial) {
      Strategy strategy = randomStrategy(g.graph, devices, random);
      for (size_t op = 0; op < strategy.size(); ++op)
        ASSERT_FALSE(checkConfiguration(g.graph, static_cast<OpId>(op),
                                        strategy[op], devices));
      Plan plan(g.graph, strategy,
                trial % 2 ? overlapping(devices) : ranks(devices));
      ASSERT_EQ(plan.verify(), "") << "trial " << trial << "\n"
                                   << str(g.graph, strategy);
    }
}

} // namespace
