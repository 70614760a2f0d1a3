//===- YamlFields.h - checked access to YAML maps ---------------*- C++ -*-===//
//
// Private to the library. Each function returns what it says or throws
// Malformed (Text.h) with what was expected and found. `what` names the owner
// in messages: "a link", "the kind 'x'".
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_YAMLFIELDS_H
#define FFC_LIB_PLAN_YAMLFIELDS_H

#include "YamlTree.h"
#include "ffc/Plan/Units.h"

namespace ffc::plan::yaml {

[[noreturn]] void fail(const YamlNode &at, const std::string &message);

/// `node` is a map with no other keys than `keys`.
void expectMap(const YamlNode &node, const std::string &what,
               const std::vector<std::string> &keys);
/// `node` is a list with at least one item.
void expectList(const YamlNode &node, const std::string &what);
/// The value of `key`.
const YamlNode &require(const YamlNode &map, const std::string &key,
                        const std::string &what);
/// A scalar that is not empty.
const std::string &text(const YamlNode &node, const std::string &what);
/// A quantity of at least one base unit.
double positive(const YamlNode &node, QuantityKind kind,
                const std::string &what);
/// A time from nothing to a second.
Picoseconds delay(const YamlNode &node, const std::string &what);
/// The value of `key`: a number of at least 0, without a unit.
double number(const YamlNode &map, const std::string &key,
              const std::string &what);
/// A whole number from 1 to `max`.
int count(const YamlNode &node, const std::string &what, int max);

} // namespace ffc::plan::yaml

#endif // FFC_LIB_PLAN_YAMLFIELDS_H
