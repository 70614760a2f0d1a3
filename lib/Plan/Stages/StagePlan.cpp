//===- StagePlan.cpp - a chain of operators cut into stages ---------------===//

#include "ffc/Plan/StagePlan.h"

#include "Text/Text.h"
#include "Text/YamlFields.h"

#include <algorithm>
#include <functional>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

static constexpr size_t kMaxFileBytes = size_t(16) << 20;
static constexpr int kMostOperators = 1 << 20;

int StagePlan::numDevices() const {
  int count = 0;
  for (const PlannedStage &stage : stages)
    count += stage.devices;
  return count;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The two whole numbers of a list such as [1, 80], from `least` on.
static std::pair<int, int> readPair(const YamlNode &node,
                                    const std::string &what, int least) {
  if (!node.isSequence() || node.children.size() != 2)
    fail(node,
         "expected two numbers for " + what + ", found " + node.describe());
  int numbers[2];
  for (size_t i : {0, 1}) {
    const YamlNode &child = node.children[i];
    const auto number = child.isScalar()
                            ? parseCount(child.scalar, kMostOperators)
                            : std::nullopt;
    if (!number || *number < least)
      fail(node, "expected two numbers from " + std::to_string(least) +
                     " on for " + what + ", found " + child.describe());
    numbers[i] = static_cast<int>(*number);
  }
  return {numbers[0], numbers[1]};
}

static int countOf(const YamlNode &map, const char *key,
                   const std::string &what, int max) {
  return count(require(map, key, what), "'" + std::string(key) + "' of " + what,
               max);
}

/// Runs of equal values, [[value, operators], ...].
static void readRuns(const YamlNode &stage, const char *key, int least,
                     std::vector<OperatorSplit> &ops,
                     int OperatorSplit::*field) {
  const YamlNode *runs = stage.find(key);
  if (!runs)
    return;
  const std::string what = "a run of '" + std::string(key) + "'";
  expectList(*runs, what);
  int64_t at = 0;
  const auto size = static_cast<int64_t>(ops.size());
  for (const YamlNode &run : runs->children) {
    const auto [value, length] = readPair(run, what, least);
    for (int64_t op = at; op < std::min(at + length, size); ++op)
      ops[op].*field = value;
    at += length;
  }
  if (at != size)
    fail(*runs, "expected runs of '" + std::string(key) + "' for " +
                    std::to_string(size) + " operators, found " +
                    std::to_string(at));
}

static PlannedStage readStage(const YamlNode &node, int first) {
  const std::string what = "a stage";
  expectMap(node, what, {"end", "devices", "tp", "algo", "recompute"});
  PlannedStage stage;
  stage.first = first;
  const int end = countOf(node, "end", what, kMostOperators);
  if (end <= first)
    fail(node, "expected a stage to end behind operator " +
                   std::to_string(first) + ", where it begins, found " +
                   std::to_string(end));
  stage.devices = countOf(node, "devices", what, StagePlan::kMostDevices);
  stage.ops.resize(end - first);
  readRuns(node, "tp", 1, stage.ops, &OperatorSplit::tensor);
  readRuns(node, "algo", 0, stage.ops, &OperatorSplit::algorithm);
  for (size_t op = 0; op < stage.ops.size(); ++op)
    if (stage.devices % stage.ops[op].tensor)
      fail(node, "expected degrees of tensor parallelism that divide the " +
                     std::to_string(stage.devices) +
                     " devices of the stage, found " +
                     std::to_string(stage.ops[op].tensor) + " for operator " +
                     std::to_string(first + op));
  if (const YamlNode *runs = node.find("recompute")) {
    if (!runs->isSequence())
      fail(*runs, "expected 'recompute' of " + what + " to be a list, found " +
                      runs->describe());
    for (const YamlNode &run : runs->children) {
      const auto [from, to] = readPair(run, "operators of 'recompute'", 0);
      if (from < first || to > end || from >= to)
        fail(run, "expected operators of the stage, from " +
                      std::to_string(first) + " to " + std::to_string(end) +
                      ", found " + std::to_string(from) + " to " +
                      std::to_string(to));
      for (int op = from; op < to; ++op)
        stage.ops[op - first].isAgain = true;
    }
  }
  return stage;
}

static StagePlan readPlan(const YamlNode &root) {
  const std::string what = "a plan of stages";
  expectMap(root, what,
            {"ffc_stages", "model", "layers", "devices_per_node", "batch",
             "micro_batch", "stages"});
  const YamlNode &version = require(root, "ffc_stages", what);
  if (version.scalar != "1")
    fail(version,
         "expected version 1 of 'ffc_stages', found " + version.describe());
  StagePlan plan;
  plan.model = text(require(root, "model", what), "'model' of " + what);
  plan.layers = countOf(root, "layers", what, StagePlan::kMostLayers);
  plan.devicesPerNode =
      countOf(root, "devices_per_node", what, StagePlan::kMostDevices);
  plan.batch = countOf(root, "batch", what, StagePlan::kMostSamples);
  plan.microBatch = countOf(root, "micro_batch", what, StagePlan::kMostSamples);
  if (plan.batch % plan.microBatch)
    fail(root, "expected micro-batches that divide the batch of " +
                   std::to_string(plan.batch) + " samples, found " +
                   std::to_string(plan.microBatch));
  const YamlNode &stages = require(root, "stages", what);
  expectList(stages, "stages");
  for (const YamlNode &node : stages.children)
    plan.stages.push_back(
        readStage(node, plan.stages.empty() ? 0 : plan.stages.back().end()));
  if (plan.numDevices() > StagePlan::kMostDevices)
    fail(stages, "expected at most " + std::to_string(StagePlan::kMostDevices) +
                     " devices, found " + std::to_string(plan.numDevices()));
  return plan;
}

std::optional<StagePlan> StagePlan::parse(const std::string &text,
                                          const std::string &fileName,
                                          std::string &error) {
  try {
    return readPlan(parseYaml(text));
  } catch (const Malformed &malformed) {
    error = fileName + ":" + std::to_string(malformed.line) + ": " +
            malformed.message;
    return std::nullopt;
  }
}

std::optional<StagePlan> StagePlan::load(const std::string &path,
                                         std::string &error) {
  const auto text = readTextFile(path, kMaxFileBytes, error);
  return text ? parse(*text, path, error) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Calls run(value, begin, end) for stretches of equal values.
static void
eachRun(const PlannedStage &stage,
        const std::function<int(const OperatorSplit &)> &valueOf,
        const std::function<void(int value, size_t begin, size_t end)> &run) {
  for (size_t begin = 0; begin < stage.ops.size();) {
    const int value = valueOf(stage.ops[begin]);
    size_t end = begin + 1;
    while (end < stage.ops.size() && valueOf(stage.ops[end]) == value)
      ++end;
    run(value, begin, end);
    begin = end;
  }
}

static std::string
runsText(const PlannedStage &stage,
         const std::function<int(const OperatorSplit &)> &valueOf) {
  std::string text;
  eachRun(stage, valueOf, [&](int value, size_t begin, size_t end) {
    text += (begin ? ", [" : "[") + std::to_string(value) + ", " +
            std::to_string(end - begin) + "]";
  });
  return "[" + text + "]";
}

static std::string recomputeText(const PlannedStage &stage) {
  std::string text;
  eachRun(
      stage, [](const OperatorSplit &op) { return int(op.isAgain); },
      [&](int isAgain, size_t begin, size_t end) {
        if (isAgain)
          text += (text.empty() ? "[" : ", [") +
                  std::to_string(stage.first + begin) + ", " +
                  std::to_string(stage.first + end) + "]";
      });
  return "[" + text + "]";
}

std::string StagePlan::print() const {
  std::string text =
      "{\"ffc_stages\": 1, \"model\": \"" + model +
      "\", \"layers\": " + std::to_string(layers) +
      ",\n \"devices_per_node\": " + std::to_string(devicesPerNode) +
      ", \"batch\": " + std::to_string(batch) +
      ", \"micro_batch\": " + std::to_string(microBatch) + ",\n \"stages\": [";
  for (const PlannedStage &stage : stages)
    text +=
        std::string(&stage == &stages.front() ? "" : ",") +
        "\n  {\"end\": " + std::to_string(stage.end()) +
        ", \"devices\": " + std::to_string(stage.devices) + ",\n   \"tp\": " +
        runsText(stage, [](const OperatorSplit &op) { return op.tensor; }) +
        ",\n   \"algo\": " +
        runsText(stage, [](const OperatorSplit &op) { return op.algorithm; }) +
        ",\n   \"recompute\": " + recomputeText(stage) + "}";
  return text + "]}\n";
}
