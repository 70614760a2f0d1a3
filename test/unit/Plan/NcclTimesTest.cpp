//===- NcclTimesTest.cpp - NCCL's collectives against measured ones -------===//

#include "ffc/Plan/Cost.h"

#include "TestTopology.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>

using namespace ffc::plan;
using ffc::plan::testing::load;
using ffc::plan::testing::parse;

namespace {

constexpr auto AllReduce = CollectiveKind::AllReduce,
               AllGather = CollectiveKind::AllGather,
               ReduceScatter = CollectiveKind::ReduceScatter;

/// Microseconds of all devices.
double microseconds(const Topology &topology, CollectiveKind kind,
                    int64_t bytes, bool switchesAdd) {
  CollectiveRules rules;
  rules.switchesAdd = switchesAdd;
  std::vector<DeviceId> all(topology.numDevices());
  std::iota(all.begin(), all.end(), 0);
  return static_cast<double>(
             CostModel(topology, nullptr, rules).collective(kind, all, bytes)) *
         1e-6;
}

struct Row {
  CollectiveKind kind;
  int nodes; ///< of eight H100
  int64_t bytes;
  double microseconds;
};

double errorOf(const Row &row, bool switchesAdd = true) {
  return microseconds(load("nvlink-ib:" + std::to_string(row.nodes)), row.kind,
                      row.bytes, switchesAdd) /
             row.microseconds -
         1;
}

constexpr int64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// Of AutoParallel's model (commit a54c252 of its repository), which was fitted
/// to runs of nccl-tests in which switches add up.
const Row kPublished[] = {
    {AllReduce, 1, 16 * KiB, 31.06},     {AllReduce, 1, 1 * MiB, 34.93},
    {AllReduce, 1, 16 * MiB, 93.84},     {AllReduce, 1, 1 * GiB, 4052.5},
    {AllReduce, 2, 16 * KiB, 26.61},     {AllReduce, 2, 1 * MiB, 62.5},
    {AllReduce, 2, 16 * MiB, 140.37},    {AllReduce, 2, 1 * GiB, 4079.03},
    {AllReduce, 4, 16 * KiB, 37.89},     {AllReduce, 4, 1 * MiB, 83.22},
    {AllReduce, 4, 16 * MiB, 254.56},    {AllReduce, 4, 1 * GiB, 6791.89},
    {AllGather, 1, 16 * KiB, 30.04},     {AllGather, 1, 1 * MiB, 32.66},
    {AllGather, 1, 16 * MiB, 72.58},     {AllGather, 1, 1 * GiB, 2755.23},
    {AllGather, 2, 16 * KiB, 27.24},     {AllGather, 2, 1 * MiB, 49.52},
    {AllGather, 2, 16 * MiB, 123.38},    {AllGather, 2, 1 * GiB, 3083.15},
    {ReduceScatter, 4, 16 * KiB, 55.64}, {ReduceScatter, 4, 1 * MiB, 84.29},
    {ReduceScatter, 4, 16 * MiB, 160.6}, {ReduceScatter, 4, 1 * GiB, 3259.09},
};

TEST(NcclTimes, AreThePublishedOnes) {
  double sum = 0;
  for (const Row &row : kPublished) {
    const double error = errorOf(row);
    EXPECT_LT(std::abs(error), 0.25) << str(row.kind) << " of " << row.bytes
                                     << " bytes, " << row.nodes << " nodes";
    sum += std::abs(error);
  }
  EXPECT_LT(sum / std::size(kPublished), 0.08);
}

TEST(NcclTimes, RingsGoAtThePublishedRate) {
  // 370 GB/s go round (nccl-tests counts 2 (n - 1) / n of the bytes), and 480
  // with sums in switches.
  const Topology node = load("h200x8");
  const double bytes = 8.0 * GiB, going = 2 * 7 / 8.0 * bytes * 1e-3;
  EXPECT_NEAR(going / microseconds(node, AllReduce, 8 * GiB, false), 370, 4);
  EXPECT_NEAR(going / microseconds(node, AllReduce, 8 * GiB, true), 480, 25);
}

TEST(NcclTimes, SwitchesOfOlderGPUsDoNotAdd) {
  const Topology node = parse(
      "devices: 8 x a100\n"
      "interconnect: {type: switch, bandwidth: 240 GB/s, latency: 2 us}\n");
  EXPECT_EQ(microseconds(node, AllReduce, GiB, false),
            microseconds(node, AllReduce, GiB, true));
}

TEST(NcclTimes, MoreBytesNeverTakeLess) {
  const CollectiveKind kinds[] = {AllReduce, AllGather, ReduceScatter,
                                  CollectiveKind::Broadcast};
  for (const char *name : {"h200x8", "h200x8:2", "h200x8:4", "a100-topoopt"}) {
    const CostModel cost(load(name));
    for (std::vector<DeviceId> members :
         {std::vector<DeviceId>{0, 1}, {0, 1, 2, 3, 4, 5, 6, 7}})
      for (CollectiveKind kind : kinds) {
        Picoseconds before = 0;
        for (double bytes = 1; bytes < 1e11; bytes *= 1.07) {
          const Picoseconds time =
              cost.collective(kind, members, static_cast<int64_t>(bytes));
          EXPECT_LE(before, time) << name << " " << str(kind) << " " << bytes;
          before = time;
        }
        EXPECT_EQ(cost.collective(kind, members, INT64_MAX), kMaxCost);
      }
  }
}

TEST(NcclTimes, UnevenNodesAreOneRing) {
  const Topology nodes = load("h200x8:2");
  const CostModel cost(nodes);
  std::vector<DeviceId> even = {0, 1, 8, 9}, uneven = {0, 1, 2, 8};
  EXPECT_GE(cost.collective(AllGather, uneven, GiB),
            cost.collective(AllGather, even, GiB));
}

TEST(NcclTimes, MessagesHaveAStart) {
  const CostModel cost(load("h200x8"));
  const auto one = cost.exchange({{0, 1, 1}}),
             three = cost.exchange({{0, 1, 1}, {0, 2, 1}, {0, 3, 1}});
  EXPECT_GT(one[0].second, 6'600'000);
  // Those that start together have one.
  EXPECT_LT(three[0].second, one[0].second + 6'600'000);
}

/// All rows of ../shared/data/nccl.
TEST(NcclData, MeanError) {
  std::ifstream file(FFC_NCCL_DATA);
  ASSERT_TRUE(file) << FFC_NCCL_DATA;
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::map<std::string, CollectiveKind> kinds = {
      {"all_reduce", AllReduce},
      {"all_gather", AllGather},
      {"reduce_scatter", ReduceScatter}};
  std::map<std::string, std::vector<double>> errors, withoutSwitches;
  for (size_t at = 0; (at = text.find("{\"kind\"", at)) != std::string::npos;
       ++at) {
    char kind[32];
    Row row{};
    long long bytes = 0;
    ASSERT_EQ(std::sscanf(text.c_str() + at,
                          "{\"kind\": \"%31[^\"]\", \"nodes\": %d, \"bytes\": "
                          "%lld, \"us\": %lf",
                          kind, &row.nodes, &bytes, &row.microseconds),
              4);
    // Of 16 nodes the figures are for orientation.
    if (row.nodes > 4)
      continue;
    row.kind = kinds.at(kind);
    row.bytes = bytes;
    errors[kind].push_back(std::abs(errorOf(row)));
    withoutSwitches[kind].push_back(std::abs(errorOf(row, false)));
  }
  for (const auto &[name, list] : {std::pair{"as measured", &errors},
                                   {"no sums in switches", &withoutSwitches}})
    for (const auto &[kind, values] : *list) {
      EXPECT_EQ(values.size(), 24u);
      const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                          static_cast<double>(values.size());
      std::printf("%s, %s: mean error %.1f %%\n", kind.c_str(), name,
                  100 * mean);
      EXPECT_LT(mean, list == &errors ? 0.15 : 0.2) << kind;
    }
}

} // namespace
