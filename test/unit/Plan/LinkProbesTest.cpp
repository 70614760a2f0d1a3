//===- LinkProbesTest.cpp - messages that show slow links -----------------===//
#include "TestTopology.h"

#include "ffc/Plan/LinkProbes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

std::vector<LinkProbe> probesOf(const Topology &topology) {
  return linkProbes(CostModel(topology), topology.numDevices());
}

std::vector<int> distances(const std::vector<LinkProbe> &probes) {
  std::vector<int> found;
  for (const LinkProbe &probe : probes)
    found.push_back(probe.distance);
  return found;
}

TEST(LinkProbes, AllPairsOfFewDevices) {
  EXPECT_TRUE(probesOf(ranks(1)).empty());
  EXPECT_EQ(distances(probesOf(ranks(2))), std::vector<int>{1});
  for (int devices = 3; devices <= 8; ++devices) {
    size_t pairs = 0;
    for (const LinkProbe &probe : probesOf(ranks(devices)))
      pairs += probe.times.size();
    EXPECT_EQ(pairs, static_cast<size_t>(devices * (devices - 1) / 2));
  }
}

TEST(LinkProbes, OfManyThoseThatDifferInADigit) {
  const auto sixteen = probesOf(ranks(16));
  EXPECT_EQ(distances(sixteen), (std::vector<int>{1, 2, 4, 8}));
  for (const LinkProbe &probe : sixteen)
    EXPECT_EQ(probe.times.size(), 8u);
  // Of the last three only 8 has a partner 2 further on.
  const auto eleven = probesOf(ranks(11));
  EXPECT_EQ(distances(eleven), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(eleven[1].times.size(), 5u);
  EXPECT_EQ(eleven[2].times.size(), 4u);
  EXPECT_EQ(eleven[3].times.size(), 3u);
}

TEST(LinkProbes, TimesAreThoseOfExchangesAtOnce) {
  const Topology ring = parse("nodes:\n  count: 4\n  devices: 1 x cpu-core\n"
                              "  nic: {count: 1, bandwidth: 100 GB/s, "
                              "latency: 0 s}\n  network: {type: ring, "
                              "bandwidth: 1 GB/s, latency: 10 us}\n");
  const auto probes = probesOf(ring);
  ASSERT_EQ(probes.size(), 3u);
  // 128 KiB take 131 us; two hops away all messages share the links.
  EXPECT_EQ(probes[0].bytes, 128 << 10);
  for (const Picoseconds time : probes[0].times)
    EXPECT_NEAR(static_cast<double>(time), 141e6, 10e6);
  for (const Picoseconds time : probes[1].times)
    EXPECT_GT(static_cast<double>(time) / static_cast<double>(probes[1].bytes),
              2e-9 * 1e12);
  EXPECT_EQ(probes[2].times, probes[0].times);
}

TEST(LinkProbes, BytesAreWithinBounds) {
  auto bytesAt = [](const char *bandwidth) {
    return probesOf(ranks(2, bandwidth))[0].bytes;
  };
  EXPECT_EQ(bytesAt("1 MB/s"), 64 << 10);
  EXPECT_EQ(bytesAt("10 GB/s"), 1 << 20);
  EXPECT_EQ(bytesAt("10 TB/s"), 32 << 20);
  // Where fast and slow pairs exchange at once, the slow ones take no longer
  // than 1 ms but for the last step.
  const Topology mixed = parse("nodes:\n  count: 2\n  devices: 3 x h200\n"
                               "  interconnect: {type: switch, bandwidth: 450 "
                               "GB/s, latency: 1 us}\n  nic: {count: 1, "
                               "bandwidth: 1 GB/s, latency: 5 us}\n  network: "
                               "{type: switch}\n");
  for (const LinkProbe &probe : probesOf(mixed)) {
    const auto [fast, slow] =
        std::minmax_element(probe.times.begin(), probe.times.end());
    EXPECT_GE(*slow, 100'000'000) << probe.distance;
    if (probe.bytes < 32 << 20) {
      EXPECT_TRUE(*fast >= 100'000'000 || *slow >= 1'000'000'000);
    }
    if (*fast < *slow) {
      EXPECT_LE(*slow, 4'000'000'000);
    }
  }
}

} // namespace
