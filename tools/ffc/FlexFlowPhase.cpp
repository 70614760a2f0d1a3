//===- FlexFlowPhase.cpp - what FlexFlow's simulator makes of a strategy --===//
//
// --simulator=flexflow. Its layers are the model's own, before kernels take
// operators over, as a strategy file names them. So what a search by it finds
// goes the way of a file.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"
#include "SearchProgress.h"

#include "ffc/Plan/FlexFlowTimer.h"
#include "ffc/Search/FlexFlowSearch.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ffc;

LogicalResult Compilation::readForFlexFlow(const PlannedModule &model) {
  std::string error;
  const auto machine = plan::FlexFlowMachine::of(*topology, error);
  if (!machine)
    return fail(error);
  flexFlow = plan::FlexFlowModel::of(model.graph, *machine, error);
  if (!flexFlow)
    return fail(error);
  if (options.searches())
    writeConfigurations(model, searchByFlexFlow(model.graph));
  return success();
}

plan::PartialStrategy Compilation::searchByFlexFlow(const plan::Graph &graph) {
  report.phase("search");
  search::Options searching = options.search;
  const SearchWatch watch(searching, options);
  const search::FlexFlowResult result =
      search::searchByFlexFlow(*flexFlow, searching);
  watch.clear();
  report.say(llvm::formatv(
      "search by FlexFlow's simulator: {0} proposals in {1:f2} s, {2:f0} % "
      "accepted",
      result.proposals, result.seconds,
      result.proposals ? 100.0 * static_cast<double>(result.accepted) /
                             static_cast<double>(result.proposals)
                       : 0.0));
  const auto line = [&](StringRef name, float time) {
    report.say(
        llvm::formatv("  {0}: {1:f3} ms, {2:f2} times the strategy found", name,
                      time, time / result.time));
  };
  line("data-parallel", result.dataParallel);
  line("best recipe", result.start);
  report.say(llvm::formatv("  found: {0:f3} ms", result.time));
  report.phase("plan");
  return flexFlow->configurations(graph, result.strategy);
}

LogicalResult Compilation::timeByFlexFlow() {
  if (!flexFlow)
    return success();
  std::string error;
  const auto given =
      flexFlow->strategyOf(*modelGraph, strategyOfModel(), error);
  if (!given)
    return fail(error);
  const auto line = [&](StringRef which, plan::FlexFlowNodes nodes) {
    plan::FlexFlowTimer timer(*flexFlow, nodes);
    const float dataParallel = timer.time();
    timer.assign(*given);
    report.say(llvm::formatv(
        "FlexFlow's simulator{0}: {1:f3} ms, data-parallel {2:f3} ms, {3:f2} "
        "times that",
        which, timer.time(), dataParallel, dataParallel / timer.time()));
  };
  line("", plan::FlexFlowNodes::AsWritten);
  line(" with its nodes as they were meant", plan::FlexFlowNodes::AsMeant);
  return success();
}
