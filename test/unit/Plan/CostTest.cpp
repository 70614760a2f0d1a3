//===- CostTest.cpp - how long kernels and transfers take -----------------===//

#include "ffc/Plan/Cost.h"

#include "TestTopology.h"

#include <gtest/gtest.h>

using namespace ffc::plan;
using ffc::plan::testing::parse;

namespace {

constexpr CollectiveKind kCollectives[] = {
    CollectiveKind::AllReduce, CollectiveKind::AllGather,
    CollectiveKind::ReduceScatter, CollectiveKind::Broadcast};

/// Figures that make expected values easy: 1 GFLOP/s, 2 GB/s memory, 1 us
/// launch, and 1 GB/s and 10 us between any two of four devices.
Topology four(const std::string &target = "cpu") {
  return parse("kinds:\n  k:\n    target: " + target + R"(
    flops: {f32: 1 GFLOP/s}
    memory: {size: 1 GB, bandwidth: 2 GB/s}
    launch: 1 us
    overlap: false
devices: 4 x k
interconnect: {type: switch, bandwidth: 1 GB/s, latency: 10 us}
)");
}

/// Nodes of two devices; two microseconds between them, eight to others.
Topology pairs(int numNodes = 2, int nics = 1) {
  return parse("nodes:\n  count: " + std::to_string(numNodes) + R"(
  devices: 2 x p100
  interconnect: {type: switch, bandwidth: 100 GB/s, latency: 2 us}
  nic: {bandwidth: 1 GB/s, latency: 4 us, count: )" +
               std::to_string(nics) + "}\n");
}

/// 0, step, 2 step...
std::vector<DeviceId> devices(int count, int step = 1) {
  std::vector<DeviceId> all;
  for (int i = 0; i < count; ++i)
    all.push_back(i * step);
  return all;
}

constexpr Picoseconds kMicrosecond = 1'000'000;

TEST(Cost, KernelIsTheLargerOfComputeAndMemory) {
  const CostModel cost(four());
  EXPECT_EQ(cost.kernel(0, 0, 0, Arithmetic::F32), kMicrosecond);
  EXPECT_EQ(cost.kernel(0, 3000, 4000, Arithmetic::F32), 4 * kMicrosecond);
  EXPECT_EQ(cost.kernel(0, 1000, 4000, Arithmetic::F32), 3 * kMicrosecond);
  // f64 runs at half the rate of f32 if the file does not say.
  EXPECT_EQ(cost.kernel(0, 3000, 4000, Arithmetic::F64), 7 * kMicrosecond);
  // Every part starts when the one before has ended.
  EXPECT_EQ(cost.kernel(0, 3000, 4000, Arithmetic::F32, 3), 6 * kMicrosecond);
}

TEST(Cost, CopyReadsAndWrites) {
  EXPECT_EQ(CostModel(four()).copy(1, 3000), 4 * kMicrosecond);
}

TEST(Cost, TransferIsLatencyPlusBandwidth) {
  const CostModel cost(four());
  EXPECT_EQ(cost.transfer(0, 3, 5000), 15 * kMicrosecond);
  EXPECT_EQ(cost.transfer(0, 3, 0), 10 * kMicrosecond);
  EXPECT_EQ(cost.transfer(2, 2, 3000), cost.copy(2, 3000));
}

TEST(Cost, RingCollectives) {
  const CostModel cost(four("cuda"));
  const std::vector<DeviceId> all = devices(4), two = {1, 3};
  // Each hop carries 3/4 of the buffer per phase, in 3 steps.
  EXPECT_EQ(cost.collective(CollectiveKind::AllGather, all, 4000),
            (30 + 3) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::ReduceScatter, all, 4000),
            (30 + 3) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, all, 400'000),
            2 * (30 + 300) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::Broadcast, all, 400'000),
            (30 + 400) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, two, 4000),
            2 * (10 + 2) * kMicrosecond);
  for (CollectiveKind kind : kCollectives)
    EXPECT_EQ(cost.collective(kind, {2}, 4000), 0);
}

TEST(Cost, SmallMessagesGoUpAndDownATree) {
  const CostModel cost(four("cuda"));
  const auto all = devices(4);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, all, 4000),
            2 * (2 * 10 + 4) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::Broadcast, all, 4000),
            2 * (10 + 4) * kMicrosecond);
}

