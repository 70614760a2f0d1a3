//===- TinyStages.h - a small measured model for tests ----------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_PLAN_TINYSTAGES_H
#define FFC_TEST_UNIT_PLAN_TINYSTAGES_H

#include "ffc/Plan/StageModel.h"

#include "gtest/gtest.h"

namespace ffc::plan {

/// gpt-tiny, whose tables are made up (test/Driver/Inputs/stages).
class TinyStages : public ::testing::Test {
protected:
  explicit TinyStages(int layers) : layers(layers) {}

  void SetUp() override {
    std::string error;
    model = StageModel::named("gpt-tiny", error);
    ASSERT_TRUE(model) << error;
    profile = StageProfile::load(FFC_STAGE_TABLES, model->tables, error);
    ASSERT_TRUE(profile) << error;
    ASSERT_TRUE(model->build(*profile, layers, error)) << error;
  }

  const int layers;
  std::optional<StageModel> model;
  std::optional<StageProfile> profile;
};

} // namespace ffc::plan

#endif // FFC_TEST_UNIT_PLAN_TINYSTAGES_H
