//===- PublishedTest.cpp - published plans and derived cases --------------===//

#include "AcesoData.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

#define EXPECT_CLOSE(found, expected, relative)                                \
  EXPECT_NEAR(found, expected, std::abs(expected) * (relative) + 1e-9)

std::string word(const YAML::Node &node) { return node.as<std::string>(); }

StageRow rowOf(const YAML::Node &given) {
  const AcesoModel &each = acesoModel(
      word(given["profile"]), word(given["model"]), word(given["size"]));
  const StageTable *table = each.profile.table(
      given["mbs"].as<int>(), given["tp"].as<int>(), given["algo"].as<int>());
  const auto &rows = each.profile.rows();
  const auto row = std::find(rows.begin(), rows.end(), word(given["op"]));
  return table->at(row - rows.begin());
}

TEST(Published, Lookup) {
  const YAML::Node each = acesoCase("lookup");
  ASSERT_EQ(each["given"].size(), each["expect"].size());
  for (size_t i = 0; i < each["given"].size(); ++i) {
    const StageRow row = rowOf(each["given"][i]);
    const YAML::Node &expect = each["expect"][i];
    EXPECT_EQ(row.forward, expect["forward_us"].as<double>());
    EXPECT_EQ(row.backward, expect["backward_us"].as<double>());
    EXPECT_EQ(row.input, expect["input_MiB"].as<double>());
    EXPECT_EQ(row.output, expect["output_MiB"].as<double>());
    EXPECT_EQ(row.weights, expect["weights_MiB"].as<double>());
    EXPECT_EQ(row.activations, expect["activations_MiB"].as<double>());
  }
}

/// Sums of a stretch of operators: forward us, backward us, weights and
/// activations MiB.
std::vector<double> sums(const AcesoModel &each, int begin, int end,
                         int samples, int tensor) {
  std::vector<double> result(4);
  for (int op = begin; op < end; ++op) {
    const StageRow &row =
        each.timer.row(op, tensor, samples, {tensor, 0, false});
    result[0] += row.forward;
    result[1] += row.backward;
    result[2] += row.weights;
    result[3] += row.activations;
  }
  return result;
}

TEST(Published, LayersAndModels) {
  const YAML::Node layer = acesoCase("gpt_layer");
  for (size_t i = 0; i < layer["given"].size(); ++i) {
    const YAML::Node &given = layer["given"][i];
    const std::vector<double> found =
        sums(acesoModel(word(given["profile"]), "gpt", "1_3B"), 1, 14,
             given["mbs"].as<int>(), given["tp"].as<int>());
    for (size_t j = 0; j < 4; ++j)
      EXPECT_CLOSE(found[j], layer["expect"][i][j].as<double>(), 1e-6);
  }
  const YAML::Node total = acesoCase("model_total");
  for (size_t i = 0; i < total["given"].size(); ++i) {
    const YAML::Node &given = total["given"][i], &expect = total["expect"][i];
    const AcesoModel &each = acesoModel(
        word(given["profile"]), word(given["model"]), word(given["size"]));
    EXPECT_EQ(each.model.layers, given["layers"].as<int>());
    EXPECT_EQ(each.model.size(), expect[0].as<int>());
    const std::vector<double> found =
        sums(each, 0, each.model.size(), given["mbs"].as<int>(), 1);
    for (size_t j = 0; j < 3; ++j)
      EXPECT_CLOSE(found[j], expect[j + 1].as<double>(), 1e-6);
  }
}

TEST(Published, Pipelines) {
  const AcesoModel &gpt = acesoModel("v100x4-pcie", "gpt", "1_3B");
  const YAML::Node uniform = acesoCase("pipeline_uniform");
  const std::vector<double> all = sums(gpt, 1, 313, 1, 1);
  for (size_t i = 0; i < uniform["given"].size(); ++i) {
    const int stages = uniform["given"][i]["stages"].as<int>();
    const std::vector<std::pair<double, double>> passes(
        stages, {all[0] / stages, all[1] / stages});
    // What is written has four digits behind the point.
    EXPECT_NEAR(timeOneForwardOneBackward(
                    passes, uniform["given"][i]["micro_batches"].as<int>()),
                uniform["expect"][i].as<double>(), 5.1e-5);
  }
  const YAML::Node uneven = acesoCase("pipeline_uneven");
  for (size_t i = 0; i < uneven["given"].size(); ++i) {
    const YAML::Node &given = uneven["given"][i];
    std::vector<std::pair<double, double>> passes;
    for (size_t s = 0; s + 1 < given["cuts"].size(); ++s) {
      const std::vector<double> sum =
          sums(gpt, given["cuts"][s].as<int>(), given["cuts"][s + 1].as<int>(),
               1, 1);
      passes.push_back({sum[0], sum[1]});
    }
    EXPECT_CLOSE(
        timeOneForwardOneBackward(passes, given["micro_batches"].as<int>(),
                                  1000 * given["transfer_ms"].as<double>()),
        uneven["expect"][i]["exact_1f1b_ms"].as<double>(), 1e-6);
  }
}

TEST(Published, Links) {
  const YAML::Node rate = acesoCase("p2p_rate");
  for (size_t i = 0; i < rate["given"].size(); ++i) {
    const YAML::Node &given = rate["given"][i], &expect = rate["expect"][i];
    const LinkTable &link = acesoModel(word(given["profile"]), "gpt", "1_3B")
                                .profile.link(word(given["link"]) == "inter");
    EXPECT_CLOSE(link.asOrigin(given["MiB"].as<double>()),
                 expect["origin_us"].as<double>(), 1e-6);
    EXPECT_CLOSE(link.microseconds(given["MiB"].as<double>()),
                 expect["table_row_of_floor_log2_us"].as<double>(), 1e-6);
  }
}

