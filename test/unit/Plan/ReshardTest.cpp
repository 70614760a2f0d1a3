//===- ReshardTest.cpp - messages between layouts -------------------------===//

#include "ffc/Plan/Reshard.h"

#include "TestTopology.h"

#include "gtest/gtest.h"

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// Rows of 12 columns, of which `columns`.
Region columns(std::vector<Interval> columns) {
  return Region({{{0, 4}}, std::move(columns)});
}

struct ReshardTest : ::testing::Test {
  ReshardTest() : cost(ranks(3)) {}

  void hold(DeviceId device, Region region) {
    holdings.add({device, std::move(region), MemoryOrder::RowMajor, 0});
  }
  std::vector<TransferStep> transfers(Region target) {
    Need need{2, std::move(target), MemoryOrder::RowMajor};
    return planReshard(holdings, {}, {need}, {{4, 12}, ElementType::F32}, cost)
        .transfers;
  }

  CostModel cost;
  Holdings holdings;
};

/// As after a reshape: every holder has a part of every interval.
TEST_F(ReshardTest, OneMessageForAllIntervals) {
  hold(0, columns({{0, 6}}));
  hold(1, columns({{6, 12}}));
  const std::vector<TransferStep> steps =
      transfers(columns({{0, 2}, {3, 5}, {6, 8}, {9, 11}}));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].region, columns({{0, 2}, {3, 5}}));
  EXPECT_EQ(steps[1].region, columns({{6, 8}, {9, 11}}));
  for (const TransferStep &step : steps)
    EXPECT_TRUE(step.packed && step.unpacked);
}

TEST_F(ReshardTest, IntervalsOfTheHolderToo) {
  hold(0, columns({{0, 2}, {4, 6}, {8, 10}}));
  hold(1, columns({{2, 4}, {6, 8}, {10, 12}}));
  const std::vector<TransferStep> steps = transfers(columns({{0, 12}}));
  ASSERT_EQ(steps.size(), 2u);
  for (const TransferStep &step : steps) {
    EXPECT_EQ(step.region, holdings[step.holding].region);
    EXPECT_TRUE(!step.packed && step.unpacked);
  }
}

/// What another holder has sent already does not come twice.
TEST_F(ReshardTest, BoxesWhereHoldersOverlap) {
  hold(0, columns({{0, 7}}));
  hold(1, columns({{5, 12}}));
  const std::vector<TransferStep> steps = transfers(columns({{0, 3}, {6, 9}}));
  int64_t volume = 0;
  for (const TransferStep &step : steps) {
    volume += step.region.volume();
    for (const TransferStep &other : steps)
      EXPECT_TRUE(&step == &other ||
                  step.region.intersect(other.region).empty());
  }
  EXPECT_EQ(volume, 4 * 6);
}

/// Two neighbours have all of it, two of the next stage want it.
TEST_F(ReshardTest, MessagesWhereACollectiveWouldMakeAllWait) {
  const Topology topology = parse(
      "kinds: {k: {target: cpu, flops: {f32: 1 GFLOP/s}, memory: {size: 1 GB, "
      "bandwidth: 1 TB/s}, launch: 0 s, overlap: true}}\ndevices: 16 x k\n"
      "interconnect: {type: switch, bandwidth: 1 GB/s, latency: 0 s}\n");
  const CostModel fast(topology);
  const TensorType type{{1024, 1024}, ElementType::F32};
  const Region whole(Box::whole(type.shape));
  hold(0, whole);
  hold(1, whole);
  std::vector<Need> needs = {{2, whole, MemoryOrder::RowMajor},
                             {3, whole, MemoryOrder::RowMajor}};
  EXPECT_FALSE(
      planReshard(holdings, {}, needs, type, fast).collectives.empty());
  const ReshardPlan sent = planMessages(holdings, {}, needs, type, fast);
  EXPECT_TRUE(sent.collectives.empty());
  ASSERT_EQ(sent.transfers.size(), 2u);
  EXPECT_NE(sent.transfers[0].holding, sent.transfers[1].holding);
  // From one holder it takes so much longer that all may as well wait.
  holdings = {};
  hold(0, whole);
  for (DeviceId device = 4; device < 16; ++device)
    needs.push_back({device, whole, MemoryOrder::RowMajor});
  EXPECT_FALSE(
      planMessages(holdings, {}, needs, type, fast).collectives.empty());
}

} // namespace
