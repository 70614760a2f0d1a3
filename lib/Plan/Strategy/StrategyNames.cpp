//===- StrategyNames.cpp - operators by the names people use --------------===//

#include "StrategyNames.h"

#include "Text/Text.h"

#include <algorithm>

using namespace ffc::plan;

std::string ffc::plan::shortFamily(const std::string &family) {
  const size_t size = family.size();
  if (size > 2 && family[size - 1] == 'd' && family[size - 2] >= '1' &&
      family[size - 2] <= '3')
    return family.substr(0, size - 2);
  return family;
}

static void addOnce(std::vector<OpId> &candidates, OpId id) {
  if (candidates.empty() || candidates.back() != id)
    candidates.push_back(id);
}

OperatorNames::OperatorNames(const Graph &graph) : graph(graph) {
  std::unordered_map<std::string, int> seen;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const Op &op = graph.op(id);
    addOnce(nodes[op.name], id);
    for (const std::string &alias : op.aliases)
      addOnce(outputs[alias], id);
    if (op.role != OpRole::Forward || op.type.empty())
      continue;
    const int ordinal = ++seen[op.type];
    for (const std::string &family : {op.type, shortFamily(op.type)}) {
      addOnce(ordinals[family + std::to_string(ordinal)], id);
      familySizes[family] = std::max(familySizes[family], ordinal);
    }
  }
}

OpId OperatorNames::find(const std::string &name, std::string &error) const {
  for (const auto *names : {&nodes, &outputs, &ordinals}) {
    auto found = names->find(name);
    if (found == names->end())
      continue;
    const Candidates &candidates = found->second;
    if (candidates.size() == 1)
      return candidates.front();
    std::vector<std::string> choices;
    for (OpId id : candidates)
      choices.push_back(quoted(graph.op(id).name));
    error = quoted(name) + " is ambiguous, expected one of the nodes " +
            joined(choices);
    return -1;
  }
  error = describeMissing(name);
  return -1;
}

std::string OperatorNames::describeMissing(const std::string &name) const {
  std::string message = "unknown operator " + quoted(name) +
                        ", expected a node name, an output name, or a family "
                        "and a number";
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  auto family = familySizes.find(name.substr(0, digits));
  if (digits < name.size() && family != familySizes.end())
    return message + "; there are " + family->first + "1 to " + family->first +
           std::to_string(family->second);
  std::vector<std::string> known;
  for (const Op &op : graph.ops) {
    known.push_back(op.name);
    known.insert(known.end(), op.aliases.begin(), op.aliases.end());
  }
  // After the names in graph order; sorted, since hash maps have no order.
  const size_t numNames = known.size();
  for (const auto &entry : ordinals)
    known.push_back(entry.first);
  std::sort(known.begin() + static_cast<std::ptrdiff_t>(numNames), known.end());
  return message + suggestion(name, known);
}
