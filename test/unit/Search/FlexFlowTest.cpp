//===- FlexFlowTest.cpp - FlexFlow's simulator, and the search by it ------===//

#include "ModelGraph.h"
#include "SearchFixture.h"

#include "ffc/Search/FlexFlowSearch.h"

using namespace ffc;
using namespace ffc::plan;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

class FlexFlow : public ::testing::Test {
protected:
  void read(const std::string &name, int64_t batchSize,
            const std::string &cluster) {
    ImportOptions importing;
    importing.batchSize = batchSize;
    graph = graphOf("examples/" + name + "/" + name + ".onnxtxt", importing,
                    /*fuses=*/false);
    std::string error;
    const auto machine = FlexFlowMachine::of(
        plan::testing::load("flexflow-sim:" + cluster), error);
    ASSERT_TRUE(machine) << error;
    model = FlexFlowModel::of(graph, *machine, error);
    ASSERT_TRUE(model) << error;
  }

  float timeOf(const FlexFlowStrategy &strategy) const {
    FlexFlowTimer timer(*model);
    timer.assign(strategy);
    return timer.time();
  }

  Graph graph;
  std::optional<FlexFlowModel> model;
};

/// All splits of a layer over the devices.
std::vector<FlexFlowSplit> allSplits(const FlexFlowModel &model, int layer) {
  const int numDevices = model.machine().numDevices();
  std::vector<FlexFlowSplit> result;
  for (int samples = 1; samples <= numDevices; samples *= 2) {
    FlexFlowSplit split;
    split.samples = samples;
    if (model.layers()[layer].isLinear())
      split.channels = numDevices / samples;
    split.devices.assign(split.numParts(), 0);
    size_t part = 0;
    while (part < split.devices.size()) {
      result.push_back(split);
      for (part = 0; part < split.devices.size(); ++part) {
        if (++split.devices[part] < numDevices)
          break;
        split.devices[part] = 0;
      }
    }
  }
  return result;
}

} // namespace

TEST_F(FlexFlow, LayersOfAlexNet) {
  read("alexnet", 128, "1x2");
  ASSERT_EQ(model->layers().size(), 12U);
  EXPECT_EQ(model->parameters().size(), 8U);
  const FlexFlowLayer &flat = model->layers()[8];
  EXPECT_EQ(flat.kind, FlexFlowLayer::Kind::Flat);
  EXPECT_EQ(flat.perSample, (Shape{9216}));
  EXPECT_EQ(flat.inputs, std::vector<int>{7});
  // Three kernels of 2 x 128 x 4096 x 1000 operations, or half of it.
  const FlexFlowLayer &last = model->layers().back();
  EXPECT_NEAR(last.times[0], 3 * (0.02 + 2. * 128 * 4096 * 500 / 4e9), 1e-4);
}

TEST_F(FlexFlow, EditedStrategiesTakeWhatWholeOnesTake) {
  read("alexnet", 512, "2x4");
  FlexFlowTimer timer(*model);
  Random random(1);
  int accepted = 0, over = 0;
  for (int i = 0; i < 2000; ++i) {
    // Some layers anywhere.
    std::vector<FlexFlowTimer::Change> changes;
    const int first = static_cast<int>(random.below(12));
    const int last = std::min<int>(11, first + random.below(3));
    for (int layer = first; layer <= last; ++layer) {
      FlexFlowSplit split;
      split.samples = 1 << random.below(4);
      if (model->layers()[layer].isLinear())
        split.channels = 8 / split.samples;
      for (int part = 0; part < split.numParts(); ++part)
        split.devices.push_back(static_cast<DeviceId>(random.below(8)));
      changes.push_back({layer, split});
    }
    const FlexFlowStrategy before = timer.strategy();
    const float limit =
        random.oneIn(3) ? FlexFlowTimer::kNoLimit : timer.time() * 1.1F;
    const float proposed = timer.propose(changes, limit);
    const float whole = timeOf(timer.strategy());
    EXPECT_EQ(proposed > limit, whole > limit);
    if (proposed <= limit) {
      EXPECT_EQ(proposed, whole);
    }
    if (proposed <= limit && random.oneIn(2)) {
      timer.accept();
      ++accepted;
    } else {
      over += proposed > limit;
      timer.reject(changes);
      EXPECT_EQ(timer.strategy(), before);
    }
    EXPECT_EQ(timer.time(), timeOf(timer.strategy()));
  }
  EXPECT_GT(accepted, 200);
  EXPECT_GT(over, 200);
}

TEST_F(FlexFlow, StrategiesAreConfigurations) {
  read("alexnet", 512, "2x4");
  Options options;
  options.budget = 200;
  const FlexFlowResult found = searchByFlexFlow(*model, options);
  const auto given = model->configurations(graph, found.strategy);
  const Strategy complete = completeStrategy(graph, given);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    EXPECT_FALSE(checkConfiguration(graph, id, complete[id], 8));
  std::string error;
  const auto read = model->strategyOf(graph, complete, error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(*read, found.strategy);
}

TEST_F(FlexFlow, SmallSpacesAreSearchedToTheEnd) {
  read("mlp", 64, "1x2");
  std::vector<std::vector<FlexFlowSplit>> splits;
  for (int layer = 0; layer < 4; ++layer)
    splits.push_back(allSplits(*model, layer));
  EXPECT_EQ(splits[0].size() * splits[1].size() * splits[2].size() *
                splits[3].size(),
            size_t(6 * 8 * 8 * 8));
  FlexFlowTimer timer(*model);
  float best = FlexFlowTimer::kNoLimit;
  for (const FlexFlowSplit &a : splits[0])
    for (const FlexFlowSplit &b : splits[1])
      for (const FlexFlowSplit &c : splits[2])
        for (const FlexFlowSplit &d : splits[3]) {
          timer.assign({a, b, c, d});
          best = std::min(best, timer.time());
        }
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Options options;
    options.budget = 2000;
    options.seed = seed;
    EXPECT_EQ(searchByFlexFlow(*model, options).time, best);
  }
}

TEST_F(FlexFlow, AnswersDependOnOptionsAlone) {
  read("alexnet", 256, "1x4");
  Options options;
  options.budget = 3000;
  const FlexFlowResult first = searchByFlexFlow(*model, options);
  EXPECT_EQ(first.strategy, searchByFlexFlow(*model, options).strategy);
  EXPECT_EQ(first.time, timeOf(first.strategy));
  EXPECT_LE(first.time, first.start);
  EXPECT_EQ(first.proposals, 3000);
  options.seed = 1;
  EXPECT_NE(first.accepted, searchByFlexFlow(*model, options).accepted);
}

TEST_F(FlexFlow, SearchesTellHowFarTheyAre) {
  read("alexnet", 128, "1x2");
  Options options;
  options.budget = 1000;
  double share = -1;
  options.progress = [&](const Progress &progress) {
    EXPECT_GT(progress.share, share);
    EXPECT_LE(progress.best, progress.current);
    share = progress.share;
  };
  searchByFlexFlow(*model, options);
  EXPECT_GT(share, 0.9);
  EXPECT_LT(share, 1);
  // Somebody does not want to wait.
  const std::atomic<bool> stop = true;
  options.stop = &stop;
  EXPECT_EQ(searchByFlexFlow(*model, options).proposals, 0);
}

TEST_F(FlexFlow, SearchesStop) {
  read("alexnet", 256, "1x4");
  Options options;
  options.budget = int64_t(1) << 40;
  options.seconds = 0.05;
  const FlexFlowResult result = searchByFlexFlow(*model, options);
  EXPECT_LT(result.seconds, 2);
  EXPECT_LE(result.time, result.start);
}
