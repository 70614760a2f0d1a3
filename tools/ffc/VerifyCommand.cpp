//===- VerifyCommand.cpp - ffc verify -------------------------------------===//
//
// Whether a plan is safe to run, and the text of a program does what was
// planned.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"

#include "ffc/Codegen/EmitProgram.h"
#include "ffc/IR/Rank.h"
#include "ffc/Passes/Passes.h"
#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/Topology.h"
#include "ffc/Plan/Verifier.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ffc;

namespace {

struct VerifyOptions : CommandOptions {
  std::string devices;
};

/// Reads and proves; functions fail after diagnostics or with a message.
class Verification {
public:
  explicit Verification(const VerifyOptions &options)
      : options(options), diagnostics(&context, [&](Diagnostic &diagnostic) {
          if (!said.empty())
            said += "; ";
          if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
            said += "line " + std::to_string(place.getLine()) + ": ";
          said += diagnostic.str();
        }) {
    context.loadDialect<ff::FFDialect, rank::RankDialect, func::FuncDialect>();
  }

  /// What was proved, a line.
  llvm::Expected<std::string> run();

private:
  using Text = std::unique_ptr<llvm::MemoryBuffer>;

  /// A step of a program in a folder, with its plan proved.
  struct Step {
    OwningOpRef<ModuleOp> plan;
    codegen::StepText text;
    std::string proved;
  };

  static llvm::Error fault(const std::string &path, const Twine &what) {
    return llvm::createStringError(path + ": " + what);
  }
  llvm::Expected<Text> load(const std::string &path, StringRef advice);
  llvm::Expected<OwningOpRef<ModuleOp>> parse(const std::string &path,
                                              StringRef text);
  llvm::Error readTopology();
  llvm::Error checkWorld(const std::string &path, size_t ranks);
  llvm::Expected<std::string> verifyStep(const std::string &path,
                                         ModuleOp module);
  llvm::Expected<std::string> verifyRanks(const std::string &path,
                                          ModuleOp module);
  llvm::Expected<Step> verifyStepOf(const std::string &folder,
                                    StringRef planFile, StringRef text,
                                    StringRef tables);
  llvm::Expected<std::string> verifyFolder(const std::string &folder);

  const VerifyOptions &options;
  std::string said;
  MLIRContext context;
  ScopedDiagnosticHandler diagnostics;
  std::optional<plan::Topology> topology;
};

} // namespace

llvm::Expected<Verification::Text> Verification::load(const std::string &path,
                                                      StringRef advice) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (buffer)
    return std::move(*buffer);
  return fault(path, "cannot be read: " + buffer.getError().message() + advice);
}

llvm::Expected<OwningOpRef<ModuleOp>>
Verification::parse(const std::string &path, StringRef text) {
  auto module = parseSourceString<ModuleOp>(text, &context, path);
  if (!module)
    return fault(path,
                 "expected a plan (--emit=plan or --emit=rank writes one), "
                 "found text that is none: " +
                     said);
  return module;
}

llvm::Error Verification::readTopology() {
  std::string error;
  topology = plan::Topology::load(options.devices, error);
  return topology ? llvm::Error::success() : llvm::createStringError(error);
}

llvm::Error Verification::checkWorld(const std::string &path, size_t ranks) {
  if (!topology || ranks == static_cast<size_t>(topology->numDevices()))
    return llvm::Error::success();
  return fault(path, "expected a plan for the " +
                         Twine(topology->numDevices()) + " devices of '" +
                         options.devices + "', found one for " + Twine(ranks));
}

/// "683 actions on 3 devices", with what is not known of them.
static std::string describe(size_t count, StringRef things, size_t devices,
                            bool areKnown) {
  return std::to_string(count) + " " + things.str() + " on " +
         std::to_string(devices) + (devices == 1 ? " device" : " devices") +
         (areKnown ? "" : " of any memory (--devices says of which)");
}

llvm::Expected<std::string> Verification::verifyStep(const std::string &path,
                                                     ModuleOp module) {
  if (!topology)
    return fault(path, "expected --devices=FILE with a step that has a "
                       "strategy, found none");
  FailureOr<WrittenPlan> plan = readStrategy(module, topology->numDevices());
  if (failed(plan))
    return fault(path, said);
  const plan::Graph &graph = plan->planned.graph;
  const plan::CostModel cost(*topology);
  const plan::Program program =
      plan::planProgram(topology->kindOf(0).target, graph, plan->strategy,
                        topology->numDevices(), cost, plan->schedule);
  if (auto error =
          plan::verifyProgram(graph, plan->strategy, program, *topology))
    return fault(path, *error);
  return describe(graph.ops.size(), "operators", program.devices.size(), true);
}

