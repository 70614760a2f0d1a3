//===- TopologyErrorsTest.cpp - what is not a topology --------------------===//

#include "TestTopology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ffc::plan;
using ffc::plan::testing::errorOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace {

const std::string kKinds =
    "cpu-core, b200, h200, h100, a100, v100, p100, k80, flexflow-sim";

/// A file with one link between two devices, whose line 4 is `link`.
std::string withLink(const std::string &link) {
  return "devices:\n  - {name: a, kind: h200}\n  - {name: b, kind: h200}\n"
         "links: [" +
         link + "]\n";
}

std::string withKind(const std::string &kind) {
  return "kinds:\n  k: " + kind + "\ndevices: 1 x k\n";
}

TEST(TopologyErrors, Files) {
  std::string error;
  EXPECT_FALSE(Topology::load("/nowhere/t.yaml", error));
  EXPECT_EQ(error,
            "/nowhere/t.yaml: cannot be read: No such file or directory");
  EXPECT_FALSE(Topology::load("/tmp", error));
  EXPECT_EQ(error, "/tmp: cannot be read: expected a regular file");
  EXPECT_EQ(errorOf(std::string((16 << 20) + 1, ' ')),
            "t.yaml:1: expected at most 16777216 bytes, found 16777217");
}

TEST(TopologyErrors, NotYaml) {
  EXPECT_EQ(errorOf(""),
            "t.yaml:1: expected a YAML document, found an empty file");
  EXPECT_EQ(errorOf("# nothing\n"),
            "t.yaml:1: expected a YAML document, found an empty file");
  EXPECT_THAT(errorOf("devices: [1 x h200\nlinks: {"),
              StartsWith("t.yaml:2: not valid YAML: "));
  EXPECT_THAT(errorOf("a: b: c"), StartsWith("t.yaml:1: not valid YAML: "));
  EXPECT_EQ(errorOf("devices: 1 x h200\n---\na: b\n"),
            "t.yaml:3: expected one document, found a second");
  EXPECT_EQ(errorOf(std::string("a\nb\0c", 5)),
            "t.yaml:2: expected text, found the byte '\\x00'");
}

TEST(TopologyErrors, HostileYaml) {
  EXPECT_EQ(errorOf("name: &a x\ndevices: *a\n"),
            "t.yaml:1: anchors and aliases are not supported");
  EXPECT_EQ(errorOf("name: !!binary x\n"),
            "t.yaml:1: tags are not supported, found "
            "'tag:yaml.org,2002:binary'");
  EXPECT_EQ(errorOf("a: " + std::string(50, '[') + std::string(50, ']')),
            "t.yaml:1: nested more than 16 levels deep");
  EXPECT_EQ(errorOf(std::string(100000, '{')),
            "t.yaml:1: expected a name as key, found a list or a map");
  EXPECT_EQ(errorOf("[a]: b\n"),
            "t.yaml:1: expected a name as key, found a list or a map");
  for (const std::string &junk :
       {"a: " + std::string(100000, '['), "a: [" + std::string(10 << 20, ','),
        "a: " + std::string(100000, '?'), std::string(100000, '-'),
        std::string(100000, '"')})
    EXPECT_THAT(errorOf(junk), StartsWith("t.yaml:1: "));
  std::string many = "a: [";
  for (int i = 0; i < 2'000'001; ++i)
    many += "1,";
  EXPECT_EQ(errorOf(many),
            "t.yaml:1: expected at most 2000000 YAML values, found more");
}

TEST(TopologyErrors, Shape) {
  EXPECT_EQ(errorOf("- a\n"),
            "t.yaml:1: expected a topology to be a map with the keys name, "
            "preset, kinds, nodes, devices, switches, nics, interconnect, "
            "links, routing, routes; found a list");
  EXPECT_EQ(errorOf("just text"),
            "t.yaml:1: expected a topology to be a map with the keys name, "
            "preset, kinds, nodes, devices, switches, nics, interconnect, "
            "links, routing, routes; found 'just text'");
  EXPECT_EQ(errorOf("name: x\ndevces: 1 x h200\n"),
            "t.yaml:2: unknown key 'devces' in a topology, expected one of: "
            "name, preset, kinds, nodes, devices, switches, nics, "
            "interconnect, links, routing, routes; did you mean 'devices'?");
  EXPECT_EQ(errorOf("name: x\ndevices: 1 x h200\nname: y\n"),
            "t.yaml:3: key 'name' is given twice");
  EXPECT_EQ(errorOf("name: x\n"),
            "t.yaml:1: the topology lacks the key 'devices'");
  EXPECT_EQ(errorOf("name: [x]\ndevices: 1 x h200\n"),
            "t.yaml:1: expected a name, found a list");
  EXPECT_EQ(errorOf("devices:\n"),
            "t.yaml:1: expected devices such as '4 x h200', found nothing");
  EXPECT_EQ(errorOf("devices: []\n"),
            "t.yaml:1: expected devices to be a list, found an empty one");
  EXPECT_EQ(errorOf("devices: 1 x h200\nlinks: {a: b}\n"),
            "t.yaml:2: expected links to be a list, found a map");
  EXPECT_EQ(errorOf("devices: 1 x h200\nswitches: [s]\n"),
            "t.yaml:2: expected a switch to be a map with the keys name, node; "
            "found 's'");
}

TEST(TopologyErrors, Devices) {
  EXPECT_EQ(errorOf("devices: 4 h200\n"),
            "t.yaml:1: expected devices such as '4 x h200', 1 to 65536 of "
            "them, found '4 h200'");
  for (const char *count : {"0", "-1", "65537", "99999999999999999999", "a"})
    EXPECT_THAT(errorOf(std::string("devices: ") + count + " x h200\n"),
                HasSubstr("expected devices such as '4 x h200'"));
  EXPECT_EQ(errorOf("devices: [65536 x h200, 1 x h200]\n"),
            "t.yaml:1: expected at most 65536 devices, found more");
  EXPECT_EQ(errorOf("devices: 4 x h300\n"),
            "t.yaml:1: unknown device kind 'h300', expected one of: " + kKinds);
  EXPECT_EQ(errorOf("devices:\n  - {name: a}\n"),
            "t.yaml:2: a device lacks the key 'kind'");
  EXPECT_EQ(errorOf("devices:\n  - {kind: h200}\n"),
            "t.yaml:2: a device lacks the key 'name'");
  EXPECT_EQ(errorOf("devices:\n  - {name: \"\\n\", kind: h200}\n"),
            "t.yaml:2: expected a printable name, found '\\x0a'");
  EXPECT_EQ(errorOf("devices:\n  - {name: a, kind: h200}\n"
                    "  - {name: a, kind: h200}\n"),
            "t.yaml:3: the name 'a' is given twice, first on line 2");
  EXPECT_EQ(errorOf("devices:\n  - {name: a, kind: h200}\n"
                    "switches:\n  - {name: a}\n"),
            "t.yaml:4: the name 'a' is given twice, first on line 2");
}

TEST(TopologyErrors, Kinds) {
  EXPECT_EQ(errorOf("kinds: [a]\ndevices: 1 x h200\n"),
            "t.yaml:1: expected kinds to be a map from names to kinds, found a "
            "list");
  EXPECT_EQ(errorOf(withKind("{target: cpu}")),
            "t.yaml:2: the kind 'k' lacks the key 'flops'");
  EXPECT_EQ(errorOf(withKind("{like: h20}")),
            "t.yaml:2: unknown device kind 'h20', expected one of: " + kKinds);
  EXPECT_EQ(errorOf(withKind("{like: h200, target: gpu}")),
            "t.yaml:2: target of the kind 'k': expected 'cpu' or 'cuda', found "
            "'gpu'");
  EXPECT_EQ(errorOf(withKind("{like: h200, overlap: yes}")),
            "t.yaml:2: overlap of the kind 'k': expected 'true' or 'false', "
            "found 'yes'");
  EXPECT_EQ(errorOf(withKind("{like: h200, flops: {fp32: 1 TFLOP/s}}")),
            "t.yaml:2: unknown key 'fp32' in flops of the kind 'k', expected "
            "one of: f64, f32, tf32, bf16, f16, i64, i32, i8; did you mean "
            "'f32'?");
  EXPECT_EQ(errorOf(withKind("{like: h200, flops: {f32: 60}}")),
            "t.yaml:2: f32 flops of the kind 'k': expected a rate with its "
            "unit such as '60 TFLOP/s', found '60', which has no unit");
  EXPECT_EQ(errorOf(withKind("{target: cpu, flops: {f64: 1 GFLOP/s}}")),
            "t.yaml:2: flops of the kind 'k' lacks the key 'f32'");
  EXPECT_EQ(errorOf(withKind("{like: h200, memory: {size: 0 B}}")),
            "t.yaml:2: size of the memory of the kind 'k': expected more than "
            "zero, found '0 B'");
  EXPECT_EQ(errorOf(withKind("{like: h200, memory: {bandwidth: [1]}}")),
            "t.yaml:2: bandwidth of the memory of the kind 'k': expected a "
            "quantity, found a list");
  EXPECT_EQ(errorOf(withKind("{like: h200, launch: 2 s}")),
            "t.yaml:2: launch of the kind 'k': expected 0 s to 1 s, found '2 "
            "s'");
}

TEST(TopologyErrors, Links) {
  EXPECT_EQ(errorOf(withLink("{between: [a, b], bandwidth: 1 GB/s}")),
            "t.yaml:4: a link lacks the key 'latency'");
  EXPECT_EQ(errorOf(withLink("{between: [a, b], bandwith: 1 GB/s}")),
            "t.yaml:4: unknown key 'bandwith' in a link, expected one of: "
            "between, from, to, bandwidth, latency, cables; did you mean "
            "'bandwidth'?");
  EXPECT_EQ(
      errorOf(withLink("{between: [a, b], bandwidth: 1 GB/s, latency: 1 "
                       "us, cables: 0}")),
      "t.yaml:4: expected the cables of a link from 1 to 1024, found '0'");
  for (const char *bandwidth : {"0 B/s", "-5 GB/s"})
    EXPECT_EQ(
        errorOf(withLink("{between: [a, b], bandwidth: " +
                         std::string(bandwidth) + ", latency: 1 us}")),
        "t.yaml:4: bandwidth of a link: expected more than zero, found '" +
            std::string(bandwidth) + "'");
  EXPECT_EQ(
      errorOf(withLink("{between: [a, b], bandwidth: 1 GB/s, latency: -1 us}")),
      "t.yaml:4: latency of a link: expected 0 s to 1 s, found '-1 us'");
  EXPECT_EQ(
      errorOf(withLink("{between: [a, b], bandwidth: 1 GB/s, latency: 1}")),
      "t.yaml:4: latency of a link: expected a time with its unit such as '2 "
      "us', found '1', which has no unit");
  const std::string figures = ", bandwidth: 1 GB/s, latency: 1 us}";
  EXPECT_EQ(errorOf(withLink("{between: [a, bb]" + figures)),
            "t.yaml:4: the link names 'bb', expected a device, switch or NIC; "
            "did you mean 'b'?");
  EXPECT_EQ(errorOf(withLink("{between: [a, a]" + figures)),
            "t.yaml:4: the link joins 'a' with itself");
  EXPECT_EQ(errorOf(withLink("{between: [a]" + figures)),
            "t.yaml:4: expected 'between' to be a list of two names, found 1");
  EXPECT_EQ(errorOf(withLink("{between: a" + figures)),
            "t.yaml:4: expected 'between' to be a list of two names, found "
            "'a'");
  EXPECT_EQ(errorOf(withLink("{between: [a, b], from: a" + figures)),
            "t.yaml:4: a link has 'between' (both directions), or 'from' and "
            "'to' (one), not both");
  EXPECT_EQ(errorOf(withLink("{from: a" + figures)),
            "t.yaml:4: a link lacks the key 'to'");
  EXPECT_EQ(errorOf(withLink("{between: [a, b]" + figures +
                             ",\n {from: b, to: a" + figures)),
            "t.yaml:5: a second link from 'b' to 'a', the first is on line 4");
}

TEST(TopologyErrors, Reachability) {
  EXPECT_EQ(errorOf("devices: 2 x h200\n"),
            "t.yaml:1: device 'd1' cannot be reached from device 'd0'");
  EXPECT_EQ(
      errorOf(withLink("{from: a, to: b, bandwidth: 1 GB/s, latency: 1 us}")),
      "t.yaml:3: device 'a' cannot be reached from device 'b'");
  // Rails that nothing joins, not even inside of the nodes.
  EXPECT_EQ(errorOf(R"(
nodes: [m, n]
devices: [{name: m0, kind: h200, node: m}, {name: m1, kind: h200, node: m},
          {name: n0, kind: h200, node: n}, {name: n1, kind: h200, node: n}]
switches: [{name: rail0}, {name: rail1}]
nics: [{name: mx0, node: m}, {name: mx1, node: m},
       {name: nx0, node: n}, {name: nx1, node: n}]
links:
  - {between: [m0, mx0], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [m1, mx1], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [n0, nx0], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [n1, nx1], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [mx0, rail0], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [nx0, rail0], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [mx1, rail1], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [nx1, rail1], bandwidth: 1 GB/s, latency: 1 us}
)"),
            "t.yaml:3: device 'm1' cannot be reached from device 'm0'; link "
            "them inside of their node, whose NICs do not send back what it "
            "sends");
}

TEST(TopologyErrors, Interconnect) {
  EXPECT_EQ(errorOf("devices: 2 x h200\ninterconnect: {type: fat-tree}\n"),
            "t.yaml:2: unknown type of interconnect 'fat-tree', expected one "
            "of: all-to-all, ring, switch, shared-memory, torus, "
            "twisted-torus, hypercube, random-regular, expander");
  EXPECT_EQ(errorOf("devices: 2 x h200\ninterconnect: {bandwidth: 1 GB/s}\n"),
            "t.yaml:2: the interconnect lacks the key 'type'");
  EXPECT_EQ(errorOf("devices: 257 x h200\ninterconnect: {type: all-to-all, "
                    "bandwidth: 1 GB/s, latency: 1 us}\n"),
            "t.yaml:2: expected at most 256 devices connected all to all, "
            "found 257; use 'type: switch'");
}

TEST(TopologyErrors, Nodes) {
  EXPECT_EQ(errorOf("nodes: [a, a]\ndevices: 1 x h200\n"),
            "t.yaml:1: node 'a' is given twice");
  EXPECT_EQ(errorOf("nodes: [one, two]\ndevices:\n"
                    "  - {name: d, kind: h200, node: tw}\n"),
            "t.yaml:3: unknown node 'tw'; did you mean 'two'?");
  EXPECT_EQ(errorOf("nodes: [a, b]\ndevices:\n  - {name: d, kind: h200}\n"),
            "t.yaml:3: a device lacks the key 'node', which is needed where "
            "there are several nodes");
  EXPECT_EQ(errorOf("nodes: [a, b]\ndevices: 2 x h200\n"),
            "t.yaml:2: expected devices with a name and a node, because there "
            "are several nodes; found '2 x h200'");
  EXPECT_EQ(errorOf("nodes: {count: 1, devices: 1 x h200}\n"
                    "devices: 1 x h200\n"),
            "t.yaml:2: expected either devices or nodes with a count and "
            "devices, found both");
  EXPECT_EQ(errorOf("nodes: {count: none, devices: 1 x h200}\n"),
            "t.yaml:1: expected a number of nodes from 1 to 65536, found "
            "'none'");
  EXPECT_EQ(errorOf("nodes: {count: 60000, devices: 2 x h200}\n"),
            "t.yaml:1: expected at most 65536 devices, found 120000");
  EXPECT_EQ(errorOf("nodes: {count: 1, devices: 2 x h200}\n"),
            "t.yaml:1: nodes of several devices: the map lacks the key "
            "'interconnect'");
  EXPECT_EQ(errorOf("nodes: {count: 2, devices: 1 x h200}\n"),
            "t.yaml:1: several nodes: the map lacks the key 'nic'");
  EXPECT_EQ(errorOf("nodes: {count: 2, devices: 1 x h200, nic: {count: 2, "
                    "bandwidth: 1 GB/s, latency: 1 us}}\n"),
            "t.yaml:1: expected at most one NIC for each of a node's 1 "
            "devices, found 2");
  EXPECT_EQ(errorOf("devices: 1 x h200\nnics: [{name: nic}]\n"),
            "t.yaml:2: a nic lacks the key 'node'");
}

} // namespace
