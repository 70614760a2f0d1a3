//===- TopologyFlexFlowTest.cpp - FlexFlow's machine models ---------------===//

#include "TestTopology.h"

#include <gtest/gtest.h>

using namespace ffc::plan;

namespace {

/// FlexFlow reads GB/s as 1024 * 1024 bytes per millisecond.
constexpr double kGigabytes = 1024.0 * 1024 * 1000;

/// Two nodes of two sockets of two GPUs; the lines a test changes come last.
const std::string kMachine = R"(# machine model

num_nodes = 2
num_sockets_per_node = 2   # comment
num_cpus_per_socket = 10
num_gpus_per_socket = 2
membus_latency = 0.00003
membus_bandwidth = 4
upi_latency = 0.0004
upi_bandwidth = 10
nic_latency = 0.000507
nic_bandwidth = 11
pci_latency = 0.001
pci_bandwidth = 12.5
nvlink_latency = 0.001
nvlink_bandwidth = 18.52
inter_node_sys_mem_to_sys_mem = nic
intra_socket_sys_mem_to_gpu_fb_mem = membus pci_to_dev
)"; // 18 lines

std::string paths(const std::string &intraSocket,
                  const std::string &interSocket,
                  const std::string &interNode) {
  return "intra_socket_gpu_fb_mem_to_gpu_fb_mem = " + intraSocket +
         "\ninter_socket_gpu_fb_mem_to_gpu_fb_mem = " + interSocket +
         "\ninter_node_gpu_fb_mem_to_gpu_fb_mem = " + interNode + "\n";
}
const std::string kPaths =
    paths("nvlink", "nvlink", "pci_to_host nic pci_to_dev");

Topology parse(const std::string &text) {
  return ffc::plan::testing::parse(text, "machine");
}

std::string errorOf(const std::string &text) {
  return ffc::plan::testing::errorOf(text, "m");
}

/// `kMachine` with one line replaced, and the paths.
std::string with(const std::string &line, const std::string &other) {
  std::string text = kMachine;
  const size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, line.size(), other) + kPaths;
}

TEST(TopologyFlexFlow, Nvlink) {
  const Topology topology = parse(kMachine + kPaths);
  EXPECT_EQ(topology.name(), "machine");
  EXPECT_EQ(topology.numDevices(), 8);
  EXPECT_EQ(topology.nodes().size(), 2u);
  EXPECT_EQ(topology.device(4).node, 1);
  EXPECT_EQ(topology.kindOf(0).name, "p100");
  for (DeviceId dst : {1, 2, 3}) {
    EXPECT_EQ(topology.route(0, dst).links.size(), 1u);
    EXPECT_EQ(topology.routeCost(0, dst).latency, 1'000'000);
    EXPECT_EQ(topology.routeCost(0, dst).bandwidth, 18.52 * kGigabytes);
  }
  // The NIC's latency counts once, half at each end.
  EXPECT_EQ(topology.routeCost(0, 4).latency, 2'507'000);
  EXPECT_EQ(topology.routeCost(0, 7).bandwidth, 11 * kGigabytes);
  EXPECT_EQ(parse(topology.print()).print(), topology.print());
}

TEST(TopologyFlexFlow, ThroughTheHost) {
  const std::string all = paths("pci_to_host pci_to_dev",
                                "pci_to_host membus upi membus pci_to_dev",
                                "pci_to_host nic membus pci_to_dev");
  const Topology topology = parse(kMachine + all);
  EXPECT_EQ(topology.routeCost(0, 1).latency, 2'000'000);
  EXPECT_EQ(topology.routeCost(0, 1).bandwidth, 12.5 * kGigabytes);
  EXPECT_EQ(topology.routeCost(0, 2).latency, 2'460'000);
  EXPECT_EQ(topology.routeCost(0, 2).bandwidth, 4 * kGigabytes);
  EXPECT_EQ(topology.routeCost(0, 4).latency, 2'537'000);
  // The GPUs of a socket share its PCIe.
  EXPECT_EQ(topology.route(0, 4).links[1], topology.route(1, 4).links[1]);
  // One NIC for each node, or for each socket.
  auto countNics = [](const Topology &topology) {
    int count = 0;
    for (const Vertex &vertex : topology.vertices())
      count += vertex.kind == Vertex::Kind::NicOut;
    return count;
  };
  EXPECT_EQ(countNics(topology), 2);
  EXPECT_EQ(countNics(parse(kMachine + all + "nic_distribution = 1\n")), 4);
  EXPECT_EQ(countNics(parse(kMachine + all + "nic_persocket = 1\n")), 4);
}

TEST(TopologyFlexFlow, NullCostsNothing) {
  const Topology topology =
      parse(kMachine + paths("null", "nvlink", "pci_to_host nic pci_to_dev"));
  EXPECT_EQ(topology.routeCost(0, 1).latency, 0);
  EXPECT_EQ(topology.routeCost(0, 1).bandwidth, 1e18);
  EXPECT_EQ(parse(topology.print()).print(), topology.print());
}

TEST(TopologyFlexFlow, KindsAndSmallMachines) {
  EXPECT_EQ(parse(kMachine + kPaths + "gpu_kind = v100\n").kindOf(7).name,
            "v100");
  // What is not used need not be there.
  EXPECT_EQ(parse("num_nodes=1\nnum_sockets_per_node =1\n"
                  "num_gpus_per_socket= 1\n")
                .numDevices(),
            1);
}

