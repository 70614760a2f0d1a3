//===- YamlFields.cpp - checked access to YAML maps -----------------------===//

#include "YamlFields.h"

#include "Text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

/// Above this, the sum of a way's latencies could leave int64.
static constexpr Picoseconds kMaxDelay = 1'000'000'000'000;

void ffc::plan::yaml::fail(const YamlNode &at, const std::string &message) {
  throw Malformed{at.line, message};
}

void ffc::plan::yaml::expectMap(const YamlNode &node, const std::string &what,
                                const std::vector<std::string> &keys) {
  if (!node.isMap())
    fail(node, "expected " + what + " to be a map with the keys " +
                   joined(keys) + "; found " + node.describe());
  for (size_t i = 0; i < node.children.size(); i += 2) {
    const YamlNode &key = node.children[i];
    if (std::find(keys.begin(), keys.end(), key.scalar) == keys.end())
      fail(key, "unknown key " + quoted(key.scalar) + " in " + what +
                    ", expected one of: " + joined(keys) +
                    suggestion(key.scalar, keys));
  }
}

void ffc::plan::yaml::expectList(const YamlNode &node,
                                 const std::string &what) {
  if (!node.isSequence() || node.children.empty())
    fail(node, "expected " + what + " to be a list, found " +
                   (node.isSequence() ? "an empty one" : node.describe()));
}

const YamlNode &ffc::plan::yaml::require(const YamlNode &map,
                                         const std::string &key,
                                         const std::string &what) {
  if (const YamlNode *value = map.find(key))
    return *value;
  fail(map, what + " lacks the key '" + key + "'");
}

const std::string &ffc::plan::yaml::text(const YamlNode &node,
                                         const std::string &what) {
  if (!node.isScalar() || node.scalar.empty())
    fail(node, "expected " + what + ", found " + node.describe());
  return node.scalar;
}

static double quantity(const YamlNode &node, QuantityKind kind,
                       const std::string &what) {
  if (!node.isScalar())
    fail(node, what + ": expected a quantity, found " + node.describe());
  std::string error;
  const std::optional<double> value = parseQuantity(node.scalar, kind, error);
  if (!value)
    fail(node, what + ": " + error);
  return *value;
}

double ffc::plan::yaml::positive(const YamlNode &node, QuantityKind kind,
                                 const std::string &what) {
  const double value = quantity(node, kind, what);
  if (value < 1)
    fail(node,
         what + ": expected more than zero, found " + quoted(node.scalar));
  return value;
}

Picoseconds ffc::plan::yaml::delay(const YamlNode &node,
                                   const std::string &what) {
  const double value = quantity(node, QuantityKind::Time, what);
  if (value < 0 || value > kMaxDelay)
    fail(node, what + ": expected 0 s to 1 s, found " + quoted(node.scalar));
  return std::llround(value);
}

double ffc::plan::yaml::number(const YamlNode &map, const std::string &key,
                               const std::string &what) {
  const YamlNode &node = require(map, key, what);
  char *end = nullptr;
  const double value =
      node.isScalar() ? std::strtod(node.scalar.c_str(), &end) : 0;
  if (!node.isScalar() || node.scalar.empty() || *end ||
      !std::isfinite(value) || value < 0 || value > 1e18)
    fail(node, "expected '" + key + "' of " + what +
                   " to be a number of at least 0, found " + node.describe());
  return value;
}

int ffc::plan::yaml::count(const YamlNode &node, const std::string &what,
                           int max) {
  const auto value =
      node.isScalar() ? parseCount(node.scalar, max) : std::nullopt;
  if (!value || *value == 0)
    fail(node, "expected " + what + " from 1 to " + std::to_string(max) +
                   ", found " + node.describe());
  return static_cast<int>(*value);
}
