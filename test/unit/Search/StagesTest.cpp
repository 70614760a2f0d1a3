//===- StagesTest.cpp - the search for plans of stages --------------------===//

#include "ffc/Search/Stages.h"

#include "StageKnapsack.h"
#include "TinyStages.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace ffc::plan;
using namespace ffc::search;

namespace {

//===----------------------------------------------------------------------===//
// The knapsack
//===----------------------------------------------------------------------===//

/// The least time of any choice that fits.
double bruteForce(const Knapsack &knapsack, size_t s, size_t lane, double time,
                  double memory) {
  if (s * knapsack.numLanes == knapsack.segments.size())
    return memory <= knapsack.room ? time
                                   : std::numeric_limits<double>::infinity();
  double least = std::numeric_limits<double>::infinity();
  for (size_t to = 0; to < knapsack.numLanes; ++to) {
    const size_t at = s * knapsack.numLanes + to;
    const Segment &segment = *knapsack.segments[at];
    const double entry = s ? knapsack.changes[at * knapsack.numLanes + lane]
                           : knapsack.firstTime[to];
    for (const SegmentOption &option : segment.options)
      least = std::min(
          least, bruteForce(knapsack, s + 1, to, time + entry + option.time,
                            memory + (s ? 0 : knapsack.firstMemory[to]) +
                                knapsack.keptTimes * option.kept +
                                knapsack.weightTimes * segment.weights));
  }
  return least;
}

TEST(StageKnapsack, FindsTheBest) {
  std::mt19937 random(1);
  auto draw = [&](double most) {
    return std::uniform_real_distribution<double>(0, most)(random);
  };
  for (int round = 0; round < 60; ++round) {
    Knapsack knapsack;
    knapsack.numLanes = 2;
    knapsack.keptTimes = 3;
    knapsack.weightTimes = 8;
    std::vector<Segment> segments(10);
    for (Segment &segment : segments) {
      double time = draw(100), kept = 50;
      for (int i = 0; i < 3; ++i) {
        segment.options.push_back({time, kept});
        time += 1 + draw(20);
        kept -= 1 + draw(15);
      }
      // These options are a hull only if they happen to be.
      for (const SegmentOption &option : segment.options) {
        std::vector<const SegmentOption *> &hull = segment.hull;
        while (hull.size() > 1) {
          const SegmentOption &a = *hull[hull.size() - 2], &b = *hull.back();
          if ((b.time - a.time) * (b.kept - option.kept) <
              (option.time - b.time) * (a.kept - b.kept))
            break;
          hull.pop_back();
        }
        hull.push_back(&option);
      }
      segment.weights = draw(10);
      knapsack.segments.push_back(&segment);
      knapsack.changes.insert(knapsack.changes.end(), {0, draw(30)});
      if (knapsack.segments.size() % 2 == 0)
        std::swap(knapsack.changes[knapsack.changes.size() - 1],
                  knapsack.changes[knapsack.changes.size() - 2]);
    }
    knapsack.firstTime = {draw(10), draw(10)};
    knapsack.firstMemory = {draw(10), draw(10)};
    knapsack.room = 700 + draw(300);
    const Knapsack::Solution solution =
        knapsack.solve(std::numeric_limits<double>::infinity());
    const double best = bruteForce(knapsack, 0, 0, 0, 0);
    if (solution.options.empty()) {
      EXPECT_EQ(best, std::numeric_limits<double>::infinity());
      continue;
    }
    EXPECT_LE(solution.memory, knapsack.room);
    EXPECT_GE(solution.time, best - 1e-6);
    EXPECT_LE(solution.time, best * (1 + 2e-5));
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

class Stages : public TinyStages {
protected:
  Stages() : TinyStages(3) {
    options.devices = options.devicesPerNode = 4;
    options.batch = 16;
    options.memoryLimit = 400;
  }

  std::optional<StageSearchResult> search() const {
    return searchStages(*profile, *model, options);
  }

  StageSearchOptions options;
};

/// Divides the devices and cuts the model in all ways that have the same
/// degrees for all operators of a stage and compute nothing again.
void tryAll(const StageTimer &timer, const StageModel &model,
            const StageSearchOptions &options, StagePlan &plan, int devices,
            double &best) {
  const int first = plan.stages.empty() ? 0 : plan.stages.back().end();
  if (first == model.size() || devices == 0) {
    if (first < model.size() || devices > 0 || timer.check(plan))
      return;
    const StagePlanCost cost = timer.cost(plan);
    if (cost.memory < options.memoryLimit)
      best = std::min(best, cost.formula);
    return;
  }
  for (int width = 1; width <= devices; ++width)
    for (int tensor : {1, 2})
      for (int end = width == devices ? model.size() : first + 1;
           end <= model.size(); ++end) {
        if (width % tensor)
          continue;
        plan.stages.push_back(
            {first, width,
             std::vector<OperatorSplit>(end - first, {tensor, 0, false})});
        tryAll(timer, model, options, plan, devices - width, best);
        plan.stages.pop_back();
      }
}

TEST_F(Stages, AreNoWorseThanAllRegularOnes) {
  const StageTimer timer(*profile, *model);
  options.devices = options.devicesPerNode = 3;
  for (double limit : {300.0, 400.0, 800.0}) {
    options.memoryLimit = limit;
    double best = 1e18;
    for (int microBatch : {1, 2, 4}) {
      StagePlan plan;
      plan.model = model->name;
      plan.layers = model->layers;
      plan.devicesPerNode = 3;
      plan.batch = options.batch;
      plan.microBatch = microBatch;
      tryAll(timer, *model, options, plan, 3, best);
    }
    const auto result = search();
    ASSERT_TRUE(result);
    EXPECT_FALSE(timer.check(result->plan));
    EXPECT_LT(result->cost.memory, limit);
    EXPECT_LE(result->cost.formula, best * (1 + 1e-4)) << limit;
  }
}

TEST_F(Stages, NeedMoreTimeInLessMemory) {
  double before = 0;
  for (double limit : {1000.0, 400.0, 250.0, 200.0, 180.0}) {
    options.memoryLimit = limit;
    const auto result = search();
    ASSERT_TRUE(result) << limit;
    EXPECT_LT(result->cost.memory, limit);
    EXPECT_GE(result->cost.formula, before * (1 - 1e-3));
    before = result->cost.formula;
  }
  options.memoryLimit = 60;
  EXPECT_FALSE(search());
}

TEST_F(Stages, AreAsManyAndAsLargeAsAsked) {
  options.stages = 3;
  options.microBatch = 2;
  const auto result = search();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->plan.stages.size(), 3u);
  EXPECT_EQ(result->plan.microBatch, 2);
  EXPECT_EQ(result->plan.numDevices(), 4);
}

/// A plan's text says all of it.
TEST_F(Stages, ReadBack) {
  options.memoryLimit = 190;
  const auto result = search();
  ASSERT_TRUE(result);
  std::string error;
  const auto again = StagePlan::parse(result->plan.print(), "plan", error);
  ASSERT_TRUE(again) << error;
  const StageTimer timer(*profile, *model);
  EXPECT_EQ(timer.cost(*again).formula, result->cost.formula);
  EXPECT_EQ(timer.cost(*again).memory, result->cost.memory);
}

} // namespace
