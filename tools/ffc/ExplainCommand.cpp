//===- ExplainCommand.cpp - ffc explain -----------------------------------===//

#include "Commands.h"
#include "Compilation.h"

#include "ffc/Plan/Cost.h"
#include "ffc/Search/Search.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ffc;

/// Alternatives shown.
static constexpr size_t kShown = 20;

static const char *const kIntro =
    "ffc explain OPERATOR MODEL --devices FILE [FLAG...]\n\n"
    "Prints the simulated time of a step for the alternatives of one "
    "operator,\n"
    "fastest first, with the strategy that ffc MODEL would take for all "
    "others.\n";

namespace {
struct Alternative {
  plan::Picoseconds time;
  plan::Configuration config;
};
} // namespace

LogicalResult Compilation::explain(StringRef name) {
  if (failed(runTo(Emit::Plan)))
    return failure();
  const plan::Graph &graph = planned.graph;
  auto named = llvm::find_if(graph.ops, [&](const plan::Op &op) {
    return op.name == name || llvm::is_contained(op.aliases, name.str());
  });
  if (named == graph.ops.end())
    return fail("expected an operator of '" + options.model +
                "' that is searched for, found '" + name + "'");
  auto op = static_cast<plan::OpId>(named - graph.ops.begin());
  search::Space space(graph, topology->numDevices());
  if (plan::OpId leader = space.leader(op).op; leader >= 0)
    return fail("'" + name + "' follows '" + graph.op(leader).name +
                "': expected an operator that is searched for");

  const plan::CostModel cost = costModel(graph);
  search::Walker walker(space, cost);
  walker.assign(strategy);
  plan::Picoseconds now = walker.makespan();
  plan::Configuration current = walker.config(op);
  std::vector<Alternative> alternatives;
  for (plan::Configuration &config : space.candidates(op, false)) {
    if (config == current)
      continue;
    plan::Picoseconds time = walker.propose({{op, config}});
    walker.reject();
    alternatives.push_back({time, std::move(config)});
  }
  llvm::stable_sort(alternatives, [](const auto &a, const auto &b) {
    return a.time < b.time;
  });
  auto print = [&](plan::Picoseconds time, const plan::Configuration &config,
                   StringRef note) {
    double change =
        100.0 * static_cast<double>(time - now) / static_cast<double>(now);
    llvm::outs() << llvm::formatv("{0,12:f3} ms {1,9} {2}{3}\n",
                                  static_cast<double>(time) * 1e-9,
                                  llvm::formatv("{0:f1} %", change).str(),
                                  config.str(graph.op(op).rules), note);
  };
  llvm::outs() << name << ": a step takes\n";
  print(now, current, "  (now)");
  for (size_t i = 0; i < std::min(kShown, alternatives.size()); ++i)
    print(alternatives[i].time, alternatives[i].config, "");
  if (alternatives.size() > kShown)
    llvm::outs() << "and " << alternatives.size() - kShown
                 << " slower ones, up to "
                 << llvm::formatv(
                        "{0:f3} ms\n",
                        static_cast<double>(alternatives.back().time) * 1e-9);
  return success();
}

static llvm::Error check(Options &options) {
  // As far as a plan is what the flags are checked for.
  options.emit = Emit::Plan;
  return checkModelCommand(options, 2, "an operator and a model");
}

static int explain(const Options &options) {
  return succeeded(Compilation(options).explain(options.arguments[0])) ? 0 : 1;
}

int ffc::runExplainCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<Options>(
      {"ffc explain", kIntro, modelFlags(), check, explain, kExplain},
      arguments);
}