TEST(Published, Collectives) {
  const YAML::Node all = acesoCase("collective_interpolation");
  for (size_t i = 0; i < all["given"].size(); ++i) {
    const YAML::Node &given = all["given"][i];
    static const std::map<std::string, StageCollective> kinds = {
        {"all_reduce", StageCollective::AllReduce},
        {"all_gather", StageCollective::AllGather},
        {"all_to_all", StageCollective::AllToAll},
        {"reduce_scatter", StageCollective::ReduceScatter}};
    const CollectiveTable *table =
        acesoModel(word(given["profile"]), word(given["model"]),
                   word(given["size"]))
            .profile.collective(kinds.at(word(given["collective"])),
                                given["gpus"].as<int>());
    ASSERT_NE(table, nullptr);
    EXPECT_CLOSE(table->between(given["MiB"].as<double>()),
                 all["expect"][i].as<double>(), 1e-6);
  }
}

void expectMemory(const StageMemory &found, const YAML::Node &expect,
                  double total) {
  const std::pair<const char *, double> parts[] = {
      {"weights", found.weights},
      {"main_params", found.masters},
      {"gradients", found.gradients},
      {"optimizer", found.optimizer},
      {"activations_in_flight", found.inFlight},
      {"activations_current", found.current},
      {"recompute_peak", found.peak},
      {"reserved", found.reserved}};
  for (auto [name, value] : parts)
    EXPECT_NEAR(value, expect[name].as<double>(), 0.01) << name;
  EXPECT_NEAR(found.total(), total, 0.01);
}

PlannedStage stageOf(int first, int end, int devices = 1) {
  return {first, devices, std::vector<OperatorSplit>(end - first)};
}

TEST(Published, Recomputation) {
  const AcesoModel &gpt = acesoModel("v100x4-pcie", "gpt", "1_3B");
  const YAML::Node all = acesoCase("recompute");
  const std::map<std::string, std::function<bool(int op)>> again = {
      {"none", [](int) { return false; }},
      {"attention core",
       [](int op) { return (op - 1) % 13 >= 2 && (op - 1) % 13 <= 5; }},
      {"dropout and context",
       [](int op) { return (op - 1) % 13 == 4 || (op - 1) % 13 == 5; }},
      {"all but embedding and head", [](int) { return true; }}};
  for (size_t i = 0; i < all["given"].size(); ++i) {
    PlannedStage stage = stageOf(0, gpt.model.size());
    for (int op = 1; op < 314; ++op)
      stage.ops[op].isAgain =
          again.at(word(all["given"][i]))(op) &&
          (op < 313 || word(all["given"][i]) == "all but embedding and head");
    const StageCost cost = gpt.timer.cost(stage, 1, 0, 0, 4);
    const YAML::Node &expect = all["expect"][i];
    EXPECT_CLOSE(cost.time.total() / 1000, expect["t_ms"].as<double>(), 1e-6)
        << word(all["given"][i]);
    EXPECT_CLOSE(cost.time.again, expect["recompute_us"].as<double>(), 1e-6);
    expectMemory(cost.memory, expect["memory_MiB"],
                 expect["total_MiB"].as<double>());
  }
  const YAML::Node flight = acesoCase("in_flight");
  const int cuts[] = {0, 79, 157, 235, 315};
  for (int s = 0; s < 4; ++s) {
    const YAML::Node &expect = flight["expect"][s];
    expectMemory(
        gpt.timer.cost(stageOf(cuts[s], cuts[s + 1]), 1, 3 - s, s, 4).memory,
        expect, expect["total_MiB"].as<double>());
  }
}

TEST(Published, Plans) {
  const YAML::Node formula = acesoCase("plan_formula");
  ASSERT_EQ(acesoPlans().size(), 47u);
  ASSERT_EQ(formula["given"].size(), 47u);
  for (size_t i = 0; i < 47; ++i) {
    const YAML::Node &published = acesoPlans()[i];
    SCOPED_TRACE(word(published["id"]));
    const StagePlan plan = planOf(published);
    const StageTimer &timer = modelOf(published).timer;
    if (auto wrong = timer.check(plan)) {
      ADD_FAILURE() << *wrong;
      continue;
    }
    const StagePlanCost cost = timer.cost(plan);
    const YAML::Node &predicted = published["predicted"];
    EXPECT_CLOSE(cost.formula, formula["expect"][i].as<double>(), 1e-6);
    EXPECT_CLOSE(cost.exact, predicted["exact_1f1b_ms"].as<double>(), 1e-6);
    EXPECT_NEAR(cost.memory, predicted["memory_MiB"].as<double>(), 0.01);
    for (size_t s = 0; s < plan.stages.size(); ++s) {
      const YAML::Node &stage = published["stages"][s];
      EXPECT_CLOSE(cost.stages[s].time.total() / 1000,
                   stage["t_ms"].as<double>(), 1e-6);
      expectMemory(cost.stages[s].memory, stage["memory_MiB"],
                   stage["memory_total_MiB"].as<double>());
    }
    // The text reads back.
    std::string error;
    const auto again = StagePlan::parse(plan.print(), "plan", error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(again->print(), plan.print());
    EXPECT_EQ(timer.cost(*again).formula, cost.formula);
  }
}

} // namespace
