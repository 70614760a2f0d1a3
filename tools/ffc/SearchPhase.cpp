//===- SearchPhase.cpp - finds a strategy and says how good it is ---------===//

#include "Compilation.h"
#include "SearchProgress.h"

#include "ffc/Plan/Cost.h"
#include "ffc/Search/Search.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace ffc;

//===----------------------------------------------------------------------===//
// Pins
//===----------------------------------------------------------------------===//

/// "conv*: n=4 h=2 on 0-7": anchors by pattern; without "on", the first devices
/// in order.
static FailureOr<std::vector<search::Choice>> readPin(StringRef pin,
                                                      const plan::Graph &graph,
                                                      int numDevices,
                                                      std::string &error) {
  auto [pattern, rest] = pin.split(':');
  auto glob = llvm::GlobPattern::create(pattern.trim());
  if (!pin.contains(':') || !glob) {
    llvm::consumeError(glob.takeError());
    error = "--pin: expected NAME: DEGREES, found '" + pin.str() + "'";
    return failure();
  }
  std::string line = rest.str();
  if (!rest.contains(" on ")) {
    int64_t points = 1, degree;
    SmallVector<StringRef> words;
    rest.split(words, ' ', -1, false);
    for (StringRef word : words) {
      StringRef number = word.split('=').second;
      if (auto shares = plan::parseShares(number.str()))
        degree = static_cast<int64_t>(shares->size());
      else if (number.getAsInteger(10, degree))
        continue;
      if (degree > 0 && degree <= plan::kMaxDevices)
        points = std::min<int64_t>(points * degree, plan::kMaxDevices);
    }
    line += " on 0-" + std::to_string(points - 1);
  }
  search::Space space(graph, numDevices);
  std::vector<search::Choice> choices;
  for (plan::OpId anchor : space.anchors()) {
    const std::string &name = graph.op(anchor).name;
    if (!glob->match(name))
      continue;
    auto given = plan::parseStrategy(
        "ffc strategy 1\n\"" + name + "\":" + line + "\n",
        "--pin '" + pin.str() + "'", graph, numDevices, error);
    if (!given)
      return failure();
    if ((*given)[anchor]->again) {
      error = "--pin '" + pin.str() +
              "': expected degrees and devices, found 'again', which only "
              "strategies that are given or found have";
      return failure();
    }
    choices.push_back({anchor, *(*given)[anchor]});
  }
  if (choices.empty()) {
    error = "--pin: expected an operator that is searched for, found no '" +
            pattern.trim().str() + "' among them";
    return failure();
  }
  return choices;
}

//===----------------------------------------------------------------------===//
// The phase
//===----------------------------------------------------------------------===//

/// `verbose`: with what became of the moves.
static void reportSearch(Report &report, const search::Result &result,
                         const std::optional<TakenPlan> &taken, bool verbose) {
  auto ratio = [&](plan::Picoseconds time) {
    return static_cast<double>(time) /
           static_cast<double>(result.quality.makespan);
  };
  report.say(llvm::formatv(
      "search: {0} proposals in {1:f1} s, {2:f0} % accepted", result.proposals,
      result.seconds,
      result.proposals ? 100.0 * static_cast<double>(result.accepted) /
                             static_cast<double>(result.proposals)
                       : 0.0));
  if (result.isFarOff)
    report.say("  nothing comes near the memory: only what keeps less is tried "
               "(--search-budget for proposals all the same)");
  if (verbose && result.proposals > 0) {
    std::string moves;
    for (const search::MoveCount &move : result.moves)
      moves += llvm::formatv("{0}{1} {2} of {3}", moves.empty() ? "" : ", ",
                             move.name, move.accepted, move.proposed);
    report.say("  accepted: " + moves);
  }
  auto line = [&](const search::Baseline &baseline, StringRef note) {
    report.say(
        llvm::formatv("  {0}: {1}, {2:f2} times the strategy found{3}{4}",
                      baseline.name, milliseconds(baseline.quality.makespan),
                      ratio(baseline.quality.makespan),
                      baseline.quality.fits() ? "" : ", does not fit", note));
  };
  size_t shown = 0;
  for (const search::Baseline &baseline : result.baselines)
    if (shown++ < search::kReported || baseline.name == "data-parallel")
      line(baseline, "");
  if (result.elimination)
    line(*result.elimination,
         result.beamAnchors
             ? llvm::formatv(", {0} operators by a beam", result.beamAnchors)
                   .str()
             : "");
  if (!result.dealtOut.empty())
    line(result.dealtOut.front(), "");
  std::string bound;
  if (result.bound > 0)
    bound = llvm::formatv("; no strategy takes less than {0} ({1:f0} % of it)",
                          milliseconds(result.bound), 100 * ratio(result.bound))
                .str();
  if (result.boundWithCommunication > 0)
    bound += llvm::formatv("; with communication {0} ({1:f0} %)",
                           milliseconds(result.boundWithCommunication),
                           100 * ratio(result.boundWithCommunication));
  report.say("  found: " + milliseconds(result.quality.makespan) +
             (result.quality.fits() ? "" : ", does not fit") + bound);
  if (taken)
    report.say(llvm::formatv("  taken: {0}: {1}, {2:f2} times that",
                             taken->name, milliseconds(taken->quality.makespan),
                             ratio(taken->quality.makespan)));
  else if (result.takesBaseline)
    report.say("  taken: " + result.baselines.front().name +
               ", which is simpler and within 1 %");
}

