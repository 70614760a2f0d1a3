//===- SearchTest.cpp - searches that others have published ---------------===//

#include "AcesoData.h"
#include "ffc/Search/Stages.h"

#include "gtest/gtest.h"

#include <chrono>
#include <iostream>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;

namespace {

struct Problem {
  const char *profile, *kind, *size;
  int devices, batch;
  double limit, bar; ///< MiB and seconds
};

std::ostream &operator<<(std::ostream &out, const Problem &problem) {
  return out << problem.kind << '-' << problem.size << " on " << problem.devices
             << " of " << problem.profile;
}

class StageSearch : public ::testing::TestWithParam<Problem> {};

TEST_P(StageSearch, IsAsGood) {
  const Problem &problem = GetParam();
  const AcesoModel &each =
      acesoModel(problem.profile, problem.kind, problem.size);
  const auto start = std::chrono::steady_clock::now();
  StageSearchOptions options;
  options.devices = problem.devices;
  options.devicesPerNode = std::min(problem.devices, 8);
  options.batch = problem.batch;
  options.memoryLimit = problem.limit;
  const auto result = searchStages(each.profile, each.model, options);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(result);
  EXPECT_FALSE(each.timer.check(result->plan));
  EXPECT_LT(result->cost.memory, problem.limit);
  EXPECT_LE(result->cost.formula, 1000 * problem.bar);
  std::cout << problem << ": " << result->cost.formula / 1000 << " s (bar "
            << problem.bar << "), exact " << result->cost.exact / 1000 << " s, "
            << result->plan.stages.size() << " stages, micro-batch "
            << result->plan.microBatch << ", searched " << took.count()
            << " s\n";
}

INSTANTIATE_TEST_SUITE_P(
    Small, StageSearch,
    ::testing::Values(
        Problem{"v100x4-pcie", "gpt", "1_3B", 4, 512, 12000, 57.82},
        Problem{"v100x4-pcie", "t5", "770M", 4, 512, 12000, 33.66},
        Problem{"v100x4-pcie", "resnet", "1B", 4, 768, 12000, 17.673},
        Problem{"v100x32-nvlink", "gpt", "1_3B", 4, 1024, 28000, 100.582},
        Problem{"v100x32-nvlink", "resnet", "2B", 4, 1536, 28000, 49.325}));
INSTANTIATE_TEST_SUITE_P(
    Large, StageSearch,
    ::testing::Values(
        Problem{"v100x32-nvlink", "gpt", "2_6B", 8, 1024, 28000, 86.864},
        Problem{"v100x32-nvlink", "resnet", "4B", 8, 1536, 28000, 53.856},
        Problem{"v100x32-nvlink", "gpt", "6_7B", 16, 1024, 28000, 86.594},
        Problem{"v100x32-nvlink", "resnet", "6_8B", 16, 1536, 28000, 45.646},
        Problem{"v100x32-nvlink", "gpt", "13B", 32, 1024, 28000, 82.5},
        Problem{"v100x32-nvlink", "resnet", "13B", 32, 1536, 28000, 47.6}));

} // namespace
