//===- AcesoData.h - Aceso's tables and published plans ---------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_ACESO_ACESODATA_H
#define FFC_TEST_UNIT_ACESO_ACESODATA_H

#include "ffc/Plan/StageTimer.h"

#include <yaml-cpp/yaml.h>

#include <map>
#include <memory>
#include <string>

namespace ffc::plan::testing {

/// A model with its tables.
struct AcesoModel {
  StageProfile profile;
  StageModel model;
  StageTimer timer{profile, model};
};

/// "v100x4-pcie", "gpt", "1_3B"; throws if it cannot be read. `layers` 0: as
/// published.
const AcesoModel &acesoModel(const std::string &profile,
                             const std::string &kind, const std::string &size,
                             int layers = 0);

/// plans.json and cases.json.
const YAML::Node &acesoPlans();
YAML::Node acesoCase(const std::string &name);
std::string acesoFile(const std::string &name);

/// The model of one of plans.json, and the plan.
const AcesoModel &modelOf(const YAML::Node &published);
StagePlan planOf(const YAML::Node &published);

} // namespace ffc::plan::testing

#endif // FFC_TEST_UNIT_ACESO_ACESODATA_H
