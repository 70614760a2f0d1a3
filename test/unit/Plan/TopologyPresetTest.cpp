//===- TopologyPresetTest.cpp - topologies that come along ----------------===//

#include "TestTopology.h"
#include "ffc/Plan/Cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ffc::plan;
using ffc::plan::testing::errorOf;
using ffc::plan::testing::load;
using ffc::plan::testing::parse;
using ::testing::EndsWith;

namespace {

std::string loadError(const std::string &name) {
  std::string error;
  EXPECT_FALSE(Topology::load(name, error)) << name;
  return error;
}

TEST(TopologyPreset, AllLoadAndReadBack) {
  ASSERT_FALSE(topologyPresets().empty());
  for (const TopologyPreset &preset : topologyPresets()) {
    const Topology topology = load(preset.name);
    EXPECT_EQ(topology.name(), preset.name);
    EXPECT_EQ(topology.hash(),
              load(preset.name + ":" + preset.standard).hash());
    EXPECT_EQ(parse(topology.print()).print(), topology.print());
    EXPECT_FALSE(preset.summary.empty());
  }
}

TEST(TopologyPreset, Sizes) {
  for (auto [name, devices, nodes] : {std::tuple{"cpu:4", 4, 1},
                                      {"h200x8", 8, 1},
                                      {"h200x8:3", 24, 3},
                                      {"p100-cluster:4", 16, 4},
                                      {"k80-cluster:16", 64, 16},
                                      {"a100-topoopt:12", 12, 12},
                                      {"ethernet:16", 16, 16},
                                      {"nvlink-ib:128", 1024, 128},
                                      {"flexflow-sim:2x4", 8, 2},
                                      {"flexflow-sim:1x1", 1, 1}}) {
    const Topology topology = load(name);
    EXPECT_EQ(topology.name(), name);
    EXPECT_EQ(topology.numDevices(), devices) << name;
    EXPECT_EQ(int(topology.nodes().size()), nodes) << name;
  }
}

TEST(TopologyPreset, EqualsTheFile) {
  std::string error;
  for (auto [name, file] :
       {std::pair{"cpu:4", "cpu-4"}, {"h200x8", "h200-8"}}) {
    const auto topology = Topology::load(
        std::string(FFC_EXAMPLES_DIR "/topologies/") + file + ".yaml", error);
    ASSERT_TRUE(topology) << error;
    EXPECT_EQ(load(name).hash(), topology->hash());
  }
}

TEST(TopologyPreset, FlexFlowSimulatorHasItsConstants) {
  const Topology topology = load("flexflow-sim:2x4");
  const CostModel cost(topology);
  const double millisecond = 1e9;
  // 20 us a kernel, 4 TFLOP/s, 500 GB/s.
  EXPECT_EQ(cost.kernel(0, 4e9, 0, Arithmetic::F32), 20'000'000 + 1e9);
  EXPECT_EQ(cost.kernel(0, 0, 500'000'000, Arithmetic::F32), 20'000'000 + 1e9);
  EXPECT_EQ(cost.transfer(0, 3, 4 << 20), millisecond);
  EXPECT_EQ(cost.transfer(1, 6, 1 << 20), millisecond);
}

TEST(TopologyPreset, FilesOverride) {
  // Maps are joined key by key...
  const Topology more = parse("preset: h200x8\nnodes: {count: 2, "
                              "interconnect: {latency: 3 us, type: ring, "
                              "bandwidth: 1 GB/s}}\n");
  EXPECT_EQ(more.numDevices(), 16);
  EXPECT_EQ(more.name(), "t");
  EXPECT_EQ(more.routeCost(0, 1).bandwidth, 1e9);
  EXPECT_EQ(more.routeCost(0, 8).bandwidth, 50e9);
  EXPECT_EQ(parse("nodes: {count: 2}\npreset: h200x8\n").hash(),
            load("h200x8:2").hash());
  // ...but those with a type replace the preset's, here one with strides.
  const Topology switched =
      parse("name: s\npreset: a100-topoopt\nnodes: {network: {type: switch}}");
  EXPECT_EQ(switched.name(), "s");
  EXPECT_EQ(switched.routeCost(0, 6).bandwidth, 12.5e9);
  // Kinds of the preset can be changed.
  const Topology slower = parse("preset: cpu:2\nkinds:\n  cpu-core: {like: "
                                "cpu-core, launch: 1 us}\n");
  EXPECT_EQ(slower.kindOf(1).launch, 1'000'000);
  EXPECT_EQ(slower.kindOf(1).flopsPerSecond(Arithmetic::F32), 220e9);
}

TEST(TopologyPreset, ComesBeforeAFileOfItsName) {
  EXPECT_EQ(loadError("./cpu"),
            "./cpu: cannot be read: No such file or directory");
}

TEST(TopologyPresetErrors, Names) {
  EXPECT_EQ(loadError("h200x9"),
            "h200x9: unknown preset 'h200x9', expected one of: cpu, h200x8, "
            "nvlink-ib, ethernet, p100-cluster, k80-cluster, a100-topoopt, "
            "flexflow-sim; did you mean 'h200x8'?");
  EXPECT_EQ(loadError("nvlink-id:4"),
            "nvlink-id:4: unknown preset 'nvlink-id', expected one of: cpu, "
            "h200x8, nvlink-ib, ethernet, p100-cluster, k80-cluster, "
            "a100-topoopt, flexflow-sim; did you mean 'nvlink-ib'?");
  EXPECT_EQ(loadError("gpu:4"),
            "gpu:4: unknown preset 'gpu', expected one of: cpu, h200x8, "
            "nvlink-ib, ethernet, p100-cluster, k80-cluster, a100-topoopt, "
            "flexflow-sim");
  EXPECT_EQ(loadError("something.yaml"),
            "something.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(errorOf("name: x\npreset: h200x9\n"),
            "t.yaml:2: unknown preset 'h200x9', expected one of: cpu, h200x8, "
            "nvlink-ib, ethernet, p100-cluster, k80-cluster, a100-topoopt, "
            "flexflow-sim; did you mean 'h200x8'?");
  EXPECT_EQ(errorOf("preset: [cpu]\n"),
            "t.yaml:1: expected the name of a preset, found a list");
}

TEST(TopologyPresetErrors, Parameters) {
  for (const char *text :
       {"0", "-1", "", "x", "65537", "4x4", "4x", " 4", "4:4"})
    EXPECT_EQ(loadError(std::string("cpu:") + text),
              std::string("cpu:") + text +
                  ": expected the preset cpu:DEVICES with DEVICES from 1 to "
                  "65536, found 'cpu:" +
                  text + "'");
  for (const char *text : {"2", "2x", "x4", "2x4x", "2x4x1", "2x257"})
    EXPECT_THAT(loadError(std::string("flexflow-sim:") + text),
                EndsWith(": expected the preset flexflow-sim:NODESxDEVICES "
                         "with NODES from 1 to 65536 and DEVICES from 1 to "
                         "256, found 'flexflow-sim:" +
                         std::string(text) + "'"));
  EXPECT_EQ(loadError("a100-topoopt:4"),
            "a100-topoopt:4: expected the preset a100-topoopt:NODES with NODES "
            "from 11 to 65536, found 'a100-topoopt:4'");
  EXPECT_EQ(loadError("flexflow-sim:60000x200"),
            "flexflow-sim:60000x200: expected at most 65536 devices, found "
            "12000000");
  EXPECT_EQ(errorOf("name: x\npreset: cpu:none\n"),
            "t.yaml:2: expected the preset cpu:DEVICES with DEVICES from 1 to "
            "65536, found 'cpu:none'");
}

TEST(TopologyPresetErrors, Overrides) {
  EXPECT_EQ(errorOf("preset: cpu:2\n\nnodes: {count: 2}\n"),
            "t.yaml:1: expected either devices or nodes with a count and "
            "devices, found both");
  EXPECT_EQ(errorOf("preset: h200x8\nnodes:\n  devices: 4 x h200\n"),
            "t.yaml:1: expected at most one NIC for each of a node's 4 "
            "devices, found 8");
  EXPECT_EQ(errorOf("preset: cpu:2\n\ninterconnect: {type: ring}\n"),
            "t.yaml:3: the interconnect lacks the key 'bandwidth'");
  EXPECT_EQ(errorOf("preset: cpu:2\n\ninterconnect: {latency: 1 h}\n"),
            "t.yaml:3: latency of the interconnect: expected a time with its "
            "unit such as '2 us', found '1 h', whose unit 'h' is not one of a "
            "time");
}

} // namespace
