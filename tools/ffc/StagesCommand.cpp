//===- StagesCommand.cpp - ffc stages -------------------------------------===//
//
// Searches for a plan of stages of a measured model, or shows one.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Search/Stages.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>

using namespace llvm;
using namespace ffc;
using codegen::makeError;

static const char *const kIntro =
    "ffc stages: cuts a measured model into the stages of a pipeline\n\n"
    "  ffc stages TABLES --model MODEL --devices N --batch N --memory-limit "
    "SIZE\n"
    "  ffc stages TABLES --plan FILE\n\n"
    "TABLES is a folder of measured times (docs/stages.md). Without a plan one "
    "is\nsearched for.\n";

namespace {

struct StagesOptions : CommandOptions {
  std::string model, plan, output;
  int64_t layers = 0, devices = 0, devicesPerNode = 0, batch = 0;
  int64_t microBatch = 0, stages = 0;
  int64_t memoryLimit = 0; ///< bytes
  /// Of those without a meaning beside a plan.
  std::vector<std::string> searchFlags;
};

/// A flag of the search.
template <class Set> auto searched(Set set) {
  return [=](StagesOptions &options, StringRef flag, StringRef value) {
    options.searchFlags.push_back(flag.str());
    return set(options, flag, value);
  };
}

/// A whole number of the search.
auto searched(int64_t StagesOptions::*place, int most) {
  return searched(setWhole(place, 1, most));
}

} // namespace

static const std::vector<FlagGroupOf<StagesOptions>> &flagGroups() {
  constexpr int kMostLayers = plan::StagePlan::kMostLayers;
  constexpr int kMostDevices = plan::StagePlan::kMostDevices;
  constexpr int kMostSamples = plan::StagePlan::kMostSamples;
  static const std::vector<FlagGroupOf<StagesOptions>> groups = {
      {"Search",
       {{"--model", "MODEL", "of the tables: gpt-1.3B, t5-770M, resnet-1B",
         searched(setText(&StagesOptions::model))},
        {"--layers", "N", "how often its layers are repeated, if not as known",
         searched(&StagesOptions::layers, kMostLayers)},
        {"--devices", "N", "how many there are",
         searched(&StagesOptions::devices, kMostDevices)},
        {"--devices-per-node", "N", "of these, in a machine; 8 or all of them",
         searched(&StagesOptions::devicesPerNode, kMostDevices)},
        {"--batch", "N", "samples of an iteration",
         searched(&StagesOptions::batch, kMostSamples)},
        {"--micro-batch", "N",
         "samples that go through the stages together; any that divides the "
         "batch",
         searched(&StagesOptions::microBatch, kMostSamples)},
        {"--stages", "N", "number of stages; any",
         searched(&StagesOptions::stages, kMostDevices)},
        {"--memory-limit", "SIZE",
         "of a device, which plans stay below (12000 MiB)",
         searched(setBytes(&StagesOptions::memoryLimit))}}},
      {"Input and output",
       {{"--plan", "FILE", "shows this plan instead of a search",
         setText(&StagesOptions::plan)},
        {"-o", "FILE", "writes the plan", setText(&StagesOptions::output)},
        helpFlag<StagesOptions>()}}};
  return groups;
}

static Error check(StagesOptions &options) {
  if (Error error = expectArguments(options, 1, "one folder of tables"))
    return error;
  if (!options.plan.empty()) {
    if (!options.searchFlags.empty())
      return makeError("flag '" + options.searchFlags.front() +
                       "' has no meaning with --plan, which says it");
    return Error::success();
  }
  for (auto [flag, isMissing] :
       {std::pair<StringRef, bool>{"--model", options.model.empty()},
        {"--devices", !options.devices},
        {"--batch", !options.batch},
        {"--memory-limit", !options.memoryLimit}})
    if (isMissing)
      return makeError("expected " + flag +
                       " (or --plan, to show one), found none");
  if (!options.devicesPerNode)
    options.devicesPerNode = std::min<int64_t>(options.devices, 8);
  if (options.devices % options.devicesPerNode)
    return expected("--devices-per-node",
                    "a number that divides the " + Twine(options.devices) +
                        " devices",
                    std::to_string(options.devicesPerNode));
  if (options.microBatch && options.batch % options.microBatch)
    return expected("--micro-batch",
                    "a number that divides the batch of " +
                        Twine(options.batch),
                    std::to_string(options.microBatch));
  if (options.stages > options.devices)
    return expected("--stages",
                    "at most as many as devices, " + Twine(options.devices),
                    std::to_string(options.stages));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static std::string milliseconds(double microseconds) {
  return formatv("{0:f3}", microseconds / 1000).str();
}

static std::string mebibytes(double value) {
  return formatv("{0:f1}", value).str();
}

/// "1", or "1-4" where operators differ.
static std::string degreesOf(const plan::PlannedStage &stage, bool isData) {
  auto of = [&](const plan::OperatorSplit &op) {
    return isData ? stage.devices / op.tensor : op.tensor;
  };
  const auto [least, most] = std::minmax_element(
      stage.ops.begin(), stage.ops.end(),
      [&](const auto &a, const auto &b) { return of(a) < of(b); });
  return std::to_string(of(*least)) +
         (of(*least) == of(*most) ? "" : "-" + std::to_string(of(*most)));
}

static void printTimes(const plan::StagePlan &plan,
                       const plan::StagePlanCost &cost) {
  const char *format =
      "{0,5} {1,12} {2,8} {3,9} {4,6} {5,11} {6,11} {7,11} {8,10} {9,10} "
      "{10,11}\n";
  outs() << "\nMilliseconds of a micro-batch:\n"
         << formatv(format, "stage", "operators", "devices", "tp x dp", "again",
                    "forward", "backward", "recompute", "transfers", "reshards",
                    "all");
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::PlannedStage &stage = plan.stages[s];
    const plan::StageTime &time = cost.stages[s].time;
    const auto again = std::count_if(stage.ops.begin(), stage.ops.end(),
                                     [](const auto &op) { return op.isAgain; });
    outs() << formatv(
        format, s, formatv("{0}-{1}", stage.first, stage.end() - 1).str(),
        stage.devices,
        degreesOf(stage, /*isData=*/false) + " x " +
            degreesOf(stage, /*isData=*/true),
        again, milliseconds(time.forward), milliseconds(time.backward),
        milliseconds(time.again), milliseconds(time.in + time.out),
        milliseconds(time.reshardForward + time.reshardBackward),
        milliseconds(time.total()));
  }
}

