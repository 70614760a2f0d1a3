//===- MeasuredTest.cpp - measured times, and a grid of plans -------------===//

#include "AcesoData.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

struct Measured {
  std::string id, model, size;
  int devices = 0;
  double measured = 0, predicted = 0; ///< milliseconds

  double error() const { return std::abs(predicted / measured - 1); }
};

const std::map<std::string, Measured> &measuredPlans() {
  static const std::map<std::string, Measured> all = [] {
    std::map<std::string, Measured> result;
    const YAML::Node times = acesoCase("measured");
    for (size_t i = 0; i < times["given"].size(); ++i)
      result[times["given"][i].as<std::string>()].measured =
          times["expect"][i].as<double>();
    for (const YAML::Node &node : acesoPlans()) {
      auto it = result.find(node["id"].as<std::string>());
      if (it == result.end())
        continue;
      Measured &each = it->second;
      each.id = it->first;
      each.model = node["model"].as<std::string>();
      each.size = node["size"].as<std::string>();
      each.devices = node["gpus"].as<int>();
      each.predicted = modelOf(node).timer.cost(planOf(node)).predicted;
    }
    return result;
  }();
  return all;
}

/// Mean and worst error of those that `which` says.
template <class Which> std::pair<double, double> errors(Which which) {
  double sum = 0, worst = 0;
  int count = 0;
  for (const auto &[id, each] : measuredPlans())
    if (which(each)) {
      sum += each.error();
      worst = std::max(worst, each.error());
      ++count;
    }
  return {sum / count, worst};
}

TEST(Measured, Times) {
  ASSERT_EQ(measuredPlans().size(), 31u);
  const auto [mean, worst] = errors([](const Measured &) { return true; });
  EXPECT_LE(mean, 0.029);
  EXPECT_LE(worst, 0.093);
  const auto small = errors([](const Measured &each) {
    return each.model == "gpt" && each.devices == 4 &&
           each.id.find("nvlink") == std::string::npos;
  });
  EXPECT_LE(small.second, 0.005);
  const auto t5 =
      errors([](const Measured &each) { return each.model == "t5"; });
  EXPECT_LE(t5.second, 0.013);
  const auto depth =
      errors([](const Measured &each) { return each.size == "scale-layer"; });
  EXPECT_LE(depth.second, 0.02);
}

TEST(Measured, Order) {
  int pairs = 0, wrong = 0;
  for (const auto &[id, a] : measuredPlans())
    for (const auto &[other, b] : measuredPlans()) {
      if (id >= other || std::max(a.measured, b.measured) <=
                             1.05 * std::min(a.measured, b.measured))
        continue;
      ++pairs;
      wrong += (a.measured < b.measured) != (a.predicted < b.predicted);
    }
  EXPECT_EQ(pairs, 448);
  EXPECT_LE(wrong, 1);
  const YAML::Node order = acesoCase("measured_order");
  for (size_t i = 0; i < order["given"].size(); ++i) {
    const Measured &fast =
        measuredPlans().at(order["given"][i][0].as<std::string>());
    const Measured &slow =
        measuredPlans().at(order["given"][i][1].as<std::string>());
    const double ratio = slow.predicted / fast.predicted;
    EXPECT_GT(ratio, 1);
    EXPECT_NEAR(ratio / order["expect"][i].as<double>(), 1, 0.1);
  }
}

//===----------------------------------------------------------------------===//
// Regular plans
//===----------------------------------------------------------------------===//

/// Splits [begin, end) of a model into stages of equally many layers, with what
/// comes before the first layer in the first and behind the last in the last.
void addStages(const StageModel &model, const std::vector<int> &layers,
               int begin, int end, int count, int devices,
               std::vector<PlannedStage> &stages) {
  const int each = static_cast<int>(layers.size()) / count;
  for (int s = 0; s < count; ++s) {
    const int from = s ? layers[s * each] : begin;
    const int to = s + 1 < count ? layers[(s + 1) * each] : end;
    stages.push_back({from, devices, std::vector<OperatorSplit>(to - from)});
  }
}

/// The plan of a row: one degree for all operators, layers divided evenly, all
/// or nothing computed again but for the embedding and the loss.
StagePlan regularPlan(const StageModel &model,
                      const std::vector<std::string> &row) {
  auto number = [&](size_t column) { return std::stoi(row[column]); };
  StagePlan plan;
  plan.model = model.name;
  plan.layers = model.layers;
  plan.devicesPerNode = 4;
  plan.batch = number(2);
  plan.microBatch = number(8);
  const int stages = number(4), tensor = number(6), data = number(7);
  std::vector<int> layers, decoder;
  for (int op = 0; op < model.size(); ++op)
    if (model.ops[op].name == "dec-1st-layernorm")
      decoder.push_back(op);
    else if (model.ops[op].startsBlock)
      layers.push_back(op);
  const int end = model.size();
  if (decoder.empty()) {
    addStages(model, layers, 0, end, stages, tensor * data, plan.stages);
  } else if (stages == 1) {
    plan.stages.push_back({0, tensor * data, std::vector<OperatorSplit>(end)});
  } else {
    const int encoder = number(5);
    // What stands between belongs to the encoder's last stage, but for the
    // decoder's embedding.
    const int middle = decoder.front() - 1;
    addStages(model, layers, 0, middle, encoder, tensor * data, plan.stages);
    addStages(model, decoder, middle, end, stages - encoder, tensor * data,
              plan.stages);
  }
  for (PlannedStage &stage : plan.stages)
    for (int op = stage.first; op < stage.end(); ++op) {
      const std::string &name = model.ops[op].name;
      OperatorSplit &split = stage.ops[op - stage.first];
      split.tensor = tensor;
      split.isAgain = row[9] == "1" && name != "encoder-embedding" &&
                      name.find("post-process") == std::string::npos;
    }
  return plan;
}

TEST(Measured, RegularPlans) {
  std::istringstream text(acesoFile("grid_regular_4gpu.csv"));
  std::string line;
  std::getline(text, line);
  std::map<std::string, double> fastest;
  while (std::getline(text, line)) {
    SCOPED_TRACE(line);
    std::vector<std::string> row = {""};
    for (char c : line)
      if (c == ',')
        row.push_back("");
      else if (c != '\r')
        row.back() += c;
    const AcesoModel &each = acesoModel("v100x4-pcie", row[0], row[1]);
    const StagePlan plan = regularPlan(each.model, row);
    ASSERT_FALSE(each.timer.check(plan));
    const StagePlanCost cost = each.timer.cost(plan);
    const double limit = std::stod(row[3]);
    EXPECT_NEAR(cost.formula, std::stod(row[10]), 1e-6 * cost.formula);
    EXPECT_NEAR(cost.memory, std::stod(row[11]), 0.01);
    EXPECT_EQ(cost.memory < limit, row[12] == "1");
    auto [it, isNew] = fastest.emplace(row[0], 1e18);
    if (cost.memory < limit)
      it->second = std::min(it->second, cost.formula);
  }
  EXPECT_NEAR(fastest["gpt"], 73654.736, 0.05);
  EXPECT_NEAR(fastest["t5"], 52169.665, 0.05);
  EXPECT_NEAR(fastest["resnet"], 20918.911, 0.02);
}

} // namespace