llvm::Expected<std::string> Verification::verifyRanks(const std::string &path,
                                                      ModuleOp module) {
  FailureOr<WrittenPlan> plan = readRanks(module);
  if (failed(plan))
    return fault(path, said);
  const plan::Program &program = plan->program;
  if (llvm::Error error = checkWorld(path, program.devices.size()))
    return error;
  const plan::Graph &graph = plan->planned.graph;
  if (auto error =
          topology
              ? plan::verifyProgram(graph, plan->strategy, program, *topology)
              : plan::verifyProgram(graph, plan->strategy, program))
    return fault(path, *error);
  size_t actions = 0;
  for (const plan::DeviceProgram &device : program.devices)
    actions += device.actions.size();
  return describe(actions, "actions", program.devices.size(),
                  topology.has_value());
}

llvm::Expected<Verification::Step>
Verification::verifyStepOf(const std::string &folder, StringRef planFile,
                           StringRef text, StringRef tables) {
  const StringRef advice = "; --emit=source writes such a folder";
  Step step;
  for (auto [name, file] : {std::pair(text, &step.text.text),
                            std::pair(tables, &step.text.tables)}) {
    auto contents = load(folder + "/" + name.str(), advice);
    if (!contents)
      return contents.takeError();
    *file = {name.str(), (*contents)->getBuffer().str()};
  }
  const std::string planPath = folder + "/" + planFile.str();
  auto plan = load(planPath, advice);
  if (!plan)
    return plan.takeError();
  auto module = parse(planPath, (*plan)->getBuffer());
  if (!module)
    return module.takeError();
  auto proved = verifyRanks(planPath, **module);
  if (!proved)
    return proved.takeError();
  step.proved = std::move(*proved);
  step.plan = std::move(*module);
  step.text.ranks = *step.plan;
  return step;
}

llvm::Expected<std::string>
Verification::verifyFolder(const std::string &folder) {
  auto train = verifyStepOf(folder, codegen::kPlanFile, codegen::kTrainFile,
                            codegen::kRanksFile);
  if (!train)
    return train.takeError();
  std::string proved = train->proved;
  std::vector<Step> steps;
  steps.push_back(std::move(*train));
  if (llvm::sys::fs::exists(folder + "/" + codegen::kEvaluationPlanFile)) {
    auto evaluation =
        verifyStepOf(folder, codegen::kEvaluationPlanFile,
                     codegen::kEvaluationFile, codegen::kEvaluationRanksFile);
    if (!evaluation)
      return evaluation.takeError();
    steps.push_back(std::move(*evaluation));
  }
  std::vector<codegen::StepText> texts;
  for (const Step &step : steps)
    texts.push_back(step.text);
  if (llvm::Error error = codegen::verifyProgram(texts))
    return fault(folder, toString(std::move(error)) +
                             (said.empty() ? "" : ": " + said));
  return proved + "; the program does what was planned" +
         (steps.size() > 1 ? ", and so does its evaluation" : "");
}

llvm::Expected<std::string> Verification::run() {
  if (!options.devices.empty())
    if (llvm::Error error = readTopology())
      return error;
  const std::string &path = options.arguments[0];
  if (llvm::sys::fs::is_directory(path))
    return verifyFolder(path);
  auto text = load(path, "");
  if (!text)
    return text.takeError();
  auto module = parse(path, (*text)->getBuffer());
  if (!module)
    return module.takeError();
  const auto classes = (*module)->getOps<rank::FuncOp>();
  return classes.empty() ? verifyStep(path, **module)
                         : verifyRanks(path, **module);
}

static const std::vector<FlagGroupOf<VerifyOptions>> &flagGroups() {
  static const std::vector<FlagGroupOf<VerifyOptions>> groups = {
      {"Input",
       {{"--devices", "FILE",
         "the devices: whether their memory suffices, and whether collectives "
         "that need shared memory have it; needed with --emit=plan's text",
         setText(&VerifyOptions::devices)}}},
      {"Output", {helpFlag<VerifyOptions>()}}};
  return groups;
}

static const char *const kIntro =
    "ffc verify: whether a plan is safe, and a program does what was "
    "planned\n\n"
    "  ffc verify FOLDER [--devices FILE]   sources, of --emit=source\n"
    "  ffc verify FILE [--devices FILE]     what --emit=rank wrote\n"
    "  ffc verify FILE --devices FILE       what --emit=plan wrote\n\n"
    "Proves that messages and collectives match and nothing waits for ever, "
    "that "
    "every kernel reads what it needs and all of it, and that buffers in use "
    "share no bytes. Of a folder it proves plan.rank, and the plan "
    "of its evaluation, evaluate.rank, reads train.cpp and "
    "ranks.inc, and compares what every rank does in a step with the plan: "
    "tasks "
    "and their order, operands, places, peers.\n";

static llvm::Error check(VerifyOptions &options) {
  return expectArguments(options, 1,
                         "a folder with the sources of a program, or a plan");
}

static int verify(const VerifyOptions &options) {
  llvm::Expected<std::string> proved = Verification(options).run();
  if (!proved) {
    printError(toString(proved.takeError()));
    return 1;
  }
  llvm::outs() << "verified: " << *proved << '\n';
  return 0;
}

int ffc::runVerifyCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<VerifyOptions>(
      {"ffc verify", kIntro, flagGroups(), check, verify}, arguments);
}