/// Recipes, and orders of devices, that networks are found for.
static constexpr size_t kRecipesMet = 8, kOrdersMet = 2;

/// What fits of it, best first of each kind.
static std::vector<plan::Strategy> met(const search::Result &result) {
  std::vector<plan::Strategy> strategies;
  auto add = [&](const std::vector<search::Baseline> &all, size_t most) {
    for (size_t i = 0; i < std::min(most, all.size()); ++i)
      if (all[i].quality.fits())
        strategies.push_back(all[i].strategy);
  };
  if (result.elimination)
    add({*result.elimination}, 1);
  add(result.answers, result.answers.size());
  add(result.dealtOut, kOrdersMet);
  add(result.baselines, kRecipesMet);
  return strategies;
}

/// Of the time that a search may take.
static constexpr double kShareOfChains = 0.75;

FailureOr<plan::PartialStrategy> Compilation::search() {
  report.phase("search");
  const plan::Graph &graph = planned.graph;
  search::Options searching = options.search;
  searching.forFlexFlow = !options.exportStrategy.empty();
  // None is left: as little as possible.
  if (searching.seconds > 0)
    searching.seconds = std::max(searching.seconds - secondsOfChoice, 1e-3);
  std::string error;
  for (const std::string &pin : options.pins) {
    auto choices = readPin(pin, graph, topology->numDevices(), error);
    if (failed(choices))
      return fail(error);
    searching.pinned.insert(searching.pinned.end(), choices->begin(),
                            choices->end());
  }
  if (!options.start.empty())
    searching.start = strategyToStartFrom();
  if (startFrom)
    searching.start = startFrom;
  const SearchWatch watch(searching, options);
  const plan::CostModel cost = costModel(graph);
  searching.plannedBytes = [&](const plan::Strategy &strategy) {
    return bytesOf(programOf(strategy, cost));
  };
  // With a strategy to start from that does something again it is compared as a
  // whole; the chains start from it without.
  std::optional<plan::Strategy> start = searching.start;
  if (searching.start)
    for (plan::Configuration &config : *searching.start)
      config.again = false;
  // What is left of the time is for whole plans.
  search::Options chains = searching;
  chains.seconds *= kShareOfChains;
  chains.leavesFarOff = !searching.budget && options.start.empty() &&
                        mayBePipeline(searching) && mayKeepLess(searching);
  const search::Result result =
      search::searchStrategy(graph, *topology, cost, chains);
  const PlanSearch plans = searchPlans(result, start, cost, searching);
  watch.clear();
  const std::optional<TakenPlan> &better = plans.taken;
  if (!result.quality.fits() && !better)
    return fail(llvm::formatv(
        "{0}: no strategy found that fits into the devices' memory; the one "
        "that came closest needs at least {1} on a device, {2}{3}",
        options.model, bytesText(result.bytes),
        describeMemory(result.memory, result.bytes), plans.closer));
  reportSearch(report, result, better, options.verbose);
  searched = met(result);
  if (better) {
    schedule = better->schedule;
    return plan::PartialStrategy(better->strategy.begin(),
                                 better->strategy.end());
  }
  report.phase("plan");
  const plan::Strategy &taken = result.takesBaseline
                                    ? result.baselines.front().strategy
                                    : result.strategy;
  plan::PartialStrategy found(taken.begin(), taken.end());
  // What is written for FlexFlow is what was found.
  if (searching.forFlexFlow)
    plan::keepWhatFlexFlowSays(graph, found, topology->numDevices());
  return found;
}
