//===- StageTimerTest.cpp - time and memory of plans of stages ------------===//

#include "ffc/Plan/StageTimer.h"

#include "TinyStages.h"

#include "ffc/Plan/TimingProblem.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace ffc::plan;

namespace {

TEST(StageTimer, LooksUpCollectives) {
  CollectiveTable table;
  table.add(8, 2);
  table.add(2, 1);
  table.add(16, CollectiveTable::kNotMeasured);
  EXPECT_EQ(table.nearest(8), 2);
  EXPECT_EQ(table.nearest(8.5), 2); // half to even
  EXPECT_EQ(table.nearest(9), 2);   // one less
  EXPECT_EQ(table.nearest(5), CollectiveTable::kUnknown);
  EXPECT_DOUBLE_EQ(table.between(5), 1.5);
  EXPECT_DOUBLE_EQ(table.between(14), 3);
}

TEST(StageTimer, ReadsLinks) {
  const LinkTable link({1, 2, 4, 8});
  EXPECT_DOUBLE_EQ(link.microseconds(4), 1000);
  EXPECT_DOUBLE_EQ(link.microseconds(5), 1250);
  EXPECT_DOUBLE_EQ(link.microseconds(64), 8000);
  EXPECT_DOUBLE_EQ(link.microseconds(0.5), 500);
  EXPECT_EQ(link.microseconds(0), 0);
  // One row lower, and from the end.
  EXPECT_DOUBLE_EQ(link.asOrigin(4), 2000);
  EXPECT_DOUBLE_EQ(link.asOrigin(1), 125);
}

/// The passes of stages on a device each, as tasks that a person could write:
/// stage `s` is device `s`, and messages take no time.
std::string problemOf(const std::vector<std::pair<double, double>> &passes,
                      int microBatches) {
  const int stages = static_cast<int>(passes.size());
  std::string text =
      "ffc timing 1\ndevices " + std::to_string(stages) + " overlap\n";
  std::vector<std::vector<std::string>> queue(stages);
  auto name = [](char kind, int stage, int i) {
    return kind + std::to_string(stage) + "." + std::to_string(i);
  };
  for (int s = 0; s < stages; ++s) {
    int forward = 0;
    for (; forward < std::min(stages - s, microBatches); ++forward)
      queue[s].push_back(name('f', s, forward));
    for (int b = 0; b < microBatches; ++b) {
      queue[s].push_back(name('b', s, b));
      if (forward < microBatches)
        queue[s].push_back(name('f', s, forward++));
    }
  }
  // Whatever is ready is next; its message is sent at once.
  std::vector<size_t> next(stages);
  std::vector<std::string> sent;
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (int s = 0; s < stages; ++s) {
      if (next[s] == queue[s].size())
        continue;
      const std::string &pass = queue[s][next[s]];
      const bool isForward = pass[0] == 'f';
      const int i = std::stoi(pass.substr(pass.find('.') + 1));
      const int from = isForward ? s - 1 : s + 1,
                to = isForward ? s + 1 : s - 1;
      const std::string needed = name(pass[0], from, i);
      const bool isSent = from >= 0 && from < stages;
      if (isSent && std::find(sent.begin(), sent.end(), needed) == sent.end())
        continue;
      isDone = false;
      ++next[s];
      if (isSent)
        text += "wait m" + needed + " on " + std::to_string(s) + "\n";
      text += "local " + pass + " on " + std::to_string(s) + ": " +
              std::to_string(isForward ? passes[s].first : passes[s].second) +
              " us\n";
      if (to >= 0 && to < stages)
        text += "exchange m" + pass + ": " + std::to_string(s) + " -> " +
                std::to_string(to) + " 0 s\n";
      sent.push_back(pass);
    }
  }
  return text;
}

/// What the simulator makes of the same passes, message by message.
TEST(StageTimer, AgreesWithTheSimulator) {
  const std::vector<std::vector<std::pair<double, double>>> cases = {
      {{10, 20}},
      {{10, 20}, {10, 20}, {10, 20}},
      {{10, 25}, {30, 41}, {12, 20}, {5, 7}},
      {{30, 41}, {5, 7}, {12, 80}}};
  for (const auto &passes : cases)
    for (int microBatches : {1, 2, 7}) {
      std::string error;
      const auto problem = TimingProblem::parse(problemOf(passes, microBatches),
                                                "problem", error);
      ASSERT_TRUE(problem) << error;
      Picoseconds end = 0;
      for (const PartTime &time : timeProblem(*problem))
        end = std::max(end, time.end);
      EXPECT_EQ(
          std::llround(1e9 * timeOneForwardOneBackward(passes, microBatches)),
          end);
    }
}

class StageCosts : public TinyStages {
protected:
  StageCosts() : TinyStages(2) {}
};

TEST_F(StageCosts, RecomputationTradesTimeForMemory) {
  const StageTimer timer(*profile, *model);
  PlannedStage stage = {0, 1, std::vector<OperatorSplit>(model->size())};
  const StageCost kept = timer.cost(stage, 1, 3, 0, 4);
  EXPECT_EQ(kept.time.again, 0);
  EXPECT_EQ(kept.memory.inFlight, 3 * kept.memory.current);
  // Scores, softmax and dropout of the first layer.
  for (int op : {3, 4, 5})
    stage.ops[op].isAgain = true;
  const StageCost again = timer.cost(stage, 1, 3, 0, 4);
  EXPECT_DOUBLE_EQ(again.time.again, 40 + 30 + 50);
  EXPECT_DOUBLE_EQ(again.time.total(), kept.time.total() + 120);
  // The scores are not kept, the softmax never is, the dropout stays.
  EXPECT_DOUBLE_EQ(again.memory.current, kept.memory.current - 16);
  EXPECT_DOUBLE_EQ(again.memory.inFlight, kept.memory.inFlight - 3 * 16);
  EXPECT_DOUBLE_EQ(again.memory.peak, 16);
}

TEST_F(StageCosts, OperatorsThatAreSplitDifferentlyAreResharded) {
  const StageTimer timer(*profile, *model);
  // From copies to samples and back, before a layer: 1 MiB per sample.
  const OperatorSplit copies = {2, 0, false}, samples = {1, 0, false};
  EXPECT_EQ(timer.reshard(14, 2, 2, copies, copies), std::make_pair(0.0, 0.0));
  EXPECT_EQ(timer.reshard(14, 2, 2, copies, samples),
            std::make_pair(0.0, 120.0));
  EXPECT_EQ(timer.reshard(14, 2, 2, samples, copies),
            std::make_pair(220.0, 0.0));
}

} // namespace
