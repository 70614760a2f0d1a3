//===- TopologyPresets.cpp - topologies that come along -------------------===//
//
// A preset is a topology file with holes ($nodes, $devices) for its parameters.
// docs/topology.md says where the figures come from.
//
//===----------------------------------------------------------------------===//

#include "Text/Text.h"
#include "Text/YamlFields.h"
#include "TopologyReaders.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

namespace {

/// A hole of a preset's text: "$nodes" for the name "NODES".
struct Parameter {
  const char *name;
  int least, most, standard;
};

struct Preset {
  const char *name;
  std::vector<Parameter> parameters; ///< written "2x4"
  const char *summary;
  std::string text;
};

} // namespace

/// The network interfaces of a node.
static std::string nic(const char *count, const char *bandwidth,
                       const char *latency, const char *attachBandwidth,
                       const char *attachLatency) {
  return "  nic:\n    count: " + std::string(count) +
         "\n    bandwidth: " + bandwidth + "\n    latency: " + latency +
         "\n    attach: {bandwidth: " + attachBandwidth +
         ", latency: " + attachLatency + "}\n";
}

static const std::vector<Preset> &presets() {
  static const std::vector<Preset> presets = {
      {"cpu",
       {{"DEVICES", 1, kMaxDevices, 1}},
       "processes on the cores of one machine, joined by shared memory",
       R"(
devices: $devices x cpu-core
# About what Open MPI was measured to give two processes of one machine.
interconnect: {type: shared-memory, bandwidth: 6 GB/s, latency: 200 ns}
)"},
      {"h200x8",
       {{"NODES", 1, kMaxDevices / 8, 1}},
       "nodes of 8 H200 on NVSwitch, a 400 Gbit/s InfiniBand NIC for each",
       R"(
nodes:
  count: $nodes
  devices: 8 x h200
  # NVLink 4 carries 450 GB/s each way, of which NCCL's rings reach 370 GB/s (its
  # own figure, and measured). Latencies, of single messages, are assumed.
  interconnect: {type: switch, bandwidth: 370 GB/s, latency: 2 us}
  # InfiniBand NDR; PCIe 5.0 x16 is 64 GB/s.
)" + nic("8", "400 Gbit/s", "2 us", "64 GB/s", "500 ns")},
      {"nvlink-ib",
       {{"NODES", 1, kMaxDevices / 8, 2}},
       "nodes of 8 H100 on NVSwitch, a 400 Gbit/s InfiniBand NIC for each",
       R"(
nodes:
  count: $nodes
  devices: 8 x h100
  # As of h200x8: NVLink 4, InfiniBand NDR, PCIe 5.0 x16.
  interconnect: {type: switch, bandwidth: 370 GB/s, latency: 2 us}
)" + nic("8", "400 Gbit/s", "2 us", "64 GB/s", "500 ns")},
      {"ethernet",
       {{"NODES", 1, kMaxDevices, 4}},
       "servers of one V100 on 10 Gbit/s Ethernet and one switch",
       R"(
nodes:
  count: $nodes
  devices: 1 x v100
  # 10GBASE-T with TCP, about 50 us from end to end (assumed); PCIe 3.0 x16.
)" + nic("1", "10 Gbit/s", "24 us", "15.75 GB/s", "1 us")},
      {"p100-cluster",
       {{"NODES", 1, kMaxDevices / 4, 4}},
       "FlexFlow's first cluster: nodes of 4 P100 on NVLink, EDR InfiniBand",
       R"(
nodes:
  count: $nodes
  devices: 4 x p100
  # One NVLink 1.0 link for each pair, 20 GB/s each way.
  interconnect: {type: all-to-all, bandwidth: 20 GB/s, latency: 2 us}
  # EDR is 100 Gbit/s. Latencies are assumed; PCIe 3.0 x16.
)" + nic("1", "100 Gbit/s", "2 us", "15.75 GB/s", "1 us")},
      {"k80-cluster",
       {{"NODES", 1, kMaxDevices / 4, 16}},
       "FlexFlow's second cluster: nodes of 4 K80 on PCIe, 56 Gbit/s "
       "InfiniBand",
       R"(
nodes:
  count: $nodes
  devices: 4 x k80
  # PCIe 3.0 x16 through one switch; the nearer switch that each two GPUs share
  # as well is left out. Latencies are assumed.
  interconnect: {type: switch, bandwidth: 15.75 GB/s, latency: 4 us}
)" + nic("1", "56 Gbit/s", "2 us", "15.75 GB/s", "2 us")},
      {"a100-topoopt",
       {{"NODES", 11, kMaxDevices, 12}},
       "TopoOpt's testbed: servers of one A100, 4 x 25 Gbit/s to other servers",
       R"(
nodes:
  count: $nodes
  devices: 1 x a100
  # Four ports of 25 Gbit/s on an optical patch panel. The testbed is rewired for
  # every job; here it is two rings by strides as its method would choose for
  # all-reduces. Latencies are assumed; PCIe 4.0 x16.
)" + nic("1", "100 Gbit/s", "1 us", "31.5 GB/s", "1 us") +
           R"(  network: {type: ring, strides: [1, 5], bandwidth: 25 Gbit/s, latency: 1 us}
)"},
      {"flexflow-sim",
       {{"NODES", 1, kMaxDevices, 2}, {"DEVICES", 1, 256, 4}},
       "the cluster of FlexFlow's scripts/simulator.cc with stub costs",
       R"(
nodes:
  count: $nodes
  devices: $devices x flexflow-sim
  # 4 * 1024^2 bytes per ms in a node, 1024^2 between nodes, no latency; and as
  # there every pair of devices has a way of its own, or nearly.
  interconnect: {type: all-to-all, bandwidth: 4000 MiB/s, latency: 0 s}
  nic: {count: $devices, bandwidth: 1000 MiB/s, latency: 0 s}
)"},
  };
  return presets;
}

