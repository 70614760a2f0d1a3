//===- PipelineShapesTest.cpp - what searches try, by plans and segments --===//
//
// Pipelines as the search makes them of models, with less and less kept: their
// time is that of their plans, which need at least the bytes that segments say.
//
//===----------------------------------------------------------------------===//

#include "EqualityModel.h"
#include "ffc/Search/Pipelines.h"
#include "ffc/Search/Recompute.h"

using namespace ffc;
using namespace ffc::equality;

namespace {

class PipelineShapes
    : public ::testing::TestWithParam<std::tuple<const char *, bool>> {};

TEST_P(PipelineShapes, TakeWhatTheirPlansTake) {
  const auto [name, overlaps] = GetParam();
  Model model(std::string(FFC_TEST_MODELS) + "/" + name);
  ASSERT_TRUE(model.valid);
  constexpr int kDevices = 4;
  const plan::Topology topology = ranks(kDevices, overlaps);
  const plan::CostModel cost(topology);
  const plan::Graph &graph = model.planned.graph;
  const search::PipelineCuts cuts(graph, topology, cost);
  const search::Recomputable recomputable(graph, cost);
  int tried = 0;
  for (int stages : {1, 2, 4})
    for (int tensor : {1, 2})
      for (int microBatches : {2, 3, 4}) {
        search::PipelineShape shape;
        shape.stages = stages;
        shape.width = kDevices / stages;
        shape.tensor = tensor;
        shape.microBatches = microBatches;
        shape.sharesUpdates = tried % 2 == 1;
        if (!cuts.isPossible(shape))
          continue;
        auto strategy = cuts.strategy(shape, cuts.cut(shape).begins);
        if (!strategy)
          continue;
        ++tried;
        const std::vector<plan::PipelineSchedule> schedules =
            plan::pipelineSchedules(microBatches);
        for (size_t s = 0; s < schedules.size(); ++s) {
          plan::Strategy with = *strategy;
          if (s > 0)
            for (plan::OpId op :
                 recomputable.chosen({static_cast<int>(s), s % 2 ? 1.0 : 0.5}))
              with[op].again = true;
          for (plan::OpId op = 0; s == 2 && op < plan::OpId(with.size()); ++op)
            with[op].again |= graph.op(op).role == plan::OpRole::Update;
          model.checkScheduled(with, schedules[s], topology);
          ASSERT_FALSE(HasFailure())
              << stages << " stages, tensor " << tensor << ", "
              << schedules[s].str() << " of " << microBatches << "\n"
              << plan::str(graph, with);
        }
      }
  EXPECT_GE(tried, 3);
  // Samples that some numbers of micro-batches divide evenly.
  EXPECT_GE(model.regular, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Models, PipelineShapes,
    ::testing::Combine(::testing::Values("mlp-small.onnxtxt",
                                         "gpt-small.onnxtxt",
                                         "causal-small.onnxtxt",
                                         "llama-small.onnxtxt"),
                       ::testing::Bool()));

} // namespace
