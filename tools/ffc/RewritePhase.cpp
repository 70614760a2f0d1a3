//===- RewritePhase.cpp - which rules rewrite the graph -------------------===//
//
// Rules are named by options or a strategy file, or chosen: each that matches
// is judged by what a short search finds for the graph that it makes, and what
// is worth it is kept (after Unity, OSDI 2022, which searches graphs and
// strategies together). The strategy is then searched for one graph only.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"
#include "SearchProgress.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Rewrites.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <set>

using namespace mlir;
using namespace ffc;

/// Of the proposals, or the time, of a search, what is for every graph that is
/// judged, and how many proposals that is at most.
static constexpr double kShareOfSearch = 0.025;
static constexpr int64_t kMostProposals = 4000;

/// What dynamic programming chooses from for an operator, and how many recipes
/// are tried for graphs other than the first, the best ones of that.
static constexpr int kCandidates = 8, kRecipes = 4;
/// Nothing else is tried for graphs whose recipes take that much longer.
static constexpr double kLonger = 1.05;

/// What a rule must gain of the time of a step; and what is enough where every
/// recipe gains that, too: short searches differ by more from each other.
static constexpr double kWorthwhile = 0.005, kSmallGain = 0.001;

/// So many operators times devices at most: more take long, even if only
/// recipes are tried.
static constexpr int64_t kMostPoints = 50000;

/// Of what fits; where nothing does, of all: what does not fit is the start of
/// what keeps less.
static plan::Picoseconds timeOf(const search::Result &result) {
  plan::Picoseconds time = result.quality.makespan;
  if (!result.quality.fits())
    for (const search::Baseline &baseline : result.baselines)
      time = std::min(time, baseline.quality.makespan);
  return time;
}

/// "merge-narrow-products in 4 places".
static std::string describe(const Rewrite &rule, size_t places) {
  return (rule.name + " in " + Twine(places) +
          (places == 1 ? " place" : " places"))
      .str();
}

static double ratio(plan::Picoseconds time, plan::Picoseconds to) {
  return static_cast<double>(time) / static_cast<double>(to);
}

/// Is every recipe that was tried for both graphs faster for the one found?
static bool gainsAlways(const search::Result &found,
                        const search::Result &before) {
  for (const search::Baseline &recipe : found.baselines)
    for (const search::Baseline &other : before.baselines)
      if (recipe.name == other.name &&
          ratio(recipe.quality.makespan, other.quality.makespan) >
              1 - kSmallGain)
        return false;
  return true;
}

/// Is `found` worth rules that `before` does without?
static bool isWorthwhile(const search::Result &found,
                         const search::Result &before) {
  if (found.quality.fits() != before.quality.fits())
    return found.quality.fits();
  const double taken = ratio(timeOf(found), timeOf(before));
  return taken <= 1 - kWorthwhile ||
         (taken <= 1 - kSmallGain && gainsAlways(found, before));
}

FailureOr<std::optional<search::Result>>
Compilation::judge(ModuleOp graph, const search::Options &judging) {
  OwningOpRef<ModuleOp> step = graph.clone();
  if (failed(makeStep(*step)) || failed(fuseOperators(*step)))
    return failure();
  FailureOr<PlannedModule> made = buildPlanGraph(*step);
  if (failed(made))
    return failure();
  const size_t operators = made->graph.ops.size();
  const int devices = topology->numDevices();
  if (static_cast<int64_t>(operators) * devices > kMostPoints)
    return std::optional<search::Result>();
  search::Options shorter = judging;
  shorter.candidates = kCandidates;
  shorter.seconds *= kShareOfSearch;
  if (judging.budget || judging.seconds == 0)
    shorter.budget = std::min(
        kMostProposals,
        static_cast<int64_t>(kShareOfSearch *
                             static_cast<double>(judging.budget.value_or(
                                 search::defaultBudget(devices, operators)))));
  return std::optional(search::searchStrategy(made->graph, *topology,
                                              costModel(made->graph), shorter));
}

