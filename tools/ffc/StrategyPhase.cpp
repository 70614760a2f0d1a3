//===- StrategyPhase.cpp - which strategy is taken, and who reads of it ---===//
//
// Strategy files name the operators of the model, of which kernels compute
// several at once. What a file says comes before kernels take operators over,
// so that those with different configurations stay apart.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"
#include "InternalError.h"

#include "ffc/IR/NameOf.h"
#include "ffc/Plan/RandomStrategy.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ffc;

LogicalResult Compilation::readStrategyFiles() {
  if (!options.isFile() && options.start.empty() &&
      options.exportStrategy.empty() && !options.isByFlexFlow())
    return success();
  FailureOr<PlannedModule> model = buildPlanGraph(*module);
  if (failed(model))
    return failure();
  auto load = [&](const std::string &path) {
    std::string error;
    auto given =
        plan::loadStrategy(path, model->graph, topology->numDevices(), error);
    if (!given)
      (void)fail(error);
    return given;
  };
  if (!options.start.empty()) {
    auto given = load(options.start);
    if (!given)
      return failure();
    const plan::Strategy whole = plan::completeStrategy(model->graph, *given);
    for (const auto &[op, config] : llvm::zip_equal(model->graph.ops, whole))
      start[op.name] = attributeOf(config, op.rules, context);
  }
  if (options.isFile()) {
    auto given = load(options.strategy);
    if (!given)
      return failure();
    writeConfigurations(*model, *given);
  }
  if (options.isByFlexFlow() && failed(readForFlexFlow(*model)))
    return failure();
  if (!options.exportStrategy.empty() || options.isByFlexFlow())
    modelGraph = std::move(model->graph);
  return success();
}

FailureOr<plan::PartialStrategy> Compilation::strategyOfFile() {
  auto given = readConfigurations(planned);
  if (failed(given))
    return failure();
  for (const auto &[id, config] : llvm::enumerate(*given))
    if (auto problem = config ? plan::checkConfiguration(
                                    planned.graph, static_cast<plan::OpId>(id),
                                    *config, topology->numDevices())
                              : std::nullopt)
      return fail(internalError("fusion does not allow what '" +
                                    options.strategy + "' says",
                                options, *problem));
  return std::move(*given);
}

/// What `byName` has for the operators of `graph`; others follow.
static plan::Strategy
carriedByName(const llvm::StringMap<ff::ConfigAttr> &byName,
              const plan::Graph &graph) {
  plan::PartialStrategy given;
  for (const plan::Op &op : graph.ops) {
    ff::ConfigAttr config = byName.lookup(op.name);
    given.push_back(config ? std::optional(carriedTo(config, op.rules))
                           : std::nullopt);
  }
  return plan::completeStrategy(graph, given);
}

plan::Strategy Compilation::strategyToStartFrom() const {
  return carriedByName(start, planned.graph);
}

LogicalResult Compilation::chooseStrategy() {
  const int numDevices = topology->numDevices();
  std::string error;
  std::optional<plan::PartialStrategy> given;
  if (options.randomStrategy) {
    std::mt19937 random(*options.randomStrategy);
    const plan::Graph &graph = planned.graph;
    plan::Strategy drawn;
    switch (options.random) {
    case Options::Random::Any:
      drawn = plan::randomStrategy(graph, numDevices, random);
      break;
    case Options::Random::Pipeline:
      drawn = plan::randomPipeline(graph, numDevices, schedule, random);
      break;
    case Options::Random::Recompute:
      drawn = plan::randomRecomputation(graph, numDevices, schedule, random);
      break;
    }
    given.emplace(drawn.begin(), drawn.end());
  } else if (options.strategy == "data-parallel") {
    given = plan::dataParallel(planned.graph, numDevices, error);
    if (!given)
      return fail(error);
  } else {
    FailureOr<plan::PartialStrategy> found =
        options.flexNet.searchesNetwork()               ? searchWithNetwork()
        : options.searches() && !options.isByFlexFlow() ? search()
                                                        : strategyOfFile();
    if (failed(found))
      return failure();
    given = std::move(*found);
  }
  std::vector<plan::OpId> followed;
  strategy = plan::completeStrategy(planned.graph, *given, &followed);
  reportPlan(followed);
  strategyText = plan::printStrategy(planned.graph, strategy, rewritten);
  return success(
      succeeded(timeByFlexFlow()) &&
      succeeded(writeStrategy(options.printStrategy, strategyText)) &&
      succeeded(exportStrategy()));
}

LogicalResult Compilation::writeStrategy(const std::string &path,
                                         const std::string &text) {
  if (path.empty())
    return success();
  if (path != "-")
    return check(codegen::writeFile(path, text));
  llvm::outs() << text;
  return success();
}

llvm::StringMap<ff::ConfigAttr> Compilation::configurationsByName() const {
  llvm::StringMap<ff::ConfigAttr> byName;
  auto give = [&](StringRef name, size_t op) {
    byName[name] = attributeOf(strategy[op], planned.graph.ops[op].rules,
                               *planned.ops[op]->getContext());
  };
  for (size_t op = 0; op < planned.ops.size(); ++op)
    for (const std::string &alias : planned.graph.ops[op].aliases)
      give(alias, op);
  // An alias may be another operator's name.
  for (size_t op = 0; op < planned.ops.size(); ++op)
    give(planned.graph.ops[op].name, op);
  return byName;
}

plan::Strategy Compilation::strategyOfModel() const {
  return carriedByName(configurationsByName(), *modelGraph);
}

/// Operators that evaluation adds, or makes of others, follow.
plan::Strategy Compilation::strategyOfEvaluation() const {
  const llvm::StringMap<ff::ConfigAttr> byName = configurationsByName();
  const plan::Graph &graph = evaluation->planned.graph;
  plan::PartialStrategy given;
  for (const auto &[id, op] : llvm::enumerate(graph.ops)) {
    std::optional<plan::Configuration> &mine = given.emplace_back();
    if (ff::ConfigAttr config = byName.lookup(op.name)) {
      mine = carriedTo(config, op.rules);
      mine->again = false; // there is no backward pass
      if (plan::checkConfiguration(graph, static_cast<plan::OpId>(id), *mine,
                                   topology->numDevices()))
        mine.reset();
    }
  }
  return plan::completeStrategy(graph, given);
}

LogicalResult Compilation::exportStrategy() {
  if (options.exportStrategy.empty())
    return success();
  std::vector<plan::OpId> leftOut;
  std::string text = plan::printFlexFlowStrategy(
      *modelGraph, strategyOfModel(),
      options.exportFormat == "text" ? plan::FlexFlowForm::Text
                                     : plan::FlexFlowForm::Printed,
      leftOut);
  if (!leftOut.empty()) {
    std::string names;
    for (plan::OpId id : leftOut)
      names += (names.empty() ? "" : ", ") + modelGraph->op(id).name;
    report.say("--export-strategy: left out what FlexFlow cannot say: " +
               names);
  }
  return writeStrategy(options.exportStrategy, text);
}

void Compilation::reportPlan(const std::vector<plan::OpId> &followed) {
  std::string line = topology->name() + ", " +
                     std::to_string(topology->numDevices()) +
                     (topology->numDevices() == 1 ? " device; strategy "
                                                  : " devices; strategy ") +
                     options.strategy;
  // A search decides for all.
  if (!followed.empty() && options.strategy != "search") {
    SmallVector<std::string> names;
    for (plan::OpId op : followed)
      names.push_back(planned.graph.op(op).name);
    line += ", followed by " + llvm::join(names, ", ");
  }
  report.say(line);
}
