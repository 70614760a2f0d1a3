//===- PatternFile.cpp - reads regular networks ---------------------------===//

#include "Text/Text.h"
#include "Text/YamlFields.h"
#include "TopologyReaders.h"

#include <algorithm>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

LinkFigures ffc::plan::readFigures(const YamlNode &map,
                                   const std::string &what) {
  return {positive(require(map, "bandwidth", what),
                   QuantityKind::BytesPerSecond, "bandwidth of " + what),
          delay(require(map, "latency", what), "latency of " + what)};
}

/// Fails unless `node` is a list of 1 to `most` items.
static void expectItems(const YamlNode &node, const std::string &what,
                        size_t most, const std::string &items) {
  if (!node.isSequence() || node.children.empty() ||
      node.children.size() > most)
    fail(node, "expected " + what + " to be a list of 1 to " +
                   std::to_string(most) + " " + items + ", found " +
                   (node.isSequence() ? std::to_string(node.children.size())
                                      : node.describe()));
}

/// Numbers from 1 on, at most `most` of them.
static std::vector<int> readNumbers(const YamlNode &node,
                                    const std::string &what, size_t most) {
  expectItems(node, what, most, "numbers");
  std::vector<int> numbers;
  for (const YamlNode &item : node.children)
    numbers.push_back(count(item, "a number in " + what, kMaxDevices));
  return numbers;
}

/// Lists of numbers from 0 on.
static std::vector<std::vector<int>>
readTwists(const YamlNode &node, const std::string &what, size_t most) {
  expectItems(node, what, most, "lists");
  std::vector<std::vector<int>> twists;
  for (const YamlNode &list : node.children) {
    expectItems(list, "each of " + what, most, "numbers");
    twists.emplace_back();
    for (const YamlNode &item : list.children) {
      const auto number =
          item.isScalar() ? parseCount(item.scalar, kMaxDevices) : std::nullopt;
      if (!number)
        fail(item, "expected a number in " + what + " from 0 to " +
                       std::to_string(kMaxDevices) + ", found " +
                       item.describe());
      twists.back().push_back(static_cast<int>(*number));
    }
  }
  return twists;
}

namespace {

/// What may be written for a type of pattern besides its type and figures.
struct PatternSyntax {
  const char *name;
  Pattern::Type type;
  bool ofDevices, ofNodes;
  std::vector<std::string> required, optional;
  /// As a network it has no links but those of the NICs.
  bool isNicsOnly = false;
};

} // namespace

static const std::vector<PatternSyntax> &patternSyntaxes() {
  using Type = Pattern::Type;
  static const std::vector<PatternSyntax> syntaxes = {
      {"all-to-all", Type::AllToAll, true, true, {}, {}},
      {"ring", Type::Ring, true, true, {}, {"strides"}},
      {"switch", Type::Switch, true, true, {}, {}, true},
      {"shared-memory", Type::SharedMemory, true, false, {}, {}},
      {"torus", Type::Torus, true, true, {"shape"}, {}},
      {"twisted-torus", Type::TwistedTorus, true, true, {"shape"}, {"twists"}},
      {"hypercube", Type::Hypercube, true, true, {}, {}},
      {"random-regular", Type::RandomRegular, true, true, {"degree"}, {"seed"}},
      {"expander", Type::Expander, true, true, {"degree"}, {"seed"}},
      {"fat-tree",
       Type::FatTree,
       false,
       true,
       {},
       {"ports", "oversubscription"}},
      {"rail-optimised",
       Type::RailOptimised,
       false,
       true,
       {"spines"},
       {"group"}},
      {"rail-only", Type::RailOnly, false, true, {}, {}, true},
      {"dragonfly",
       Type::Dragonfly,
       false,
       true,
       {"terminals", "routers", "global"},
       {}}};
  return syntaxes;
}

static void addKeys(std::vector<std::string> &keys,
                    const PatternSyntax &syntax) {
  for (const auto *more : {&syntax.required, &syntax.optional})
    for (const std::string &key : *more)
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
}

Pattern ffc::plan::readPattern(const YamlNode &map, bool ofNodes) {
  constexpr int kMaxExtents = 6, kMaxStrides = 64, kMaxPorts = 128;
  const std::string what = ofNodes ? "the network" : "the interconnect";
  std::vector<std::string> types, keys = {"type", "bandwidth", "latency"};
  for (const PatternSyntax &syntax : patternSyntaxes())
    if (ofNodes ? syntax.ofNodes : syntax.ofDevices) {
      types.push_back(syntax.name);
      addKeys(keys, syntax);
    }
  expectMap(map, what, keys);
  const YamlNode &node = require(map, "type", what);
  const std::string &type = text(node, "a type of " + what.substr(4));
  if (std::find(types.begin(), types.end(), type) == types.end())
    fail(node, "unknown type of " + what.substr(4) + " " + quoted(type) +
                   ", expected one of: " + joined(types));
  const PatternSyntax &syntax =
      *std::find_if(patternSyntaxes().begin(), patternSyntaxes().end(),
                    [&](const auto &each) { return each.name == type; });
  Pattern pattern;
  pattern.type = syntax.type;
  pattern.line = map.line;
  const bool hasFigures = !ofNodes || !syntax.isNicsOnly;
  keys = {"type"};
  if (hasFigures)
    keys.insert(keys.end(), {"bandwidth", "latency"});
  addKeys(keys, syntax);
  expectMap(map, what + " of type '" + type + "'", keys);
  if (hasFigures)
    pattern.figures = readFigures(map, what);
  for (const std::string &key : syntax.required)
    require(map, key, what);
  const std::string of = " of " + what;
  if (const YamlNode *shape = map.find("shape"))
    pattern.shape = readNumbers(*shape, "the shape" + of, kMaxExtents);
  if (const YamlNode *twists = map.find("twists"))
    pattern.twists = readTwists(*twists, "the twists" + of, kMaxExtents);
  if (const YamlNode *strides = map.find("strides"))
    pattern.strides = readNumbers(*strides, "the strides" + of, kMaxStrides);
  auto readCount = [&](const char *key, int max, int &value) {
    if (const YamlNode *number = map.find(key))
      value = count(*number, std::string("the ") + key + of, max);
  };
  readCount("degree", kMaxDevices, pattern.degree);
  readCount("seed", INT32_MAX, pattern.seed);
  readCount("ports", kMaxPorts, pattern.ports);
  readCount("oversubscription", kMaxPorts - 1, pattern.oversubscription);
  readCount("spines", kMaxDevices, pattern.spines);
  readCount("group", kMaxDevices, pattern.group);
  readCount("terminals", kMaxPorts, pattern.terminals);
  readCount("routers", kMaxPorts, pattern.routers);
  readCount("global", kMaxPorts, pattern.global);
  return pattern;
}