TEST(Cost, CPUsOfANodeShareMemory) {
  const CostModel cost(four());
  const auto all = devices(4);
  EXPECT_EQ(cost.collective(CollectiveKind::AllGather, all, 4000),
            (10 + 3) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::ReduceScatter, all, 4000),
            (10 + 3) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::Broadcast, all, 4000),
            (10 + 4) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, all, 400'000),
            2 * (10 + 300) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, all, 4000),
            (10 + 12) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, {1}, 4000), 0);
  auto algorithm = [&](CollectiveKind kind, int64_t bytes) {
    return CostModel::choose(kind, (*cost.paths({all}))[0], bytes).algorithm;
  };
  // All members together have 16 KiB for what is done in one shot.
  EXPECT_EQ(algorithm(CollectiveKind::AllReduce, 4096),
            CollectiveAlgorithm::OneShot);
  EXPECT_EQ(algorithm(CollectiveKind::AllReduce, 4097),
            CollectiveAlgorithm::TwoShot);
  EXPECT_EQ(algorithm(CollectiveKind::Broadcast, 1 << 20),
            CollectiveAlgorithm::OneShot);
  // Not those of several nodes, and not GPUs.
  const CostModel gpus(four("cuda"));
  EXPECT_EQ(
      CostModel::choose(CollectiveKind::AllReduce, (*gpus.paths({all}))[0], 4)
          .algorithm,
      CollectiveAlgorithm::Library);
}

TEST(Cost, TwoLevelsWhereNodesAreAlike) {
  const CostModel cost(pairs());
  // Within the nodes 2 us and half of 4000 B at 100 GB/s; across, two rings
  // through one NIC, each with half of its 2000 B.
  EXPECT_EQ(cost.collective(CollectiveKind::AllGather, {0, 1, 2, 3}, 4000),
            (2 + 8 + 2) * kMicrosecond + kMicrosecond / 50);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, {0, 1, 2, 3}, 4000),
            2 * ((2 + 8 + 2) * kMicrosecond + kMicrosecond / 50));
  // As many NICs as devices, and each ring has its own.
  const CostModel rails(pairs(2, 2));
  EXPECT_EQ(rails.collective(CollectiveKind::AllGather, {0, 1, 2, 3}, 4000),
            (2 + 8 + 1) * kMicrosecond + kMicrosecond / 50);
}

TEST(Cost, TreesAcrossManyNodes) {
  const CostModel cost(pairs(16, 2));
  const auto all = devices(32), ofEachNode = devices(16, 2);
  // Four hops of 8 us in place of fifteen; 15/16 of the bytes either way.
  EXPECT_EQ(cost.collective(CollectiveKind::AllGather, ofEachNode, 16000),
            (4 * 8 + 15) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::ReduceScatter, ofEachNode, 16000),
            (4 * 8 + 15) * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, ofEachNode, 1000),
            2 * (4 * 8 + 1) * kMicrosecond);
  // Within the nodes 2 us and half of 2000 B at 100 GB/s, twice.
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, all, 2000),
            2 * (2 + 4 * 8 + 1) * kMicrosecond + kMicrosecond / 50);
}

TEST(Cost, RingIsAsSlowAsItsSlowestHop) {
  const CostModel cost(pairs());
  // Two members in one node, one in the other: no two levels.
  EXPECT_EQ(cost.collective(CollectiveKind::AllGather, {0, 1, 2}, 3000),
            (2 * 8 + 2) * kMicrosecond);
}

TEST(Cost, GroupsAtOnceShareLinks) {
  const CostModel cost(pairs());
  // Two pairs across the nodes: both go through the same NICs.
  auto alone = cost.paths({{0, 2}}), both = cost.paths({{0, 2}, {1, 3}});
  EXPECT_EQ(
      CostModel::choose(CollectiveKind::AllGather, (*alone)[0], 4000).time,
      (8 + 2) * kMicrosecond);
  for (const CostModel::Paths &paths : *both)
    EXPECT_EQ(CostModel::choose(CollectiveKind::AllGather, paths, 4000).time,
              (8 + 4) * kMicrosecond);
}

