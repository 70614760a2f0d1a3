//===- FlexNetAttention.cpp - multi-head attention as one layer -----------===//

#include "FlexNetAttention.h"

#include "FlexNetNames.h"

#include <optional>

using namespace ffc::plan;

/// Passes its operand on, in another shape or order at most.
static bool passesOn(const Op &op) {
  return op.role == OpRole::Forward &&
         (op.rules.keepsBytes || op.type == "transpose" || op.type == "cast" ||
          op.type == "identity" || op.type == "dropout");
}

static bool isLayer(const Graph &graph, OpId id) {
  const Op &op = graph.op(id);
  return op.type == "linear" && op.operands.size() > 1 && op.operands[1] >= 0 &&
         graph.value(op.operands[1]).kind == ValueKind::State;
}

/// From the layer that makes `value` on, the last one first; nothing if no
/// layer makes it.
static std::optional<std::vector<OpId>> layerBefore(const Graph &graph,
                                                    ValueId value) {
  std::vector<OpId> way;
  while (value >= 0 && graph.value(value).producer >= 0) {
    const OpId id = graph.value(value).producer;
    way.push_back(id);
    if (isLayer(graph, id))
      return way;
    if (!passesOn(graph.op(id)))
      return std::nullopt;
    value = graph.op(id).operands[0];
  }
  return std::nullopt;
}

/// Up to the only layer that reads `value`.
static std::optional<std::vector<OpId>> layerBehind(const Graph &graph,
                                                    ValueId value) {
  std::vector<OpId> way;
  while (value >= 0) {
    OpId reader = -1;
    for (const Use &use : graph.value(value).uses) {
      if (graph.op(use.op).role != OpRole::Forward)
        continue;
      if (reader >= 0 || use.operand != 0)
        return std::nullopt;
      reader = use.op;
    }
    if (reader < 0)
      return std::nullopt;
    way.push_back(reader);
    if (isLayer(graph, reader))
      return way;
    if (!passesOn(graph.op(reader)))
      return std::nullopt;
    value = graph.op(reader).results[0];
  }
  return std::nullopt;
}

std::vector<OpId> ffc::plan::attentionLayers(const Graph &graph) {
  constexpr size_t kOperands = 3; // query, key and value
  std::vector<OpId> layers(graph.ops.size(), -1);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const Op &op = graph.op(id);
    if (op.type != "attention" || op.role != OpRole::Forward)
      continue;
    const auto behind = layerBehind(graph, op.results[0]);
    if (!behind)
      continue;
    std::vector<OpId> members = *behind;
    members.push_back(id);
    bool isWhole = true;
    for (size_t operand = 0; operand < kOperands && isWhole; ++operand)
      if (const auto before = layerBefore(graph, op.operands[operand]))
        members.insert(members.end(), before->begin(), before->end());
      else
        isWhole = false;
    if (isWhole)
      for (OpId member : members)
        layers[member] = behind->back();
  }
  return layers;
}

std::string ffc::plan::attentionName(const Graph &graph,
                                     const std::vector<OpId> &layers,
                                     OpId last) {
  constexpr size_t kHeads = 2; // of [samples, rows, heads, width]
  // The numbers of a dense layer are of what it reads and of what it makes.
  std::string name =
      "MultiHeadAttention_" +
      std::to_string(flexNetNumbers(graph, graph.op(last)).back());
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    if (layers[id] == last && graph.op(id).type == "attention")
      name += std::to_string(
          graph.value(graph.op(id).operands[0]).type.shape[kHeads]);
  return name;
}