static const Preset *findPreset(const std::string &name) {
  for (const Preset &preset : presets())
    if (preset.name == name)
      return &preset;
  return nullptr;
}

static std::vector<std::string> presetNames() {
  std::vector<std::string> names;
  for (const Preset &preset : presets())
    names.push_back(preset.name);
  return names;
}

const std::vector<TopologyPreset> &ffc::plan::topologyPresets() {
  static const std::vector<TopologyPreset> list = [] {
    std::vector<TopologyPreset> list;
    for (const Preset &preset : presets()) {
      TopologyPreset shown{preset.name, "", "", preset.summary};
      for (const Parameter &parameter : preset.parameters) {
        const char *separator = shown.parameters.empty() ? "" : "x";
        shown.parameters += separator + std::string(parameter.name);
        shown.standard += separator + std::to_string(parameter.standard);
      }
      list.push_back(std::move(shown));
    }
    return list;
  }();
  return list;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

/// The numbers of "2x4", or of nothing; none on failure.
static std::optional<std::vector<int>>
parseParameters(const Preset &preset, const std::optional<std::string> &text) {
  std::vector<int> values;
  if (!text) {
    for (const Parameter &parameter : preset.parameters)
      values.push_back(parameter.standard);
    return values;
  }
  size_t begin = 0;
  for (const Parameter &parameter : preset.parameters) {
    if (begin > text->size())
      return std::nullopt;
    const size_t end = std::min(text->find('x', begin), text->size());
    const auto value =
        parseCount(text->substr(begin, end - begin), parameter.most);
    if (!value || *value < parameter.least)
      return std::nullopt;
    values.push_back(static_cast<int>(*value));
    begin = end + 1;
  }
  if (begin != text->size() + 1)
    return std::nullopt;
  return values;
}

/// "cpu:DEVICES with DEVICES from 1 to 65536".
static std::string formOf(const Preset &preset) {
  std::string form = preset.name, ranges;
  for (const Parameter &parameter : preset.parameters) {
    form += (ranges.empty() ? ":" : "x") + std::string(parameter.name);
    ranges += (ranges.empty() ? " with " : " and ") +
              std::string(parameter.name) + " from " +
              std::to_string(parameter.least) + " to " +
              std::to_string(parameter.most);
  }
  return form + ranges;
}

static void setLines(YamlNode &node, int line) {
  node.line = line;
  for (YamlNode &child : node.children)
    setLines(child, line);
}

bool ffc::plan::namesPreset(const std::string &name) {
  if (findPreset(name.substr(0, name.find(':'))))
    return true;
  // What nobody would call a file, unless there is one, is a preset too, though
  // an unknown one.
  std::error_code code;
  return !name.empty() && name.find_first_of("/.") == std::string::npos &&
         !std::filesystem::exists(name, code);
}

YamlNode ffc::plan::expandPreset(const std::string &name, int line) {
  const size_t colon = name.find(':');
  const std::string base = name.substr(0, colon);
  const Preset *preset = findPreset(base);
  // Of three letters, one that is wrong makes another word: gpu is not cpu.
  if (!preset)
    throw Malformed{
        line, "unknown preset " + quoted(base) +
                  ", expected one of: " + joined(presetNames()) +
                  (base.size() > 3 ? suggestion(base, presetNames()) : "")};
  std::optional<std::string> parameters;
  if (colon != std::string::npos)
    parameters = name.substr(colon + 1);
  const auto values = parseParameters(*preset, parameters);
  if (!values)
    throw Malformed{line, "expected the preset " + formOf(*preset) +
                              ", found " + quoted(name)};
  std::string text = preset->text;
  for (size_t i = 0; i < values->size(); ++i) {
    std::string hole = preset->parameters[i].name;
    std::transform(hole.begin(), hole.end(), hole.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    hole.insert(0, "$");
    for (size_t at; (at = text.find(hole)) != std::string::npos;)
      text.replace(at, hole.size(), std::to_string((*values)[i]));
  }
  YamlNode root = parseYaml(text);
  // Where it does not fit what the file adds, its place in the file counts.
  setLines(root, line);
  return root;
}

static void layOn(YamlNode &base, const YamlNode &over) {
  if (!base.isMap() || !over.isMap() || over.find("type")) {
    base = over;
    return;
  }
  base.line = over.line;
  for (size_t i = 0; i < over.children.size(); i += 2) {
    const YamlNode &key = over.children[i], &value = over.children[i + 1];
    size_t at = 0;
    while (at < base.children.size() && base.children[at].scalar != key.scalar)
      at += 2;
    if (at < base.children.size()) {
      base.children[at].line = key.line;
      layOn(base.children[at + 1], value);
    } else {
      base.children.push_back(key);
      base.children.push_back(value);
    }
  }
}

void ffc::plan::layOnPreset(YamlNode &root) {
  const YamlNode *preset = root.find("preset");
  if (!preset)
    return;
  YamlNode base =
      expandPreset(text(*preset, "the name of a preset"), preset->line);
  const auto at = root.children.begin() + (preset - root.children.data());
  root.children.erase(at - 1, at + 1);
  layOn(base, root);
  root = std::move(base);
}