TEST(TopologyFlexFlowErrors, Lines) {
  EXPECT_EQ(errorOf(kMachine + "upi 4\n"),
            "m:19: expected KEY = VALUE, found 'upi 4'");
  EXPECT_EQ(errorOf(kMachine + "upi latency = 4\n"),
            "m:19: expected KEY = VALUE, found 'upi latency = 4'");
  EXPECT_EQ(errorOf(kMachine + "upi_latncy = 4\n"),
            "m:19: expected a key of FlexFlow's machine models, found "
            "'upi_latncy'; did you mean 'upi_latency'?");
  EXPECT_EQ(errorOf(kMachine + "nic_distribution = # one\n"),
            "m:19: expected a value after 'nic_distribution =', found nothing");
  EXPECT_EQ(errorOf(kMachine + "num_nodes = 4\n"),
            "m:19: key 'num_nodes' is given twice, first on line 3");
  EXPECT_EQ(errorOf(with("num_nodes = 2", "num_nodes = 2 2")),
            "m:3: num_nodes: expected one value, found 2");
  EXPECT_EQ(errorOf("num_nodes = 2\n"),
            "m:1: the machine model lacks the key 'num_sockets_per_node'");
}

TEST(TopologyFlexFlowErrors, Values) {
  EXPECT_EQ(errorOf(with("num_nodes = 2", "num_nodes = two")),
            "m:3: num_nodes: expected a whole number from 1 to 65536, found "
            "'two'");
  EXPECT_EQ(errorOf(with("num_nodes = 2", "num_nodes = 60000")),
            "m:6: expected at most 65536 GPUs, found 60000 x 2 x 2");
  EXPECT_EQ(
      errorOf(with("num_cpus_per_socket = 10", "num_cpus_per_socket = -")),
      "m:5: num_cpus_per_socket: expected a whole number from 0 to "
      "65536, found '-'");
  EXPECT_EQ(errorOf(with("upi_latency = 0.0004", "upi_latency = 1ms")),
            "m:9: upi_latency: expected a number from 0 to 1000, found '1ms'");
  EXPECT_EQ(errorOf(with("nic_bandwidth = 11", "nic_bandwidth = -1")),
            "m:12: nic_bandwidth: expected a number from 0 to 1000000, found "
            "'-1'");
  EXPECT_EQ(errorOf(with("nic_bandwidth = 11", "nic_bandwidth = 0")),
            "m:12: nic_bandwidth: expected more than zero, found '0'");
  EXPECT_EQ(errorOf(with("nic_bandwidth = 11", "")),
            "m:21: the machine model lacks the key 'nic_bandwidth'");
  EXPECT_EQ(errorOf(kMachine + kPaths + "nic_distribution = 2\n"),
            "m:22: nic_distribution: expected a whole number from 0 to 1, "
            "found '2'");
  EXPECT_EQ(
      errorOf(kMachine + kPaths + "gpu_kind = gtx\n"),
      "m:22: unknown device kind 'gtx', expected one of: cpu-core, b200, h200, "
      "h100, a100, v100, p100, k80, flexflow-sim");
}

TEST(TopologyFlexFlowErrors, Paths) {
  EXPECT_EQ(errorOf(kMachine), "m:18: the machine model lacks the key "
                               "'intra_socket_gpu_fb_mem_to_gpu_fb_mem'");
  EXPECT_EQ(errorOf(kMachine + "inter_node_gpu_fb_mem_to_sys_mem = nics\n"),
            "m:19: inter_node_gpu_fb_mem_to_sys_mem: expected null or some of "
            "membus, upi, nic, pci_to_host, pci_to_dev, nvlink, found 'nics'");
  const std::string host = "pci_to_host nic pci_to_dev";
  EXPECT_EQ(
      errorOf(kMachine + paths("pci_to_host upi pci_to_dev", "nvlink", host)),
      "m:19: intra_socket_gpu_fb_mem_to_gpu_fb_mem: expected null, "
      "nvlink, or pci_to_host [membus] pci_to_dev, found 'pci_to_host, "
      "upi, pci_to_dev'");
  EXPECT_EQ(errorOf(kMachine + paths("nvlink", "pci_to_host pci_to_dev", host)),
            "m:20: inter_socket_gpu_fb_mem_to_gpu_fb_mem: expected null, "
            "nvlink, or pci_to_host [membus] upi [membus] pci_to_dev, found "
            "'pci_to_host, pci_to_dev'");
  EXPECT_EQ(errorOf(kMachine + paths("nvlink", "nvlink", "nvlink")),
            "m:21: inter_node_gpu_fb_mem_to_gpu_fb_mem: expected null, or "
            "pci_to_host [membus] nic [membus] pci_to_dev, found 'nvlink'");
}

TEST(TopologyFlexFlowErrors, AnotherPathIsFaster) {
  // The sockets reach each other through their hosts, and by its host a GPU
  // reaches its neighbour sooner than by this NVLink.
  std::string text = kMachine + paths("nvlink", "pci_to_host upi pci_to_dev",
                                      "pci_to_host nic pci_to_dev");
  text.replace(text.find("nvlink_latency = 0.001"), 22, "nvlink_latency = 0.1");
  EXPECT_EQ(errorOf(text),
            "m:19: intra_socket_gpu_fb_mem_to_gpu_fb_mem: expected the way of "
            "least latency, found one of 100 us and 19.41962752 GB/s beside "
            "one of 2 us and 13.1072 GB/s by the other paths");
}

} // namespace
