//===- TopologyTest.cpp - devices and how they are connected --------------===//

#include "TestTopology.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <thread>

using namespace ffc::plan;

namespace {

Topology parse(const std::string &text) {
  return ffc::plan::testing::parse(text, "folder/topo.yaml");
}

TEST(Topology, ExamplesLoad) {
  const std::set<std::string> expected = {
      "cpu-1",  "cpu-2",  "cpu-4",    "cpu-8",           "h200-1",
      "h200-4", "h200-8", "torus-16", "flexflow-machine"};
  std::set<std::string> found;
  for (const auto &entry :
       std::filesystem::directory_iterator(FFC_EXAMPLES_DIR "/topologies")) {
    std::string error;
    std::optional<Topology> topology =
        Topology::load(entry.path().string(), error);
    ASSERT_TRUE(topology) << error;
    const std::string stem = entry.path().stem().string();
    EXPECT_EQ(topology->name(), stem);
    found.insert(stem);
    if (stem == "torus-16" || stem == "flexflow-machine") {
      EXPECT_EQ(topology->numDevices(), stem == "torus-16" ? 64 : 8);
      continue;
    }
    const bool cuda = stem[0] == 'h';
    EXPECT_EQ(std::to_string(topology->numDevices()),
              stem.substr(stem.rfind('-') + 1));
    EXPECT_EQ(topology->kindOf(0).target, cuda ? Target::CUDA : Target::CPU);
    EXPECT_EQ(topology->kindOf(0).name, cuda ? "h200" : "cpu-core");
    if (topology->numDevices() > 1) {
      const RouteCost cost = topology->routeCost(0, 1);
      EXPECT_EQ(cost.latency, cuda ? 2'000'000 : 200'000);
      EXPECT_EQ(cost.bandwidth, cuda ? 370e9 : 6e9);
    }
  }
  EXPECT_EQ(found, expected);
}

TEST(Topology, NameIsTheFilesUnlessGiven) {
  EXPECT_EQ(parse("devices: 1 x h200").name(), "topo");
  EXPECT_EQ(parse("name: other\ndevices: 1 x h200").name(), "other");
}

TEST(Topology, Presets) {
  const Topology topology = parse("devices: [1 x h200, 2 x cpu-core]\n"
                                  "interconnect: {type: ring, bandwidth: 1 "
                                  "GB/s, latency: 1 us}");
  ASSERT_EQ(topology.numDevices(), 3);
  EXPECT_EQ(topology.kinds().size(), 2u);
  const DeviceKind &h200 = topology.kindOf(0);
  EXPECT_EQ(h200.flops[int(Arithmetic::BF16)], 989e12);
  EXPECT_EQ(h200.flopsPerSecond(Arithmetic::F32), 67e12);
  EXPECT_EQ(h200.flopsPerSecond(Arithmetic::TF32), 494e12);
  EXPECT_EQ(h200.flopsPerSecond(Arithmetic::F16), 989e12);
  EXPECT_EQ(h200.memoryBytes, 141'000'000'000);
  EXPECT_EQ(h200.memoryBandwidth, 4.8e12);
  EXPECT_TRUE(h200.overlap);
  const DeviceKind &core = topology.kindOf(2);
  EXPECT_EQ(core.target, Target::CPU);
  EXPECT_FALSE(core.overlap);
  EXPECT_EQ(topology.device(2).name, "d2");
}

TEST(Topology, OwnKinds) {
  const Topology topology = parse(R"(
kinds:
  slow:
    target: cpu
    flops: {f32: 1 GFLOP/s, i32: 3 GFLOP/s}
    memory: {size: 1 GiB, bandwidth: 2 GB/s}
    launch: 1.5 us
    overlap: true
  slower: {like: slow, flops: {f32: 500 MFLOP/s}, memory: {size: 2 GiB}}
devices:
  - {name: a, kind: slow}
  - {name: b, kind: slower}
links:
  - {between: [a, b], bandwidth: 1 GB/s, latency: 0 s}
)");
  const DeviceKind &slow = topology.kindOf(0), &slower = topology.kindOf(1);
  EXPECT_EQ(slow.flopsPerSecond(Arithmetic::F32), 1e9);
  EXPECT_EQ(slow.flopsPerSecond(Arithmetic::F64), 5e8);
  EXPECT_EQ(slow.flopsPerSecond(Arithmetic::F16), 1e9);
  EXPECT_EQ(slow.flopsPerSecond(Arithmetic::I32), 3e9);
  EXPECT_EQ(slow.flopsPerSecond(Arithmetic::I64), 5e8);
  EXPECT_EQ(slow.flopsPerSecond(Arithmetic::TF32), 1e9);
  EXPECT_EQ(slow.launch, 1'500'000);
  EXPECT_TRUE(slow.overlap);
  EXPECT_EQ(slower.flopsPerSecond(Arithmetic::F32), 5e8);
  EXPECT_EQ(slower.flopsPerSecond(Arithmetic::I32), 3e9);
  EXPECT_EQ(slower.memoryBytes, 2LL << 30);
  EXPECT_EQ(slower.memoryBandwidth, 2e9);
}

TEST(Topology, AllToAllHasALinkPerPair) {
  const Topology topology = parse(
      "devices: 4 x cpu-core\n"
      "interconnect: {type: all-to-all, bandwidth: 5 GB/s, latency: 300 ns}");
  EXPECT_EQ(topology.links().size(), 12u);
  EXPECT_EQ(topology.vertices().size(), 4u);
  for (DeviceId a = 0; a < 4; ++a)
    for (DeviceId b = 0; b < 4; ++b) {
      const Route route = topology.route(a, b);
      EXPECT_EQ(route.links.size(), a == b ? 0u : 1u);
      EXPECT_EQ(route.latency, a == b ? 0 : 300'000);
      EXPECT_EQ(route.bandwidth, a == b ? 38e9 : 5e9);
    }
}

TEST(Topology, RingGoesTheShortWayRound) {
  const Topology topology =
      parse("devices: 5 x cpu-core\n"
            "interconnect: {type: ring, bandwidth: 1 GB/s, latency: 1 us}");
  EXPECT_EQ(topology.links().size(), 10u);
  EXPECT_EQ(topology.route(0, 2).links.size(), 2u);
  EXPECT_EQ(topology.route(0, 3).links.size(), 2u);
  EXPECT_EQ(topology.route(0, 4).latency, 1'000'000);
  // Two devices are a ring with one pair of links.
  EXPECT_EQ(parse("devices: 2 x cpu-core\ninterconnect: {type: ring, "
                  "bandwidth: 1 GB/s, latency: 1 us}")
                .links()
                .size(),
            2u);
}

TEST(Topology, HubHalvesTheLatencyOfItsLinks) {
  const Topology topology =
      parse("devices: 3 x cpu-core\n"
            "interconnect: {type: switch, bandwidth: 1 GB/s, latency: 3 ps}");
  EXPECT_EQ(topology.links().size(), 6u);
  const Route route = topology.route(0, 2);
  EXPECT_EQ(route.latency, 3);
  ASSERT_EQ(route.links.size(), 2u);
  EXPECT_EQ(topology.vertices()[topology.links()[route.links[0]].dst].name,
            "switch");
}

const char *const kTwoNodes = R"(
nodes:
  count: 2
  devices: 4 x h200
  interconnect: {type: switch, bandwidth: 450 GB/s, latency: 2 us}
  nic: {count: 2, bandwidth: 50 GB/s, latency: 3 us,
        attach: {bandwidth: 64 GB/s, latency: 500 ns}}
)";

TEST(Topology, NodesExpand) {
  const Topology topology = parse(kTwoNodes);
  ASSERT_EQ(topology.numDevices(), 8);
  EXPECT_EQ(topology.nodes(), (std::vector<std::string>{"n0", "n1"}));
  EXPECT_EQ(topology.device(5).node, 1);
  EXPECT_EQ(topology.routeCost(0, 3).latency, 2'000'000);
  const Route route = topology.route(1, 6);
  EXPECT_EQ(route.latency, 7'000'000);
  EXPECT_EQ(route.bandwidth, 50e9);
  std::vector<std::string> names;
  for (LinkId link : route.links)
    names.push_back(topology.vertices()[topology.links()[link].dst].name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"n0.nic0", "network", "n1.nic1", "d6"}));
}

TEST(Topology, TrafficDoesNotTurnRoundInANic) {
  // The way by the NIC would have no latency at all.
  const Topology topology = parse(R"(
nodes:
  count: 2
  devices: 2 x h200
  interconnect: {type: all-to-all, bandwidth: 450 GB/s, latency: 2 us}
  nic: {count: 1, bandwidth: 50 GB/s, latency: 3 us}
)");
  EXPECT_EQ(topology.routeCost(0, 1).latency, 2'000'000);
  EXPECT_EQ(topology.routeCost(0, 2).latency, 6'000'000);
}

TEST(Topology, LeastLatencyThenFewestLinksThenFileOrder) {
  const Topology topology = parse(R"(
devices:
  - {name: a, kind: cpu-core}
  - {name: b, kind: cpu-core}
switches: [{name: s}, {name: t}, {name: u}]
links:
  - {from: b, to: a, bandwidth: 1 GB/s, latency: 1 us}
  - {from: a, to: b, bandwidth: 9 GB/s, latency: 9 us}
  - {from: a, to: s, bandwidth: 1 GB/s, latency: 1 us}
  - {from: s, to: t, bandwidth: 1 GB/s, latency: 0 s}
  - {from: t, to: b, bandwidth: 2 GB/s, latency: 1 us}
  - {from: s, to: b, bandwidth: 3 GB/s, latency: 1 us}
  - {from: a, to: u, bandwidth: 4 GB/s, latency: 1 us}
  - {from: u, to: b, bandwidth: 5 GB/s, latency: 1 us}
)");
  const Route route = topology.route(0, 1);
  EXPECT_EQ(route.latency, 2'000'000);
  EXPECT_EQ(route.links, (std::vector<LinkId>{2, 5}));
  EXPECT_EQ(route.bandwidth, 1e9);
  EXPECT_EQ(topology.route(1, 0).links, (std::vector<LinkId>{0}));
}

TEST(Topology, HashIsThatOfTheExpandedGraph) {
  const Topology brief =
      parse("name: a\ndevices: 2 x cpu-core\n"
            "interconnect: {type: switch, bandwidth: 6 GB/s, latency: 2 us}");
  const Topology longer = parse(R"(
name: b   # neither names of topologies nor comments count
kinds:
  unused: {like: h200}
  cpu-core:
    target: cpu
    flops: {f64: 110 GFLOP/s, f32: 0.22 TFLOP/s, bf16: 460 GFLOP/s}
    memory: {size: 8 GB, bandwidth: 38 GB/s}
    launch: 0.2 us
    overlap: false
nodes: [n0]
devices:
  - {name: d0, kind: cpu-core}
  - {name: d1, kind: cpu-core, node: n0}
switches:
  - {name: switch, node: n0}
links:
  - {between: [d0, switch], bandwidth: 6 GB/s, latency: 1 us}
  - {between: [d1, switch], bandwidth: 6000 MB/s, latency: 1000 ns}
)");
  EXPECT_EQ(brief.hash(), longer.hash());
  EXPECT_EQ(brief.hash().size(), 16u);
  const Topology faster =
      parse("devices: 2 x cpu-core\n"
            "interconnect: {type: switch, bandwidth: 6 GB/s, latency: 1 us}");
  EXPECT_NE(brief.hash(), faster.hash());
}

TEST(Topology, PrintReadsBack) {
  for (const char *text :
       {kTwoNodes, "name: \"a b: #\"\ndevices: 1 x h200",
        "devices: [{name: \"null\", kind: h200}, {name: \"\\\"x\\\\ \", kind: "
        "h200}]\ninterconnect: {type: shared-memory, bandwidth: 333333333.3 "
        "B/s, latency: 7 ps}"}) {
    const Topology topology = parse(text);
    const Topology again = parse(topology.print());
    EXPECT_EQ(again.print(), topology.print());
    EXPECT_EQ(again.hash(), topology.hash());
    for (DeviceId a = 0; a < topology.numDevices(); ++a)
      for (DeviceId b = 0; b < topology.numDevices(); ++b)
        EXPECT_EQ(again.route(a, b).links, topology.route(a, b).links);
  }
}

TEST(Topology, ThousandDevices) {
  const Topology topology = parse(R"(
nodes:
  count: 128
  devices: 8 x h200
  interconnect: {type: switch, bandwidth: 450 GB/s, latency: 2 us}
  nic: {count: 8, bandwidth: 50 GB/s, latency: 3 us}
)");
  ASSERT_EQ(topology.numDevices(), 1024);
  int64_t sum = 0;
  for (DeviceId a = 0; a < 1024; ++a)
    for (DeviceId b = 0; b < 1024; ++b)
      sum += topology.routeCost(a, b).latency;
  EXPECT_EQ(sum, 1024 * (7 * 2'000'000LL + 1016 * 6'000'000LL));
}

TEST(Topology, HugeTopologiesStayUsable) {
  const Topology topology =
      parse("devices: 65536 x cpu-core\n"
            "interconnect: {type: switch, bandwidth: 1 GB/s, latency: 2 us}");
  // More sources than the table keeps (about 680 of this size).
  for (DeviceId src = 0; src < 750; ++src)
    EXPECT_EQ(topology.routeCost(src, 65535 - src).latency, 2'000'000);
  EXPECT_EQ(topology.route(3, 9).links.size(), 2u);
}

TEST(Topology, RoutesFromSeveralThreads) {
  const Topology topology = parse(kTwoNodes);
  std::vector<int64_t> sums(4);
  std::vector<std::thread> threads;
  for (int64_t &sum : sums)
    threads.emplace_back([&topology, &sum] {
      for (DeviceId a = 0; a < 8; ++a)
        for (DeviceId b = 0; b < 8; ++b)
          sum += topology.routeCost(a, b).latency;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int64_t sum : sums)
    EXPECT_EQ(sum, 24 * 2'000'000LL + 32 * 7'000'000LL);
}

} // namespace
