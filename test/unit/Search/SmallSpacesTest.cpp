//===- SmallSpacesTest.cpp - the optimum of small spaces is found ---------===//
//
// LeNet, and an RNN of two steps (a grid of operators) with a linear layer, as
// ffc reads them and makes them train, on four devices. What the search finds
// is compared with all combinations of a set of candidates:
//
//   - one device;
//   - a split of one dimension by 4, or 4 copies;
//   - 2 x 2: a split of the operator's first dimension that can be split (the
//     samples), and of another one;
//
// on the first devices in order, updates as they are. These are 205,800
// combinations of LeNet and 529,200 of the RNN, all tried by each test. The
// search itself has all canonical candidates, which are more: on the first
// devices alone hundreds of millions of combinations of LeNet, and 2.2 billion
// of the RNN.
//
//===----------------------------------------------------------------------===//

#include "ModelGraph.h"
#include "SearchFixture.h"

using namespace ffc;
using namespace ffc::plan;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

constexpr int kDevices = 4;

struct SmallSpace {
  const char *name, *model;
  std::optional<int64_t> batchSize;
  bool overlaps;
  int64_t combinations;
  bool isRecipe = false; ///< the optimum
};

std::ostream &operator<<(std::ostream &out, const SmallSpace &space) {
  return out << space.name;
}

class SmallSpaces : public ::testing::TestWithParam<SmallSpace> {
protected:
  void SetUp() override {
    ImportOptions importing;
    importing.batchSize = GetParam().batchSize;
    importing.timeBlock = 1;
    graph = graphOf(GetParam().model, importing);
  }

  Topology topology = chips(kDevices, "8 GB", GetParam().overlaps);
  CostModel cost{topology};
  Graph graph;
};

/// The set of the comment above.
std::vector<Configuration> candidatesOf(const Space &space, OpId anchor) {
  const std::vector<Configuration> all =
      space.candidates(anchor, /*firstPlaceOnly=*/true);
  int first = INT_MAX;
  for (const Configuration &config : all)
    for (const GridAxis &axis : config.axes)
      if (axis.dim != kReplica)
        first = std::min(first, axis.dim);
  std::vector<Configuration> result;
  for (const Configuration &config : all)
    if (config.numPoints() != 2 &&
        (config.axes.size() < 2 ||
         (config.axes[0].dim == first && config.axes[1].dim != kReplica)))
      result.push_back(config);
  return result;
}

TEST_P(SmallSpaces, SearchFindsTheOptimum) {
  Space space(graph, kDevices);
  Walker walker(space, cost);
  std::vector<std::vector<Configuration>> candidates;
  int64_t combinations = 1;
  for (OpId anchor : space.anchors()) {
    candidates.push_back(candidatesOf(space, anchor));
    combinations *= static_cast<int64_t>(candidates.back().size());
  }
  EXPECT_EQ(combinations, GetParam().combinations);
  const Baseline best = exhaustive(space, walker, candidates);
  for (uint64_t seed : {0, 1, 2}) {
    Options options;
    options.seed = seed;
    Result result = searchStrategy(graph, topology, cost, options);
    EXPECT_LE(result.quality.makespan, best.quality.makespan) << seed;
    EXPECT_EQ(best.quality.makespan ==
                  result.baselines.front().quality.makespan,
              GetParam().isRecipe);
  }
}

/// Under its own cost, dynamic programming finds the least sum of all
/// combinations of its candidates.
TEST_P(SmallSpaces, EliminationFindsTheLeastSum) {
  Space space(graph, kDevices);
  SegmentTable table(graph, kDevices, cost);
  const AdditiveProblem problem =
      eliminationProblem(space, table, {}, {}, SIZE_MAX)->costs;
  const AdditiveSolution solution = solve(problem);
  EXPECT_TRUE(solution.isOptimal);
  EXPECT_EQ(solution.cost, least(problem));
}

constexpr const char *kLeNet = "examples/lenet/lenet.onnxtxt",
                     *kRnn = "test/Models/rnn-two-steps.onnxtxt";

INSTANTIATE_TEST_SUITE_P(
    All, SmallSpaces,
    ::testing::Values(
        SmallSpace{"lenet", kLeNet, 64, false, 205'800},
        SmallSpace{"lenet_overlapping", kLeNet, 64, true, 205'800},
        SmallSpace{"rnn", kRnn, std::nullopt, false, 529'200, true},
        SmallSpace{"rnn_overlapping", kRnn, std::nullopt, true, 529'200,
                   /*isRecipe=*/true}),
    [](const auto &info) { return info.param.name; });

} // namespace
