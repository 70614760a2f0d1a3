//===- TopologyFile.cpp - reads topology files ----------------------------===//
//
// The grammar of docs/topology.md: YAML maps to calls of the builder.
//
//===----------------------------------------------------------------------===//

#include "Text/Text.h"
#include "Text/YamlFields.h"
#include "TopologyReaders.h"

#include <algorithm>
#include <tuple>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

static constexpr size_t kMaxFileBytes = size_t(16) << 20;

namespace {

class Reader {
public:
  Topology read(const YamlNode &root, const std::string &defaultName);

private:
  void readDevices(const YamlNode &node);
  void readDevice(const YamlNode &node);
  /// "4 x h200": the count and the number of the kind.
  std::pair<int, int> readGroup(const YamlNode &node);
  void readNodeGroup(const YamlNode &map);
  void readLink(const YamlNode &map);
  /// The node that the `node` key of `map` names; without the key the only one,
  /// or -1 if there are several.
  int readNode(const YamlNode &map);

  TopologyBuilder builder;
};

} // namespace

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

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

void Reader::readNodeGroup(const YamlNode &map) {
  const std::string what = "nodes";
  expectMap(map, what, {"count", "devices", "interconnect", "nic", "network"});
  NodeGroup group;
  group.line = map.line;
  group.network.line = map.line;
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
    group.interconnect = readPattern(*interconnect, /*ofNodes=*/false);
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
  if (const YamlNode *network = map.find("network"))
    group.network = readPattern(*network, /*ofNodes=*/true);
  builder.addNodes(group);
}

void Reader::readLink(const YamlNode &map) {
  const std::string what = "a link";
  constexpr int kMaxCables = 1024;
  expectMap(map, what,
            {"between", "from", "to", "bandwidth", "latency", "cables"});
  LinkFigures figures = readFigures(map, what);
  if (const YamlNode *cables = map.find("cables"))
    figures.cables = count(*cables, "the cables of " + what, kMaxCables);
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
            {"name", "preset", "kinds", "nodes", "devices", "switches", "nics",
             "interconnect", "links", "routing", "routes"});
  for (const DeviceKind &kind : presetKinds())
    builder.defineKind(0, kind);
  if (const YamlNode *kinds = root.find("kinds"))
    readKinds(*kinds, builder);
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
    builder.connect(readPattern(*map, /*ofNodes=*/false), 0,
                    builder.numDevices(), "", builder.onlyNode());
  forEach("links", [&](const YamlNode &item) { readLink(item); });
  if (const YamlNode *routing = root.find("routing"))
    readRouting(*routing, builder);
  if (const YamlNode *routes = root.find("routes"))
    readRoutes(*routes, builder);
  const YamlNode *name = root.find("name");
  return builder.finish(name ? text(*name, "a name") : defaultName);
}

static Topology readYaml(YamlNode root, const std::string &defaultName) {
  layOnPreset(root);
  return Reader().read(root, defaultName);
}

static Topology readText(const std::string &text,
                         const std::string &defaultName) {
  if (text.size() > kMaxFileBytes)
    throw Malformed{1, "expected at most " + std::to_string(kMaxFileBytes) +
                           " bytes, found " + std::to_string(text.size())};
  if (isFlexFlowMachine(text))
    return readFlexFlowMachine(text, defaultName);
  return readYaml(parseYaml(text), defaultName);
}

std::optional<Topology> Topology::parse(const std::string &text,
                                        const std::string &fileName,
                                        std::string &error) {
  const size_t folder = fileName.rfind('/');
  std::string base =
      fileName.substr(folder == std::string::npos ? 0 : folder + 1);
  base = base.substr(0, base.rfind('.'));
  try {
    return readText(text, base);
  } catch (const Malformed &malformed) {
    error = fileName + ":" + std::to_string(malformed.line) + ": " +
            malformed.message;
    return std::nullopt;
  }
}

std::optional<Topology> Topology::load(const std::string &nameOrPath,
                                       std::string &error) {
  if (namesPreset(nameOrPath)) {
    try {
      // Named as it was asked for, parameters included.
      return readYaml(expandPreset(nameOrPath, /*line=*/0), nameOrPath);
    } catch (const Malformed &malformed) {
      error = nameOrPath + ": " + malformed.message;
      return std::nullopt;
    }
  }
  std::optional<std::string> text =
      readTextFile(nameOrPath, kMaxFileBytes, error);
  if (!text)
    return std::nullopt;
  return parse(*text, nameOrPath, error);
}
