//===- StrategyTokens.h - lines, names and devices of strategies -*- C++
//-*-===//
//
// Private to the library: the lexical level of strategy files, both ways.
// Reading throws Malformed (Text.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_STRATEGYTOKENS_H
#define FFC_LIB_PLAN_STRATEGYTOKENS_H

#include "ffc/Plan/Graph.h"

#include <string>
#include <vector>

namespace ffc::plan {

/// A line that holds something: its words, without comments. A colon after the
/// first word is a word of its own; quotes are resolved.
struct StrategyLine {
  int number = 0; ///< from 1
  std::vector<std::string> tokens;
};

std::vector<StrategyLine> splitStrategy(const std::string &text);

/// The devices that the words of `line` from number `begin` on list: "3",
/// "0-3", "3-0", and any of these repeated, "0-1*2" for 0 1 0 1.
std::vector<DeviceId> parseDevices(const StrategyLine &line, size_t begin);

/// `name` as a first word, quoted if need be.
std::string printName(const std::string &name);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_STRATEGYTOKENS_H
