//===- FlexNet.cpp - measurements of FlexNet ------------------------------===//

#include "FlexNet.h"

#include "StrategyFlexFlow.h"
#include "Text.h"
#include "YamlFields.h"
#include "ffc/Plan/Planner.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

static constexpr double kMillisecond = 1e9; // in picoseconds

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

bool ffc::plan::isFlexNet(const YamlNode &root) {
  return root.find("measurements") != nullptr;
}

/// "2-1-4": the number of dimensions, then degrees.
static std::vector<int64_t> readDegrees(const YamlNode &node) {
  std::vector<int64_t> numbers;
  const std::string &word = text(node, "the degrees of a measurement");
  for (size_t begin = 0; begin <= word.size();) {
    const size_t end = std::min(word.find('-', begin), word.size());
    const auto number =
        parseCount(word.substr(begin, end - begin), kMaxFlexFlowDegree);
    numbers.push_back(number.value_or(0));
    begin = end + 1;
  }
  if (numbers.size() < 2 ||
      numbers.front() != static_cast<int64_t>(numbers.size()) - 1 ||
      std::count(numbers.begin(), numbers.end(), 0))
    fail(node, "expected 'pc_str' to be a number of dimensions and as many "
               "degrees, such as '2-1-4', found " +
                   node.describe());
  return {numbers.begin() + 1, numbers.end()};
}

FlexNetMeasures ffc::plan::readFlexNet(const YamlNode &root) {
  const std::string file = "a file of measurements", what = "a measurement";
  FlexNetMeasures result;
  expectMap(root, file, {"batch_size", "ngpus", "measurements"});
  result.batch =
      count(require(root, "batch_size", file), "a batch size", 1 << 30);
  const YamlNode &list = require(root, "measurements", file);
  expectList(list, "measurements");
  for (const YamlNode &node : list.children) {
    expectMap(node, what, {"name", "pc_str", "fw_time", "bw_time", "mem_req"});
    FlexNetMeasure &measure = result.list.emplace_back();
    measure.line = node.line;
    measure.name = text(require(node, "name", what), "a measurement's name");
    measure.degrees = readDegrees(require(node, "pc_str", what));
    measure.forward = number(node, "fw_time", what) * kMillisecond;
    measure.backward = number(node, "bw_time", what) * kMillisecond;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Which operators
//===----------------------------------------------------------------------===//

/// The numbers of "Conv2D_3_3_64", without that of the type.
static std::vector<int64_t> numbersOf(const std::string &name, size_t from) {
  std::vector<int64_t> numbers;
  for (size_t i = from; i < name.size(); ++i) {
    size_t end = i;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9')
      ++end;
    if (end == i)
      continue;
    numbers.push_back(
        parseCount(name.substr(i, end - i), INT64_MAX).value_or(-1));
    i = end;
  }
  return numbers;
}

/// What FlexNet's name would say of an operator; empty where it says nothing.
static std::vector<int64_t> structureOf(const Graph &graph, const Op &op) {
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
  } else if (op.type == "gather") {
    if (const Shape table = shapeOf(0); table.size() == 2)
      return {table[0], table[1]};
  }
  return {};
}

static std::vector<OpId> opsOf(const Graph &graph, const std::string &name) {
  const size_t end = std::min(name.find('_'), name.size());
  const std::vector<int64_t> numbers = numbersOf(name, end);
  std::vector<OpId> result;
  for (OpId id : flexFlowOpsOfType(graph, name.substr(0, end))) {
    const std::vector<int64_t> structure = structureOf(graph, graph.op(id));
    if (structure.empty() || structure == numbers)
      result.push_back(id);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Their kernels
//===----------------------------------------------------------------------===//

namespace {

/// The kernels of one tile of one operator's forward pass, or of its gradients.
class Shares {
public:
  void add(LocalWork work, Picoseconds time) {
    sum += static_cast<double>(time);
    works.push_back({std::move(work), time});
  }
  /// Divides `time` among them.
  void measure(double time, std::vector<Measurement> &all) const {
    for (const auto &[work, share] : works)
      all.push_back({work.key, std::string(work.kernel), /*devices=*/1,
                     work.flops, static_cast<double>(work.bytes),
                     std::llround(std::min(time * (static_cast<double>(share) /
                                                   std::max(sum, 1.0)),
                                           static_cast<double>(kMaxCost)))});
  }

private:
  std::vector<std::pair<LocalWork, Picoseconds>> works;
  double sum = 0;
};

} // namespace

std::vector<Measurement> ffc::plan::kernelsOf(const FlexNetMeasures &measures,
                                              const Graph &graph,
                                              const CostModel &cost) {
  // Measures of equal degrees are of one plan, in which all parts are on one
  // device: where they are does not change what they do.
  std::set<std::vector<int64_t>> degrees;
  for (const FlexNetMeasure &measure : measures.list)
    degrees.insert(measure.degrees);
  std::vector<Measurement> all;
  for (const std::vector<int64_t> &each : degrees) {
    PartialStrategy given(graph.ops.size());
    std::vector<const FlexNetMeasure *> measureOf(graph.ops.size());
    for (const FlexNetMeasure &measure : measures.list) {
      if (measure.degrees != each)
        continue;
      FlexFlowConfig config{measure.line, measure.name, false, each, {}};
      int64_t points = 1;
      for (int64_t degree : each)
        points = std::min(points * degree, kMaxFlexFlowDegree);
      config.devices.assign(static_cast<size_t>(points), 0);
      for (OpId id : opsOf(graph, measure.name))
        try {
          given[id] = flexFlowConfiguration(graph, id, config, 1);
          measureOf[id] = &measure;
        } catch (const Malformed &) {
          // It was measured for a split that the model's operator does not
          // have; there is nothing that it could be the time of.
        }
    }
    const Strategy strategy = completeStrategy(graph, given);
    const Program program = planProgram(graph, strategy, 1, cost);
    std::vector<Shares> forward(graph.ops.size()), backward(graph.ops.size());
    for (const Action &action : program.devices[0].actions) {
      if (action.kind != Action::Kind::Kernel || action.task.point != 0)
        continue;
      const Op &op = graph.op(action.task.op);
      LocalWork work =
          workOf(graph, strategy, program.devices[0], action, true);
      const Picoseconds time =
          cost.kernel(0, work.flops, work.bytes, work.arithmetic, work.parts);
      if (measureOf[action.task.op])
        forward[action.task.op].add(std::move(work), time);
      else if (op.role == OpRole::Gradient && op.owner >= 0 &&
               measureOf[op.owner])
        backward[op.owner].add(std::move(work), time);
    }
    for (size_t id = 0; id < graph.ops.size(); ++id)
      if (const FlexNetMeasure *measure = measureOf[id]) {
        forward[id].measure(measure->forward, all);
        backward[id].measure(measure->backward, all);
      }
  }
  return all;
}
