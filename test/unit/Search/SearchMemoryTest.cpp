//===- SearchMemoryTest.cpp - what is found fits into memory --------------===//

#include "SearchFixture.h"

#include <algorithm>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

/// 2 x 16 MB of parameters do not fit on one device, nor as copies.
TEST_F(SearchTest, FitsIntoMemory) {
  use(4, "12 MB");
  TestGraph g = layers(2048);
  options.budget = 4000;
  Result result = run(g.graph);
  EXPECT_TRUE(result.quality.fits());
  EXPECT_LE(result.memory.total(), 12'000'000);
  for (const Baseline &baseline : result.baselines) {
    if (baseline.name == "data-parallel" || baseline.name == "one device") {
      EXPECT_FALSE(baseline.quality.fits()) << baseline.name;
    }
  }
}

/// Of recipes that are much slower than one that fits it is known if reports
/// name them.
TEST_F(SearchTest, SaysWhetherSlowRecipesFit) {
  use(4, "12 MB");
  TestGraph g = layers(2048);
  options.budget = 0;
  const std::vector<Baseline> all = run(g.graph).baselines;
  ASSERT_TRUE(all.front().quality.fits());
  Space space(g.graph, 4);
  Walker walker(space, *cost);
  int slow = 0, tooLarge = 0;
  for (size_t b = kReported; b < all.size(); ++b) {
    if (all[b].quality.load != Quality::kNotAsked)
      continue;
    ++slow;
    options.recipes = {all.front().name, all[b].name};
    for (const Baseline &baseline : run(g.graph).baselines) {
      walker.assign(baseline.strategy);
      const std::vector<int64_t> bytes = walker.memory();
      const bool fits =
          *std::max_element(bytes.begin(), bytes.end()) <= 12'000'000;
      EXPECT_EQ(baseline.quality.fits(), fits) << baseline.name;
      tooLarge += fits ? 0 : 1;
    }
  }
  EXPECT_GT(slow, 0);
  EXPECT_GT(tooLarge, 0);
}

/// Constants were folded, and nothing is left that needs memory.
TEST_F(SearchTest, NothingToDo) {
  for (int devices : {1, 4}) {
    use(devices);
    TestGraph g;
    const Result result = run(g.graph);
    EXPECT_EQ(result.quality.makespan, 0);
    EXPECT_TRUE(result.quality.fits());
  }
}

TEST_F(SearchTest, SaysWhenNothingFits) {
  use(2, "1 MB");
  TestGraph g = layers(2048);
  options.budget = 500;
  Result result = run(g.graph);
  EXPECT_FALSE(result.quality.fits());
  EXPECT_GT(result.memory.total(), 1'000'000);
}

/// But one that fits is found if there is any.
TEST_F(SearchTest, StopsWhenSomethingFits) {
  use(4, "12 MB");
  TestGraph g = layers(2048);
  options.seconds = 1e-9;
  EXPECT_TRUE(run(g.graph).quality.fits());
}

/// Of the device that needs most, when it does.
TEST_F(SearchTest, PartsOfMemory) {
  use(2);
  TestGraph g = residual(2048);
  Space space(g.graph, 2);
  Walker walker(space, *cost);
  const std::vector<int64_t> bytes = walker.memory();
  const MemoryParts parts = walker.largestMemory();
  EXPECT_EQ(parts.total(), *std::max_element(bytes.begin(), bytes.end()));
  // Three layers, one of which has a gradient.
  constexpr int64_t kLayer = 2048 * 2048 * 4;
  EXPECT_EQ(parts.parameters, 3 * kLayer);
  EXPECT_EQ(parts.gradients, kLayer);
  EXPECT_GT(parts.activations, 0);
  EXPECT_EQ(parts.optimizer, 0);
}

} // namespace