bool Compilation::choosesRewrites(Emit level) const {
  return level >= Emit::Plan && options.searches() && !options.rewrites &&
         options.strategyFile().empty() && options.pins.empty() &&
         options.exportStrategy.empty() && !options.isByFlexFlow();
}

LogicalResult Compilation::chooseRewrites() {
  if (failed(loadProfile()))
    return failure();
  if (keepsLayersApart())
    return success();
  const auto begin = std::chrono::steady_clock::now();
  std::optional<search::Result> best;
  search::Options judging = options.search;
  const SearchWatch watch(judging, options);
  std::vector<std::string> lines;
  for (const Rewrite &rule : rewrites()) {
    OwningOpRef<ModuleOp> variant = module->clone();
    const size_t places = rule.apply(mainFunction(*variant));
    if (places == 0 || *judging.stop)
      continue;
    if (!best) {
      report.phase("rewrite");
      if (failed(readTopology()))
        return failure();
      auto plain = judge(*module, judging);
      if (failed(plain))
        return failure();
      if (!*plain) {
        report.say("rewrites: none, since the graph is too large to compare "
                   "it with others (--rewrites for rules all the same)");
        return success();
      }
      best = std::move(**plain);
      for (const search::Baseline &recipe :
           llvm::ArrayRef(best->baselines).take_front(kRecipes))
        judging.recipes.push_back(recipe.name);
      lines.push_back("  none: " + milliseconds(timeOf(*best)));
    }
    judging.recipesWithin = static_cast<plan::Picoseconds>(
        kLonger *
        static_cast<double>(best->baselines.front().quality.makespan));
    auto found = judge(*variant, judging);
    if (failed(found))
      return failure();
    if (!*found || *judging.stop)
      continue;
    const bool isTaken = isWorthwhile(**found, *best);
    lines.push_back(llvm::formatv(
        "  {0}: {1}, {2:f3} times that{3}", describe(rule, places),
        milliseconds(timeOf(**found)), ratio(timeOf(**found), timeOf(*best)),
        isTaken ? ", taken" : ""));
    if (!isTaken)
      continue;
    best = std::move(**found);
    module = std::move(variant);
    rewritten.push_back(rule.name.str());
  }
  watch.clear();
  if (!best)
    return success();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  secondsOfChoice = took.count();
  report.say(llvm::formatv("rewrites: {0} graphs compared in {1:f1} s",
                           lines.size(), secondsOfChoice));
  for (const std::string &line : lines)
    report.say(line);
  return success();
}

LogicalResult Compilation::rewrite(Emit level) {
  if (choosesRewrites(level))
    return chooseRewrites();
  std::vector<std::string> rules =
      options.rewrites.value_or(std::vector<std::string>());
  if (const std::string &file = options.strategyFile(); !file.empty()) {
    std::vector<std::string> known;
    for (const Rewrite &rule : ffc::rewrites())
      known.push_back(rule.name.str());
    std::string error;
    auto said = plan::loadRewrites(file, known, error);
    if (!said)
      return fail(error);
    const std::set<std::string> given(rules.begin(), rules.end()),
        ofFile(said->begin(), said->end());
    if (options.rewrites && !said->empty() && given != ofFile)
      return fail("--rewrites: expected auto or " + llvm::join(*said, ",") +
                  ", since '" + file +
                  "' is of a graph that was rewritten so, "
                  "found " +
                  (rules.empty() ? "none" : llvm::join(rules, ",")));
    if (!options.rewrites)
      rules = *said;
  }
  std::string text;
  for (const Rewrite &rule : ffc::rewrites()) {
    if (!llvm::is_contained(rules, rule.name))
      continue;
    const size_t places = rule.apply(mainFunction(*module));
    text += (text.empty() ? "" : ", ") + describe(rule, places);
    if (places > 0)
      rewritten.push_back(rule.name.str());
  }
  if (!text.empty())
    report.say("rewrites: " + text);
  return success();
}
