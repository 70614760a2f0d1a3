//===- TopologyReaders.h - the parts of the topology reader -----*- C++ -*-===//
//
// Private to the library. What TopologyFile.cpp, which reads the whole, calls
// for parts that have their own files. All functions throw Malformed (Text.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TOPOLOGYREADERS_H
#define FFC_LIB_PLAN_TOPOLOGYREADERS_H

#include "Text/YamlTree.h"
#include "TopologyBuilder.h"

namespace ffc::plan {

/// Defines the kinds of a map from names to kinds.
void readKinds(const YamlNode &map, TopologyBuilder &builder);

/// The bandwidth and the latency of `map`.
LinkFigures readFigures(const YamlNode &map, const std::string &what);
/// The interconnect of devices or the network of nodes.
Pattern readPattern(const YamlNode &map, bool ofNodes);

/// The routing table, once all links are there.
void readRoutes(const YamlNode &list, TopologyBuilder &builder);
/// The key `routing`: does each message take one way, or all shortest ones?
void readRouting(const YamlNode &node, TopologyBuilder &builder);

/// Is `name`, up to a colon, meant as a preset's name rather than as a path?
bool namesPreset(const std::string &name);
/// The topology that "NAME" or "NAME:PARAMETERS" stands for, all on `line`.
YamlNode expandPreset(const std::string &name, int line);
/// If the map `root` has the key `preset`, replaces that key by what the preset
/// holds. The other keys of `root` go before: maps are joined key by key, and
/// lists, scalars and maps with the key `type` replace the preset's.
void layOnPreset(YamlNode &root);

/// Is `text` a machine model of FlexFlow (lines KEY = VALUE)?
bool isFlexFlowMachine(const std::string &text);
Topology readFlexFlowMachine(const std::string &text, const std::string &name);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TOPOLOGYREADERS_H