static void printMemory(const plan::StagePlanCost &cost) {
  const char *format =
      "{0,5} {1,10} {2,10} {3,10} {4,10} {5,10} {6,10} {7,10} {8,10} {9,11}\n";
  outs() << "\nMiB of a device:\n"
         << formatv(format, "stage", "weights", "masters", "gradients",
                    "optimizer", "in flight", "current", "again", "reserved",
                    "all");
  for (size_t s = 0; s < cost.stages.size(); ++s) {
    const plan::StageMemory &memory = cost.stages[s].memory;
    outs() << formatv(format, s, mebibytes(memory.weights),
                      mebibytes(memory.masters), mebibytes(memory.gradients),
                      mebibytes(memory.optimizer), mebibytes(memory.inFlight),
                      mebibytes(memory.current), mebibytes(memory.peak),
                      mebibytes(memory.reserved), mebibytes(memory.total()));
  }
}

static void print(const plan::StagePlan &plan, const plan::StageModel &model,
                  const plan::StagePlanCost &cost) {
  outs() << plan.model << ": " << plan.layers << " layers, " << model.size()
         << " operators, " << plan.stages.size() << " stages on "
         << plan.numDevices() << " devices\n"
         << "batch          " << plan.batch << " in " << plan.numMicroBatches()
         << " micro-batches of " << plan.microBatch << "\n"
         << "iteration      " << formatv("{0:f4}", cost.predicted)
         << " ms predicted\n"
         << "               " << formatv("{0:f4}", cost.formula)
         << " ms as (m - 1) max t + sum t, " << formatv("{0:f4}", cost.exact)
         << " ms in the order of 1F1B\n"
         << "memory         " << formatv("{0:f3}", cost.memory)
         << " MiB on the fullest device\n";
  printTimes(plan, cost);
  printMemory(cost);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static int run(const StagesOptions &options) {
  std::string error;
  auto fail = [&](const Twine &text) {
    printError(text);
    return 1;
  };
  std::optional<plan::StagePlan> plan;
  if (!options.plan.empty()) {
    plan = plan::StagePlan::load(options.plan, error);
    if (!plan)
      return fail(error);
  }
  auto model =
      plan::StageModel::named(plan ? plan->model : options.model, error);
  if (!model)
    return fail(error);
  const auto profile =
      plan::StageProfile::load(options.arguments[0], model->tables, error);
  if (!profile)
    return fail(error);
  const int layers = plan && !model->hasFixedLayers()
                         ? plan->layers
                         : static_cast<int>(options.layers);
  if (!model->build(*profile, layers, error))
    return fail(error);
  const plan::StageTimer timer(*profile, *model);
  if (plan) {
    if (const auto wrong = timer.check(*plan))
      return fail(options.plan + ": " + *wrong);
    print(*plan, *model, timer.cost(*plan));
  } else {
    search::StageSearchOptions search;
    search.devices = static_cast<int>(options.devices);
    search.devicesPerNode = static_cast<int>(options.devicesPerNode);
    search.batch = static_cast<int>(options.batch);
    search.memoryLimit = static_cast<double>(options.memoryLimit) / (1 << 20);
    search.microBatch = static_cast<int>(options.microBatch);
    search.stages = static_cast<int>(options.stages);
    const auto start = std::chrono::steady_clock::now();
    auto result = search::searchStages(*profile, *model, search);
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    if (!result)
      return fail(model->name + ": no plan found that stays below " +
                  mebibytes(search.memoryLimit) + " MiB on " +
                  Twine(options.devices) +
                  " devices; more memory, more devices or another size of "
                  "micro-batches may help");
    plan = std::move(result->plan);
    print(*plan, *model, result->cost);
    outs() << "\nsearched " << formatv("{0:f2}", took.count()) << " s\n";
  }
  if (!options.output.empty())
    if (Error wrong = codegen::writeFile(options.output, plan->print()))
      return fail(toString(std::move(wrong)));
  return 0;
}

int ffc::runStagesCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<StagesOptions>(
      {"ffc stages", kIntro, flagGroups(), check, run}, arguments);
}