TEST(Cost, ExchangesShareLinks) {
  const CostModel cost(pairs());
  using Times = std::vector<std::pair<DeviceId, Picoseconds>>;
  EXPECT_EQ(cost.exchange({{0, 2, 1000}, {2, 0, 3000}}),
            (Times{{0, 11 * kMicrosecond}, {2, 11 * kMicrosecond}}));
  // One after the other where they leave, or where they go through one NIC.
  EXPECT_EQ(cost.exchange({{0, 2, 1000}, {0, 3, 1000}}),
            (Times{{0, 18 * kMicrosecond},
                   {2, 10 * kMicrosecond},
                   {3, 10 * kMicrosecond}}));
  EXPECT_EQ(cost.exchange({{0, 2, 1000}, {1, 3, 3000}}),
            (Times{{0, 12 * kMicrosecond},
                   {1, 12 * kMicrosecond},
                   {2, 12 * kMicrosecond},
                   {3, 12 * kMicrosecond}}));
  EXPECT_TRUE(cost.exchange({}).empty());
}

TEST(Cost, RingHopsShareTheLinksTheyCross) {
  // A chain: the hop from the last device to the first crosses all links
  // backwards, and no link carries two hops in one direction.
  const char *chain = R"(
devices: [{name: a, kind: p100}, {name: b, kind: p100}, {name: c, kind: p100}]
links:
  - {between: [a, b], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [b, c], bandwidth: 1 GB/s, latency: 1 us}
)";
  const CostModel cost(parse(chain));
  EXPECT_EQ(cost.collective(CollectiveKind::Broadcast, {0, 1, 2}, 1000),
            (2 * 2 + 1) * kMicrosecond);
}

TEST(Cost, MonotoneInBytes) {
  const CostModel cost(four());
  const auto all = devices(4);
  for (CollectiveKind kind : kCollectives)
    for (int64_t bytes : {0LL, 1LL, 1000LL, 4'194'303LL, 999'999'999LL})
      for (int64_t more = bytes; more < bytes + 50; ++more) {
        EXPECT_LE(cost.collective(kind, all, more),
                  cost.collective(kind, all, more + 1));
        EXPECT_LE(cost.transfer(0, 1, more), cost.transfer(0, 1, more + 1));
        EXPECT_LE(cost.copy(0, more), cost.copy(0, more + 1));
      }
}

TEST(Cost, LargeAmountsDoNotOverflow) {
  const CostModel cost(four());
  constexpr int64_t kPetabyte = 1'000'000'000'000'000;
  const auto all = devices(4);
  EXPECT_EQ(cost.transfer(0, 1, kPetabyte),
            kPetabyte * 1000 + 10 * kMicrosecond);
  for (CollectiveKind kind : kCollectives) {
    EXPECT_GT(cost.collective(kind, all, kPetabyte), kPetabyte / 2 * 1000);
    EXPECT_LE(cost.collective(kind, all, kPetabyte), kMaxCost);
    EXPECT_EQ(cost.collective(kind, all, INT64_MAX), kMaxCost);
  }
  EXPECT_EQ(cost.transfer(0, 1, INT64_MAX), kMaxCost);
  EXPECT_EQ(cost.copy(0, INT64_MAX), kMaxCost);
  EXPECT_EQ(cost.kernel(0, 1e300, INT64_MAX, Arithmetic::F32), kMaxCost);
  EXPECT_EQ(cost.kernel(0, 0, 0, Arithmetic::F32, INT64_MAX), kMaxCost);
}

TEST(Cost, ManyLatenciesDoNotOverflow) {
  const CostModel cost(
      parse("devices: 1024 x p100\n"
            "interconnect: {type: ring, bandwidth: 1 B/s, latency: 1 s}"));
  const auto even = devices(512, 2);
  EXPECT_EQ(cost.collective(CollectiveKind::AllGather, even, 0),
            511 * 2'000'000'000'000);
  EXPECT_LE(cost.collective(CollectiveKind::AllReduce, even, 1 << 30),
            kMaxCost);
}

TEST(Cost, LargeGroupsAreRemembered) {
  const CostModel cost(parse(R"(
nodes:
  count: 128
  devices: 8 x h200
  interconnect: {type: switch, bandwidth: 450 GB/s, latency: 2 us}
  nic: {count: 8, bandwidth: 50 GB/s, latency: 3 us}
)"));
  const auto all = devices(1024);
  const Picoseconds first =
      cost.collective(CollectiveKind::AllReduce, all, 1 << 20);
  for (int i = 0; i < 10000; ++i)
    ASSERT_EQ(cost.collective(CollectiveKind::AllReduce, all, 1 << 20), first);
}

} // namespace
