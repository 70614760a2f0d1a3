//===- TopologyFile.cpp - reads topology files ----------------------------===//
//
// The grammar of docs/topology.md: YAML maps to calls of the builder.
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "TopologyBuilder.h"
#include "YamlFields.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

static constexpr size_t kMaxFileBytes = size_t(16) << 20;

namespace {

class Reader {
public:
  Topology read(const YamlNode &root, const std::string &defaultName);

private:
  void readKind(const std::string &name, const YamlNode &map);
  void readDevices(const YamlNode &node);
  void readDevice(const YamlNode &node);
  /// "4 x h200": the count and the number of the kind.
  std::pair<int, int> readGroup(const YamlNode &node);
  void readNodeGroup(const YamlNode &map);
  void readLink(const YamlNode &map);
  static LinkFigures readFigures(const YamlNode &map, const std::string &what);
  static Interconnect readInterconnect(const YamlNode &map);
  /// The node that the `node` key of `map` names; without the key the only one,
  /// or -1 if there are several.
  int readNode(const YamlNode &map);

  TopologyBuilder builder;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kinds and devices
//===----------------------------------------------------------------------===//

void Reader::readKind(const std::string &name, const YamlNode &map) {
  const std::string what = "the kind " + quoted(name);
  expectMap(map, what,
            {"like", "target", "flops", "memory", "launch", "overlap"});
  DeviceKind kind;
  const YamlNode *like = map.find("like");
  if (like)
    kind = builder.kind(
        builder.findKind(like->line, text(*like, "the name of a kind")));
  kind.name = name;
  // A kind that is like another one may leave out any key.
  auto given = [&](const std::string &key) {
    return like ? map.find(key) : &require(map, key, what);
  };
  if (const YamlNode *node = given("target")) {
    const std::string &target = text(*node, "'cpu' or 'cuda'");
    if (target != "cpu" && target != "cuda")
      fail(*node, "target of " + what + ": expected 'cpu' or 'cuda', found " +
                      quoted(target));
    kind.target = target == "cpu" ? Target::CPU : Target::CUDA;
  }
  if (const YamlNode *node = given("flops")) {
    std::vector<std::string> names;
    for (int i = 0; i < kNumArithmetics; ++i)
      names.push_back(str(static_cast<Arithmetic>(i)));
    expectMap(*node, "flops of " + what, names);
    for (int i = 0; i < kNumArithmetics; ++i)
      if (const YamlNode *rate = node->find(names[i]))
        kind.flops[i] = positive(*rate, QuantityKind::FlopsPerSecond,
                                 names[i] + " flops of " + what);
    if (!like)
      require(*node, "f32", "flops of " + what);
  }
  if (const YamlNode *node = given("memory")) {
    const std::string memory = "memory of " + what;
    expectMap(*node, memory, {"size", "bandwidth"});
    const YamlNode *size =
        like ? node->find("size") : &require(*node, "size", memory);
    if (size)
      kind.memoryBytes = std::llround(
          positive(*size, QuantityKind::Bytes, "size of the " + memory));
    const YamlNode *bandwidth =
        like ? node->find("bandwidth") : &require(*node, "bandwidth", memory);
    if (bandwidth)
      kind.memoryBandwidth = positive(*bandwidth, QuantityKind::BytesPerSecond,
                                      "bandwidth of the " + memory);
  }
  if (const YamlNode *node = given("launch"))
    kind.launch = delay(*node, "launch of " + what);
  if (const YamlNode *node = given("overlap")) {
    const std::string &overlap = text(*node, "'true' or 'false'");
    if (overlap != "true" && overlap != "false")
      fail(*node, "overlap of " + what +
                      ": expected 'true' or 'false', found " + quoted(overlap));
    kind.overlap = overlap == "true";
  }
  builder.defineKind(map.line, std::move(kind));
}

std::pair<int, int> Reader::readGroup(const YamlNode &node) {
  const std::string &group = text(node, "devices such as '4 x h200'");
  // COUNT, x, KIND.
  const size_t times = group.find(" x ");
  const auto number = times == std::string::npos
                          ? std::nullopt
                          : parseCount(group.substr(0, times), kMaxDevices);
  if (!number || *number == 0)
    fail(node, "expected devices such as '4 x h200', 1 to " +
                   std::to_string(kMaxDevices) + " of them, found " +
                   quoted(group));
  return {static_cast<int>(*number),
          builder.findKind(node.line, group.substr(times + 3))};
}

void Reader::readDevice(const YamlNode &node) {
  expectMap(node, "a device", {"name", "kind", "node"});
  const YamlNode &kind = require(node, "kind", "a device");
  const int kindNumber =
      builder.findKind(kind.line, text(kind, "the name of a kind"));
  const int number = readNode(node);
  if (number < 0)
    fail(node, "a device lacks the key 'node', which is needed where there are "
               "several nodes");
  builder.addDevice(node.line,
                    text(require(node, "name", "a device"), "a device's name"),
                    kindNumber, number);
}

void Reader::readDevices(const YamlNode &node) {
  auto addGroup = [&](const YamlNode &group) {
    auto [number, kind] = readGroup(group);
    const int home = builder.onlyNode();
    if (home < 0)
      fail(group, "expected devices with a name and a node, because there are "
                  "several nodes; found " +
                      quoted(group.scalar));
    builder.addDevices(group.line, number, kind, home);
  };
  if (node.isScalar())
    return addGroup(node);
  expectList(node, "devices");
  for (const YamlNode &item : node.children) {
    if (item.isScalar())
      addGroup(item);
    else
      readDevice(item);
  }
}

int Reader::readNode(const YamlNode &map) {
  if (const YamlNode *node = map.find("node"))
    return builder.findNode(node->line, text(*node, "the name of a node"));
  return builder.onlyNode();
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

LinkFigures Reader::readFigures(const YamlNode &map, const std::string &what) {
  return {positive(require(map, "bandwidth", what),
                   QuantityKind::BytesPerSecond, "bandwidth of " + what),
          delay(require(map, "latency", what), "latency of " + what)};
}

Interconnect Reader::readInterconnect(const YamlNode &map) {
  static const std::vector<std::string> types = {"all-to-all", "ring", "switch",
                                                 "shared-memory"};
  const std::string what = "the interconnect";
  expectMap(map, what, {"type", "bandwidth", "latency"});
  const YamlNode &node = require(map, "type", what);
  const std::string &type = text(node, "a type of interconnect");
  auto found = std::find(types.begin(), types.end(), type);
  if (found == types.end())
    fail(node, "unknown type of interconnect " + quoted(type) +
                   ", expected one of: " + joined(types));
  Interconnect interconnect;
  // `types` lists them in the order of the enumeration.
  interconnect.type = static_cast<Interconnect::Type>(found - types.begin());
  interconnect.figures = readFigures(map, what);
  interconnect.line = map.line;
  return interconnect;
}

void Reader::readNodeGroup(const YamlNode &map) {
  const std::string what = "nodes";
  expectMap(map, what, {"count", "devices", "interconnect", "nic"});
  NodeGroup group;
  group.line = map.line;
  group.count =
      count(require(map, "count", what), "a number of nodes", kMaxDevices);
  const YamlNode &devices = require(map, "devices", what);
  std::tie(group.devicesPerNode, group.kind) = readGroup(devices);
  if (int64_t(group.count) * group.devicesPerNode > kMaxDevices)
    fail(devices,
         "expected at most " + std::to_string(kMaxDevices) +
             " devices, found " +
             std::to_string(int64_t(group.count) * group.devicesPerNode));
  if (const YamlNode *interconnect = map.find("interconnect"))
    group.interconnect = readInterconnect(*interconnect);
  else if (group.devicesPerNode > 1)
    require(map, "interconnect", "nodes of several devices: the map");
  if (group.count > 1 || map.find("nic")) {
    const YamlNode &nic = require(map, "nic", "several nodes: the map");
    expectMap(nic, "the nic", {"count", "bandwidth", "latency", "attach"});
    group.nicsPerNode = count(require(nic, "count", "the nic"),
                              "a number of NICs", kMaxDevices);
    if (group.nicsPerNode > group.devicesPerNode)
      fail(nic, "expected at most one NIC for each of a node's " +
                    std::to_string(group.devicesPerNode) + " devices, found " +
                    std::to_string(group.nicsPerNode));
    group.nic = readFigures(nic, "the nic");
    group.attach = {group.nic.bandwidth, 0};
    if (const YamlNode *attach = nic.find("attach")) {
      expectMap(*attach, "attach of the nic", {"bandwidth", "latency"});
      group.attach = readFigures(*attach, "attach of the nic");
    }
  }
  builder.addNodes(group);
}

void Reader::readLink(const YamlNode &map) {
  const std::string what = "a link";
  expectMap(map, what, {"between", "from", "to", "bandwidth", "latency"});
  const LinkFigures figures = readFigures(map, what);
  const YamlNode *between = map.find("between");
  if (!between) {
    builder.addLink(map.line, text(require(map, "from", what), "a name"),
                    text(require(map, "to", what), "a name"), figures);
    return;
  }
  if (map.find("from") || map.find("to"))
    fail(map, "a link has 'between' (both directions), or 'from' and 'to' "
              "(one), not both");
  if (!between->isSequence() || between->children.size() != 2)
    fail(*between,
         "expected 'between' to be a list of two names, found " +
             (between->isSequence() ? std::to_string(between->children.size())
                                    : between->describe()));
  const std::string &a = text(between->children[0], "a name");
  const std::string &b = text(between->children[1], "a name");
  builder.addLink(map.line, a, b, figures);
  builder.addLink(map.line, b, a, figures);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Topology Reader::read(const YamlNode &root, const std::string &defaultName) {
  expectMap(root, "a topology",
            {"name", "kinds", "nodes", "devices", "switches", "nics",
             "interconnect", "links"});
  for (const DeviceKind &kind : presetKinds())
    builder.defineKind(0, kind);
  if (const YamlNode *kinds = root.find("kinds")) {
    if (!kinds->isMap())
      fail(*kinds, "expected kinds to be a map from names to kinds, found " +
                       kinds->describe());
    for (size_t i = 0; i < kinds->children.size(); i += 2)
      readKind(kinds->children[i].scalar, kinds->children[i + 1]);
  }
  const YamlNode *nodes = root.find("nodes");
  const YamlNode *devices = root.find("devices");
  if (nodes && nodes->isMap()) {
    if (devices)
      fail(*devices, "expected either devices or nodes with a count and "
                     "devices, found both");
    readNodeGroup(*nodes);
  } else {
    if (nodes) {
      expectList(*nodes, "nodes");
      for (const YamlNode &node : nodes->children)
        builder.addNode(node.line, text(node, "the name of a node"));
    }
    readDevices(require(root, "devices", "the topology"));
  }
  auto forEach = [&](const std::string &section, auto read) {
    if (const YamlNode *list = root.find(section)) {
      expectList(*list, section);
      for (const YamlNode &item : list->children)
        read(item);
    }
  };
  forEach("switches", [&](const YamlNode &item) {
    expectMap(item, "a switch", {"name", "node"});
    builder.addSwitch(item.line,
                      text(require(item, "name", "a switch"), "a name"),
                      item.find("node") ? readNode(item) : -1);
  });
  forEach("nics", [&](const YamlNode &item) {
    expectMap(item, "a nic", {"name", "node"});
    require(item, "node", "a nic");
    builder.addNic(item.line, text(require(item, "name", "a nic"), "a name"),
                   readNode(item));
  });
  if (const YamlNode *map = root.find("interconnect"))
    builder.connect(readInterconnect(*map), 0, builder.numDevices(), "",
                    builder.onlyNode());
  forEach("links", [&](const YamlNode &item) { readLink(item); });
  const YamlNode *name = root.find("name");
  return builder.finish(name ? text(*name, "a name") : defaultName);
}

std::optional<Topology> Topology::parse(const std::string &text,
                                        const std::string &fileName,
                                        std::string &error) {
  const size_t folder = fileName.rfind('/');
  std::string base =
      fileName.substr(folder == std::string::npos ? 0 : folder + 1);
  base = base.substr(0, base.rfind('.'));
  try {
    if (text.size() > kMaxFileBytes)
      throw Malformed{1, "expected at most " + std::to_string(kMaxFileBytes) +
                             " bytes, found " + std::to_string(text.size())};
    return Reader().read(parseYaml(text), base);
  } catch (const Malformed &malformed) {
    error = fileName + ":" + std::to_string(malformed.line) + ": " +
            malformed.message;
    return std::nullopt;
  }
}

std::optional<Topology> Topology::load(const std::string &path,
                                       std::string &error) {
  std::optional<std::string> text = readTextFile(path, kMaxFileBytes, error);
  if (!text)
    return std::nullopt;
  return parse(*text, path, error);
}
