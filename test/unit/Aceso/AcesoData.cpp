//===- AcesoData.cpp - Aceso's tables and published plans -----------------===//

#include "AcesoData.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

using namespace ffc::plan;

const testing::AcesoModel &testing::acesoModel(const std::string &profile,
                                               const std::string &kind,
                                               const std::string &size,
                                               int layers) {
  static std::map<std::string, std::unique_ptr<AcesoModel>> models;
  const std::string key =
      profile + kind + "-" + size + "/" + std::to_string(layers);
  auto &entry = models[key];
  if (entry)
    return *entry;
  std::string error;
  auto model = StageModel::named(kind + "-" + size, error);
  if (!model)
    throw std::runtime_error(error);
  auto tables =
      StageProfile::load(FFC_ACESO_TABLES "/" + profile, model->tables, error);
  if (!tables || !model->build(*tables, kind == "resnet" ? 0 : layers, error))
    throw std::runtime_error(error);
  entry.reset(new AcesoModel{std::move(*tables), std::move(*model)});
  return *entry;
}

std::string testing::acesoFile(const std::string &name) {
  std::ifstream file(FFC_ACESO_DATA "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const YAML::Node &testing::acesoPlans() {
  static const YAML::Node plans = YAML::Load(acesoFile("plans.json"))["plans"];
  return plans;
}

YAML::Node testing::acesoCase(const std::string &name) {
  static const YAML::Node cases = YAML::Load(acesoFile("cases.json"))["cases"];
  for (const YAML::Node &each : cases)
    if (each["name"].as<std::string>() == name)
      return each;
  throw std::runtime_error("no case " + name);
}

const testing::AcesoModel &testing::modelOf(const YAML::Node &published) {
  return acesoModel(published["profile"].as<std::string>(),
                    published["model"].as<std::string>(),
                    published["size"].as<std::string>(),
                    published["layers"].as<int>());
}

StagePlan testing::planOf(const YAML::Node &published) {
  StagePlan plan;
  plan.model = modelOf(published).model.name;
  plan.layers = published["layers"].as<int>();
  plan.devicesPerNode = published["gpus_per_node"].as<int>();
  plan.batch = published["global_batch"].as<int>();
  plan.microBatch = published["micro_batch"].as<int>();
  for (const YAML::Node &node : published["stages"]) {
    PlannedStage &stage = plan.stages.emplace_back();
    stage.first = node["first_op"].as<int>();
    stage.devices = node["devices"].as<int>();
    stage.ops.resize(node["end_op"].as<int>() - stage.first);
    auto set = [&](const char *key, int OperatorSplit::*field) {
      size_t op = 0;
      for (const YAML::Node &run : node[key])
        for (int i = run[1].as<int>(); i > 0; --i)
          stage.ops.at(op++).*field = run[0].as<int>();
    };
    set("tp", &OperatorSplit::tensor);
    set("algo", &OperatorSplit::algorithm);
    for (const YAML::Node &run : node["recompute"])
      for (int op = run[0].as<int>(); op < run[1].as<int>(); ++op)
        stage.ops.at(op - stage.first).isAgain = true;
  }
  return plan;
}
