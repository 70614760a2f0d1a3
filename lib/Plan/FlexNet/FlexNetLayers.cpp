//===- FlexNetLayers.cpp - the layers of a graph as FlexNet has them ------===//

#include "ffc/Plan/FlexNet.h"

#include "Cost/FlexNetFile.h"
#include "FlexNetAttention.h"
#include "FlexNetNames.h"
#include "Strategy/StrategyFlexFlow.h"
#include "Text/Text.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

using namespace ffc::plan;

std::vector<int64_t> ffc::plan::flexNetNumbers(const Graph &graph,
                                               const Op &op) {
  auto shapeOf = [&](size_t operand) {
    return operand < op.operands.size() && op.operands[operand] >= 0
               ? graph.value(op.operands[operand]).type.shape
               : Shape();
  };
  if (op.type == "linear") {
    const int in = op.rules.findDim("k"), out = op.rules.findDim("c");
    if (in >= 0 && out >= 0)
      return {op.rules.dims[in].extent, op.rules.dims[out].extent};
  } else if (op.type == "conv2d") {
    if (const Shape weight = shapeOf(1); weight.size() == 4)
      return {weight[2], weight[3], weight[0]};
  } else if (op.type == "pool2d") {
    const Access &access =
        op.rules.schedules.front().phases.front().reads.front().access;
    if (access.dims.size() == 4)
      return {access.dims[2].reach, access.dims[3].reach};
  } else if (op.type == "embedding") {
    if (const Shape table = shapeOf(0); table.size() == 2)
      return {table[0], table[1]};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {

struct LayerType {
  const char *family;   ///< Op::type
  const char *type;     ///< FlexFlow's
  uint64_t number;      ///< FlexFlow's
  const char *measured; ///< what names of measurements start with
};

} // namespace

static const LayerType *findType(const std::string &family) {
  static const LayerType types[] = {
      {"conv2d", "Conv2D", 3, "Conv2D"},
      {"linear", "Dense", 5, "Dense"},
      {"pool2d", "Pool2D", 7, "Pool2D"},
      {"relu", "ReLU", 13, "ElementUnary_13"},
      {"flat", "Flat", 18, "Flat"},
      {"softmax", "Softmax", 19, "Softmax"},
      {"cross_entropy", "Softmax", 19, "Softmax"},
      {"cross_entropy_backward", "Softmax", 19, "Softmax"},
      {"concat", "Concat", 21, "Concat"},
      {"embedding", "Embedding", 23, "Embed"},
      {"add", "Add", 31, "ElementBinary_31"},
      {"mul", "Multiply", 32, "ElementBinary_32"}};
  for (const LayerType &type : types)
    if (type.family == family)
      return &type;
  return nullptr;
}

static std::string nameOf(const Graph &graph, const Op &op,
                          const LayerType &type) {
  std::string name = type.measured;
  if (op.type == "concat") {
    // The dimension in which the result is larger.
    const Shape &x = graph.value(op.operands[0]).type.shape,
                &y = graph.value(op.results[0]).type.shape;
    const auto differs = std::mismatch(x.begin(), x.end(), y.begin()).first;
    return name + '_' + std::to_string(differs - x.begin());
  }
  const char *separator = "_";
  for (int64_t number : flexNetNumbers(graph, op)) {
    name += separator + std::to_string(number);
    // Tables are "rowsxdimensions".
    separator = op.type == "embedding" ? "x" : "_";
  }
  return name;
}

namespace {

class LayerFinder {
public:
  explicit LayerFinder(const Graph &graph)
      : graph(graph), attention(attentionLayers(graph)) {
    layers.of.assign(graph.ops.size(), -1);
  }

  std::optional<FlexNetLayers> run(std::string &error) {
    for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
      if (!visit(id)) {
        const Op &op = graph.op(id);
        error = quoted(op.name) + " (" + op.type +
                "): expected an operator that FlexNet measures (Conv2D, Dense, "
                "Pool2D, Flat, Softmax, Concat, Embed, ElementBinary, ReLU, "
                "MultiHeadAttention) or counts as part of one";
        return std::nullopt;
      }
    return std::move(layers);
  }

private:
  bool visit(OpId id) {
    const Op &op = graph.op(id);
    // Cross-entropy has a softmax, and may have its gradient.
    if (op.role == OpRole::Loss) {
      if (const LayerType *type = findType(op.type))
        add(id, *type);
      return true;
    }
    if (op.role != OpRole::Forward)
      return true;
    if (const OpId last = attention[id]; last >= 0) {
      if (layers.of[last] < 0)
        addAttention(last);
      layers.of[id] = layers.of[last];
      return true;
    }
    std::set<int> read; // layers
    for (ValueId value : op.operands)
      if (value >= 0 && graph.value(value).producer >= 0)
        if (const int layer = layers.of[graph.value(value).producer];
            layer >= 0)
          read.insert(layer);
    const LayerType *type = findType(op.type);
    if (type && isLayer(op, read)) {
      add(id, *type);
      return true;
    }
    if (read.empty()) // of inputs and parameters alone
      return true;
    layers.of[id] = *read.begin();
    return read.size() == 1 && isPart(op);
  }

  bool isState(const Op &op, size_t operand) const {
    return operand < op.operands.size() && op.operands[operand] >= 0 &&
           graph.value(op.operands[operand]).kind == ValueKind::State;
  }

  bool isLayer(const Op &op, const std::set<int> &read) const {
    if (op.type == "linear" || op.type == "conv2d")
      return isState(op, 1);
    if (op.type == "embedding")
      return isState(op, 0);
    if (op.type == "flat")
      return graph.value(op.operands[0]).type.shape.size() == 4 &&
             graph.value(op.results[0]).type.shape.size() == 2;
    if (op.type == "add" || op.type == "mul")
      return read.size() == 2 || (!read.empty() && readsInput(op));
    if (op.type == "relu")
      return !read.empty() && !hasActivation(*read.begin());
    return true;
  }

  /// An operand is an input, in another shape at most.
  bool readsInput(const Op &op) const {
    for (ValueId value : op.operands) {
      while (value >= 0 && graph.value(value).producer >= 0 &&
             graph.op(graph.value(value).producer).rules.keepsBytes)
        value = graph.op(graph.value(value).producer).operands[0];
      if (value >= 0 && graph.value(value).kind == ValueKind::Input)
        return true;
    }
    return false;
  }

  /// FlexFlow's operators with an activation of their own.
  bool hasActivation(int layer) const {
    const std::string &type = layers.list[layer].type;
    return type == "Conv2D" || type == "Dense";
  }

  bool isPart(const Op &op) const {
    static const std::set<std::string> types = {
        "relu", "sigmoid", "tanh", "gelu",     "gelu_tanh", "elu",
        "add",  "dropout", "cast", "identity", "transpose"};
    return types.count(op.type) > 0 || op.rules.keepsBytes;
  }

  void add(OpId id, const LayerType &type) {
    layers.of[id] = static_cast<int>(layers.list.size());
    layers.list.push_back(
        {id, type.type, type.number, nameOf(graph, graph.op(id), type)});
  }

  void addAttention(OpId last) {
    constexpr uint64_t kNumber = 74; // FlexFlow's
    layers.of[last] = static_cast<int>(layers.list.size());
    layers.list.push_back({last, "MultiHeadAttention", kNumber,
                           attentionName(graph, attention, last),
                           /*joinsWeights=*/true});
  }

  const Graph &graph;
  const std::vector<OpId> attention; ///< by operator: the layer that ends it
  FlexNetLayers layers;
};

} // namespace

std::optional<FlexNetLayers> ffc::plan::flexNetLayers(const Graph &graph,
                                                      std::string &error) {
  return LayerFinder(graph).run(error);
}

std::optional<std::vector<int64_t>>
ffc::plan::flexNetDegrees(const Graph &graph, OpId id,
                          const Configuration &config) {
  const Op &op = graph.op(id);
  if (op.role != OpRole::Loss)
    return flexFlowDegrees(op, config);
  // FlexNet splits what it compares: a row for every sample.
  const int sample = op.rules.findDim("n");
  const int64_t degree = sample < 0 ? 1 : config.degreeOf(sample);
  if (degree != config.numPoints())
    return std::nullopt;
  return std::vector<int64_t>{1, degree};
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

static float milliseconds(double picoseconds) {
  return static_cast<float>(picoseconds / kFlexNetMillisecond);
}

std::optional<FlexNetTimes>
ffc::plan::flexNetTimes(const FlexNetMeasures &measures,
                        const std::string &name,
                        const std::vector<int64_t> &degrees) {
  for (const FlexNetMeasure &measure : measures.list)
    if (measure.name == name &&
        degreesOfRank(measure.degrees, degrees.size()) == degrees)
      return FlexNetTimes{milliseconds(measure.forward),
                          milliseconds(measure.backward)};
  return std::nullopt;
}

/// Shapes of what the operator reads, "[64,3,229,229]".
static std::string shapesOf(const Graph &graph, const Op &op) {
  std::string text;
  for (ValueId value : op.operands)
    if (value >= 0) {
      text += text.empty() ? "[" : " [";
      const char *separator = "";
      for (int64_t extent : graph.value(value).type.shape) {
        text += separator + std::to_string(extent);
        separator = ",";
      }
      text += ']';
    }
  return text;
}

static std::string textOf(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

/// Times that fall by more than this times the parts, which is more than
/// measurements vary by.
static constexpr double kSuperLinear = 1.05;

static void addSteps(const std::vector<const FlexNetMeasure *> &list,
                     std::vector<std::string> &lines) {
  for (const FlexNetMeasure *few : list)
    for (const FlexNetMeasure *many : list) {
      const int64_t before = few->degrees.back(), after = many->degrees.back();
      if (after != 2 * before)
        continue;
      for (auto [what, time] :
           {std::pair("forward", &FlexNetMeasure::forward),
            std::pair("backward", &FlexNetMeasure::backward)})
        if (const double faster = few->*time / many->*time;
            faster > kSuperLinear * 2)
          lines.push_back(
              quoted(few->name) + ": from " + std::to_string(before) + " to " +
              std::to_string(after) + " parts " + what + " is " +
              textOf(faster) + " times as fast, expected at most twice");
    }
}

std::vector<std::string>
ffc::plan::flexNetDoubts(const FlexNetMeasures &measures, const Graph &graph,
                         const FlexNetLayers &layers) {
  std::vector<std::string> lines;
  std::map<std::string, std::set<std::string>> shapes;
  std::map<std::string, int> counts;
  for (const FlexNetLayer &layer : layers.list) {
    shapes[layer.name].insert(shapesOf(graph, graph.op(layer.op)));
    ++counts[layer.name];
  }
  for (const auto &[name, list] : shapes) {
    std::vector<const FlexNetMeasure *> measured;
    for (const FlexNetMeasure &measure : measures.list)
      if (measure.name == name)
        measured.push_back(&measure);
    if (list.size() > 1 && !measured.empty())
      lines.push_back(quoted(name) + ": one measurement for " +
                      std::to_string(counts[name]) + " layers of " +
                      std::to_string(list.size()) +
                      " shapes, which names do not tell apart, such as " +
                      *list.begin() + " and " + *list.rbegin());
    addSteps(measured, lines);
  }
  return lines;
}
