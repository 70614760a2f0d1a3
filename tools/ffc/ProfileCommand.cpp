//===- ProfileCommand.cpp - ffc profile -----------------------------------===//

#include "Commands.h"
#include "Compilation.h"
#include "Meta.h"

#include "ffc/Codegen/EmitProfile.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Verifier.h"
#include "ffc/Search/Search.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;
using namespace ffc;

static const char *const kIntro =
    "ffc profile MODEL --devices FILE -o PROGRAM [FLAG...]\n\n"
    "Writes a program that measures the kernels of several strategies, and "
    "the\n"
    "communication between ranks:\n\n"
    "  mpirun -n RANKS ./PROGRAM --output profile.json\n"
    "  ffc MODEL --devices FILE --profile profile.json -o train\n";

//===----------------------------------------------------------------------===//
// Which strategies
//===----------------------------------------------------------------------===//

std::vector<plan::Strategy> Compilation::strategiesToProfile() {
  std::vector<plan::Strategy> result;
  const plan::Graph &graph = planned.graph;
  const plan::CostModel cost = costModel(graph);
  search::Space space(graph, topology->numDevices());
  search::Walker walker(space, cost);
  const std::vector<int64_t> room(topology->numDevices(), INT64_MAX);
  for (const search::Baseline &baseline :
       search::baselines(space, {}, room, walker))
    result.push_back(baseline.strategy);
  // Every candidate of every operator once.
  std::vector<std::vector<plan::Configuration>> candidates;
  size_t most = 0;
  for (plan::OpId anchor : space.anchors()) {
    candidates.push_back(space.candidates(anchor, /*firstPlaceOnly=*/true));
    most = std::max(most, candidates.back().size());
  }
  for (size_t round = 0; round < most; ++round) {
    std::vector<search::Choice> choices;
    for (size_t a = 0; a < candidates.size(); ++a)
      choices.push_back(
          {space.anchors()[a], candidates[a][round % candidates[a].size()]});
    walker.propose(choices);
    walker.accept();
    result.push_back(walker.strategy());
  }
  // What people may write besides.
  std::mt19937 random(static_cast<uint32_t>(options.search.seed));
  while (result.size() < static_cast<size_t>(options.profiledStrategies) * 4)
    result.push_back(
        plan::randomStrategy(graph, topology->numDevices(), random));
  return result;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

namespace {
/// Numbers what is measured.
class Entries {
public:
  explicit Entries(const plan::Topology &topology) : figures(topology) {}

  std::vector<codegen::ProfileEntry> all;
  /// By device, the entry of every kernel and copy.
  std::vector<std::vector<int>> add(const plan::Graph &graph,
                                    const plan::Strategy &strategy,
                                    const plan::Program &program) {
    std::vector<std::vector<int>> result;
    for (const auto &[id, device] : llvm::enumerate(program.devices)) {
      std::vector<int> &list = result.emplace_back();
      for (const plan::Action &action : device.actions) {
        auto work =
            plan::workOf(graph, strategy, device, action, /*withKey=*/true);
        if (!work)
          continue;
        auto [entry, isNew] = numbers.try_emplace({work->key, work->devices},
                                                  static_cast<int>(all.size()));
        if (isNew)
          all.push_back(
              {work->key, std::string(work->kernel), work->devices, work->flops,
               static_cast<double>(work->bytes),
               static_cast<double>(
                   figures.local(static_cast<plan::DeviceId>(id), *work).time) *
                   1e-12});
        list.push_back(entry->second);
      }
    }
    return result;
  }

private:
  const plan::CostModel figures;
  std::map<std::pair<std::string, int>, int> numbers; ///< by key and devices
};
} // namespace

LogicalResult Compilation::profile() {
  if (failed(import()) || failed(recognize()) || failed(rewrite(Emit::Train)) ||
      failed(differentiate()) || failed(loadTopology()) ||
      failed(checkTarget()))
    return failure();

  Entries entries(*topology);
  std::vector<OwningOpRef<ModuleOp>> modules;
  std::vector<codegen::ProfiledStep> steps;
  const plan::CostModel cost = costModel(planned.graph);
  for (const plan::Strategy &strategy : strategiesToProfile()) {
    if (steps.size() == static_cast<size_t>(options.profiledStrategies))
      break;
    program = programOf(strategy, cost);
    if (auto error =
            plan::verifyProgram(planned.graph, strategy, program, *topology))
      return fail(*error);
    const size_t before = entries.all.size();
    codegen::ProfiledStep step;
    step.entries = entries.add(planned.graph, strategy, program);
    if (entries.all.size() == before)
      continue;
    modules.push_back(lowerToRank(planned, program));
    if (!modules.back())
      return failure();
    step.ranks = *modules.back();
    step.meta = describeProgram(options, planned.graph, strategy);
    steps.push_back(std::move(step));
  }
  report.say("to measure: " + Twine(entries.all.size()) +
             " kernels and copies; strategies: " + Twine(steps.size()));

  codegen::ProfileMeta meta;
  meta.model = llvm::sys::path::filename(options.model).str();
  meta.device = topology->kindOf(0).name;
  meta.version = FFC_VERSION;
  meta.entries = std::move(entries.all);
  auto files = codegen::emitProfile(steps, meta);
  if (failed(files) || failed(writeProgram(*files, steps.front().meta)))
    return failure();
  report.sayTimes();
  return success();
}

static llvm::Error check(Options &options) {
  return checkModelCommand(options);
}

static int profile(const Options &options) {
  return succeeded(Compilation(options).profile()) ? 0 : 1;
}

int ffc::runProfileCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<Options>(
      {"ffc profile", kIntro, modelFlags(), check, profile, kProfile},
      arguments);
}
