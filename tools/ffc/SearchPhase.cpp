//===- SearchPhase.cpp - finds a strategy and says how good it is ---------===//

#include "Compilation.h"

#include "ffc/IR/NameOf.h"
#include "ffc/Plan/Cost.h"
#include "ffc/Search/Search.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"

#include <csignal>
#include <unistd.h>

using namespace mlir;
using namespace ffc;

//===----------------------------------------------------------------------===//
// Ctrl-C
//===----------------------------------------------------------------------===//

static std::atomic<bool> interrupted{false};

namespace {
/// While it lives, the first Ctrl-C ends the search with the best strategy so
/// far; the second one ends ffc.
class InterruptGuard {
public:
  InterruptGuard() {
    interrupted = false;
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &previous);
  }
  ~InterruptGuard() { sigaction(SIGINT, &previous, nullptr); }

private:
  struct sigaction previous {};
};
} // namespace

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
    for (StringRef word : words)
      if (!word.split('=').second.getAsInteger(10, degree) && degree > 0 &&
          degree <= plan::kMaxDevices)
        points = std::min<int64_t>(points * degree, plan::kMaxDevices);
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
// From the fused graph and back
//===----------------------------------------------------------------------===//

/// Configurations of the operators of `to` from those of `from`, in which some
/// of them are fused.
static plan::PartialStrategy spread(const PlannedModule &from,
                                    const plan::Strategy &strategy,
                                    const plan::Graph &to) {
  llvm::StringMap<plan::OpId> ids;
  for (size_t i = 0; i < to.ops.size(); ++i)
    ids[to.ops[i].name] = static_cast<plan::OpId>(i);
  plan::PartialStrategy result(to.ops.size());
  auto give = [&](StringRef name, size_t op) {
    auto it = ids.find(name);
    if (it == ids.end())
      return;
    const plan::OpRules &own = from.graph.ops[op].rules,
                        &target = to.op(it->second).rules;
    plan::Configuration config = strategy[op];
    for (plan::GridAxis &axis : config.axes)
      if (axis.dim != plan::kReplica)
        axis.dim = target.findDim(own.dims[axis.dim].name);
    result[it->second] = std::move(config);
  };
  for (size_t i = 0; i < from.ops.size(); ++i) {
    give(from.graph.ops[i].name, i);
    from.ops[i]->walk([&](Operation *inside) { give(ff::nameOf(inside), i); });
  }
  return result;
}

/// The inverse, for a strategy to start from: the operator that a fused one is
/// called after.
static plan::Strategy gather(const plan::Graph &from,
                             const plan::Strategy &strategy,
                             const plan::Graph &to) {
  llvm::StringMap<size_t> ids;
  for (size_t i = 0; i < from.ops.size(); ++i)
    ids[from.ops[i].name] = i;
  std::vector<std::optional<plan::Configuration>> given(to.ops.size());
  for (size_t i = 0; i < to.ops.size(); ++i) {
    auto it = ids.find(to.ops[i].name);
    if (it == ids.end())
      continue;
    const plan::OpRules &own = from.ops[it->second].rules;
    plan::Configuration config = strategy[it->second];
    for (plan::GridAxis &axis : config.axes)
      if (axis.dim != plan::kReplica)
        axis.dim = to.ops[i].rules.findDim(own.dims[axis.dim].name);
    given[i] = std::move(config);
  }
  return plan::completeStrategy(to, given);
}

//===----------------------------------------------------------------------===//
// The phase
//===----------------------------------------------------------------------===//

static std::string milliseconds(plan::Picoseconds time) {
  return llvm::formatv("{0:f3} ms", static_cast<double>(time) * 1e-9).str();
}

static void printProgress(const search::Progress &progress) {
  llvm::errs() << llvm::formatv(
      "\rffc: search {0:f0} %: best {1}, current {2}, {3} proposals, {4:f0} % "
      "accepted ",
      100 * progress.share, milliseconds(progress.best),
      milliseconds(progress.current), progress.proposals,
      100.0 * static_cast<double>(progress.accepted) /
          static_cast<double>(progress.proposals));
}

static void reportSearch(Report &report, const search::Result &result) {
  auto ratio = [&](plan::Picoseconds time) {
    return static_cast<double>(time) / static_cast<double>(result.makespan);
  };
  report.say(llvm::formatv(
      "search: {0} proposals in {1:f1} s, {2:f0} % accepted", result.proposals,
      result.seconds,
      result.proposals ? 100.0 * static_cast<double>(result.accepted) /
                             static_cast<double>(result.proposals)
                       : 0.0));
  int shown = 0;
  for (const search::Baseline &baseline : result.baselines)
    if (shown++ < 3 || baseline.name == "data-parallel")
      report.say(llvm::formatv("  {0}: {1}, {2:f2} times the strategy found{3}",
                               baseline.name, milliseconds(baseline.makespan),
                               ratio(baseline.makespan),
                               baseline.fits ? "" : ", does not fit"));
  report.say(llvm::formatv(
      "  found: {0}; no strategy takes less than {1} ({2:f0} % of it)",
      milliseconds(result.makespan), milliseconds(result.bound),
      100 * ratio(result.bound)));
}

FailureOr<plan::PartialStrategy> Compilation::search() {
  report.phase("search");
  OwningOpRef<ModuleOp> copy = module->clone();
  if (options.fuse && failed(runFusion(*copy)))
    return failure();
  FailureOr<PlannedModule> fused = buildPlanGraph(*copy);
  if (failed(fused))
    return failure();
  const plan::Graph &graph = fused->graph;
  search::Options searching = options.search;
  std::string error;
  for (const std::string &pin : options.pins) {
    auto choices = readPin(pin, graph, topology->numDevices(), error);
    if (failed(choices))
      return fail(error);
    searching.pinned.insert(searching.pinned.end(), choices->begin(),
                            choices->end());
  }
  if (!options.start.empty()) {
    auto given = plan::loadStrategy(options.start, planned.graph,
                                    topology->numDevices(), error);
    if (!given)
      return fail(error);
    searching.start = gather(
        planned.graph, plan::completeStrategy(planned.graph, *given), graph);
  }
  bool live = !options.quiet && isatty(STDERR_FILENO);
  if (live)
    searching.progress = [last = 0.0](const search::Progress &p) mutable {
      if (p.share < last + 0.01)
        return;
      last = p.share;
      printProgress(p);
    };
  searching.stop = &interrupted;
  search::Result result;
  {
    InterruptGuard guard;
    result = search::searchStrategy(graph, *topology,
                                    plan::CostModel(*topology), searching);
  }
  if (live)
    llvm::errs() << "\r\033[K";
  if (!result.fits)
    return fail(llvm::formatv(
        "{0}: no strategy found that fits into the devices' memory; the one "
        "that came closest needs {1} on a device",
        options.model, bytesText(result.bytesPerDevice)));
  reportSearch(report, result);
  report.phase("plan");
  return spread(*fused, result.strategy, planned.graph);
}
