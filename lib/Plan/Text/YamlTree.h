//===- YamlTree.h - a YAML document with positions and limits ---*- C++ -*-===//
//
// Private to the library. A plain tree built from yaml-cpp's events: every node
// knows its line, and hostile input (deep nesting, aliases, millions of nodes)
// is refused while it is read. yaml-cpp's own nodes take ten times the memory,
// look keys up linearly and hide duplicate keys.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_YAMLTREE_H
#define FFC_LIB_PLAN_YAMLTREE_H

#include <string>
#include <vector>

namespace ffc::plan {

struct YamlNode {
  enum class Kind { Scalar, Sequence, Map };

  Kind kind = Kind::Scalar;
  int line = 0;       ///< from 1
  std::string scalar; ///< empty for an absent value
  /// Items of a sequence; key, value, key, value... of a map. Keys are scalars
  /// and different from each other.
  std::vector<YamlNode> children;

  bool isScalar() const { return kind == Kind::Scalar; }
  bool isSequence() const { return kind == Kind::Sequence; }
  bool isMap() const { return kind == Kind::Map; }
  /// The value of `key` in a map, or null.
  const YamlNode *find(const std::string &key) const;
  /// "the text 'x'", "a list", "a map", "nothing"; for messages.
  std::string describe() const;
};

/// Reads exactly one document. Throws Malformed (Text.h).
YamlNode parseYaml(const std::string &text);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_YAMLTREE_H
