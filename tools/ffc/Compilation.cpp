//===- Compilation.cpp - the phases of one run of ffc ---------------------===//

#include "Compilation.h"

#include "InternalError.h"
#include "Meta.h"
#include "ParameterTable.h"

#include "ffc/Codegen/SealWeights.h"
#include "ffc/IR/Hash.h"
#include "ffc/IR/MainFunction.h"
#include "ffc/IR/ModuleText.h"
#include "ffc/Import/Import.h"
#include "ffc/Passes/Pipelines.h"
#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Recomputation.h"
#include "ffc/Plan/ScheduledStep.h"
#include "ffc/Plan/StrategyFile.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>

using namespace mlir;
using namespace ffc;
using codegen::Pending;

/// "model.onnx:3: " or "node 'conv1': ".
static std::string str(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    std::string text = file.getFilename().str() + ":";
    if (file.getLine() > 0)
      text += std::to_string(file.getLine()) + ":";
    if (file.getColumn() > 0)
      text += std::to_string(file.getColumn()) + ":";
    return text + " ";
  }
  if (auto name = dyn_cast<NameLoc>(loc))
    return "node '" + name.getName().str() + "': ";
  return "";
}

/// Do operators find fault with themselves, or passes with what an operator is?
static bool isAboutOperator(StringRef text) {
  return text.consume_front("'") && text.split('\'').second.starts_with(" op ");
}

Compilation::Compilation(const Options &options)
    : options(options), report(options.quiet),
      // Passes are sequential; threads would only cost their start. Text is
      // not (ModuleText.h).
      context(MLIRContext::Threading::DISABLED),
      diagnostics(&context, [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        const std::string text =
            str(diagnostic.getLocation()) + diagnostic.str();
        // Once the model is imported, operators are of our making.
        printError(module && isAboutOperator(diagnostic.str())
                       ? internalError(text, this->options)
                       : text);
        return success();
      }) {
  if (options.emit == Emit::Source)
    folder = std::make_unique<Pending>(options.output);
  if (options.emit == Emit::Binary)
    weights = std::make_unique<Pending>(options.output + ".weights");
}

LogicalResult Compilation::fail(const Twine &text) {
  printError(text);
  return failure();
}

LogicalResult Compilation::check(llvm::Error error) {
  if (!error)
    return success();
  return fail(llvm::toString(std::move(error)));
}

LogicalResult Compilation::run() {
  // Better said now than after the work.
  StringRef parent = llvm::sys::path::parent_path(options.output);
  if (!parent.empty() && !llvm::sys::fs::is_directory(parent))
    return fail("cannot write '" + options.output + "': expected a folder '" +
                parent + "', found none");
  if (failed(runTo(std::min(options.emit, Emit::Plan))))
    return failure();
  if (options.emit < Emit::Plan)
    return writeModule(*module);
  if (options.emit == Emit::Plan) {
    if (failed(needsTasks() ? planProgram() : timePlan()))
      return failure();
    writePlan();
    return writeModule(*module);
  }
  if (failed(planProgram()) || failed(planEvaluation()) || failed(emit()))
    return failure();
  report.sayTimes();
  return success();
}

/// What is said about tasks needs them. So does what has another order, for
/// its exact bytes, if these are not millions.
bool Compilation::needsTasks() const {
  const bool hasOrder = schedule.isPipeline() || plan::doesAgain(strategy);
  return options.wantsTasks() ||
         (hasOrder && plan::numPoints(strategy) <= plan::kMostPlannedPoints);
}

LogicalResult Compilation::runTo(Emit level) {
  if (failed(import()) || failed(recognize()) || failed(rewrite(level)))
    return failure();
  if (level == Emit::FF)
    return success();
  if (failed(differentiate()))
    return failure();
  if (level == Emit::Train)
    return success();
  return success(succeeded(loadTopology()) && succeeded(chooseStrategy()) &&
                 succeeded(chooseSchedule()));
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

ImportOptions Compilation::importOptions() const {
  ImportOptions importing;
  importing.batchSize = options.batchSize;
  importing.dims = options.dims;
  importing.fixed = options.fixed;
  importing.training = options.training;
  importing.trainRules = options.trainRules;
  importing.ties = options.ties;
  importing.init = options.init;
  importing.dropout = options.dropout;
  importing.batchStatistics = options.batchStatistics;
  return importing;
}

LogicalResult Compilation::import() {
  report.phase("import");
  for (const std::string &meaning : options.meanings)
    report.say(meaning);
  ImportOptions importing = importOptions();
  if (!options.devices.empty() && failed(readTopology()))
    return failure();
  // Blocks of a layer are apart so that devices can share it.
  constexpr int64_t kTimeBlock = 10;
  importing.timeBlock = options.timeBlock;
  if (!importing.timeBlock && (!topology || topology->numDevices() > 1))
    importing.timeBlock = kTimeBlock;
  importing.sampleGroups =
      options.batchNormGroups.value_or(topology ? topology->numDevices() : 1);
  if (weights)
    importing.weightsPath = weights->path();
  if (folder) {
    if (std::error_code code =
            llvm::sys::fs::create_directories(folder->path()))
      return fail("cannot create folder '" + folder->path() +
                  "': " + code.message());
    importing.weightsPath = folder->path() + "/train.weights";
  }
  module = importModel(context, options.model, importing, &parameters);
  return success(static_cast<bool>(module));
}

size_t Compilation::numOperators() {
  func::FuncOp main = mainFunction(*module);
  return main ? llvm::range_size(
                    main.front().getOps<ff::PartitionableInterface>())
              : 0;
}

/// Verifies what comes out. What passes make for each other is verified in
/// their tests: each time takes as long as a pass.
static LogicalResult run(PassManager &passes, ModuleOp graph) {
  if (passes.empty())
    return success();
  passes.enableVerifier(false);
  return success(succeeded(passes.run(graph)) && succeeded(verify(graph)));
}

LogicalResult Compilation::recognize() {
  size_t before = numOperators();
  PassManager passes(&context);
  addRecognition(passes);
  if (failed(::run(passes, *module)))
    return failure();
  if (size_t after = numOperators(); after != before)
    report.say("recognition of patterns left " + Twine(after) + " of " +
               Twine(before) + " operators");
  return success();
}

LogicalResult Compilation::makeStep(ModuleOp graph) {
  PassManager passes(&context);
  if (options.training) {
    DifferentiateOptions differentiating;
    differentiating.microBatches = options.microBatches;
    differentiating.loss = options.loss;
    if (options.classAxis)
      differentiating.classAxis = *options.classAxis;
    differentiating.labelSmoothing = options.labelSmoothing;
    differentiating.optimizer = options.optimizer.str();
    differentiating.clipNorm = options.clipNorm;
    differentiating.ema = options.ema;
    const LossScale scale = options.lossScale.value_or(
        options.precision == Precision::FP16 ? LossScale::dynamic()
                                             : LossScale::none());
    differentiating.lossScale = scale.first;
    differentiating.fixedLossScale = !scale.isDynamic;
    differentiating.rowUpdates = options.sparseTables.value_or(
        options.optimizer.updatesRows() && options.weightDecay == 0 &&
        options.clipNorm == 0 && options.clipValue == 0 && options.ema == 0 &&
        options.microBatches == 1);
    addTraining(passes, differentiating);
  }
  return success(succeeded(::run(passes, graph)) && succeeded(round(graph)));
}

LogicalResult Compilation::round(ModuleOp graph) {
  PassManager passes(&context);
  if (options.precision != Precision::F32)
    addRounding(passes, options.precision == Precision::FP16
                            ? "f16"
                            : wordOf(options.precision));
  return ::run(passes, graph);
}

LogicalResult Compilation::differentiate() {
  report.phase("differentiate");
  if (options.training && options.evaluation && options.emit >= Emit::Source) {
    evaluation = std::make_unique<PlannedEvaluation>();
    evaluation->module = module->clone();
  }
  if (failed(makeStep(*module)))
    return failure();
  reportModel();
  return success();
}

LogicalResult Compilation::fuseOperators(ModuleOp graph) {
  PassManager passes(&context);
  if (options.fuse.value_or(!keepsLayersApart()))
    addFusion(passes);
  else if (!options.fuse)
    addActivationFusion(passes);
  return ::run(passes, graph);
}

LogicalResult Compilation::fuse() {
  const size_t before = numOperators();
  if (failed(fuseOperators(*module)))
    return failure();
  if (const size_t after = numOperators(); after != before)
    report.say("fusion left " + Twine(after) + " of " + Twine(before) +
               " operators");
  return success();
}

LogicalResult Compilation::buildGraph() {
  if (!planned.ops.empty())
    return fail(internalError("expected one graph of a compilation, found two",
                              options));
  FailureOr<PlannedModule> result = buildPlanGraph(*module);
  if (failed(result))
    return failure();
  planned = std::move(*result);
  return success();
}

/// In the order in which the model has them.
static std::vector<std::string>
updatedParameters(const PlannedModule &planned) {
  llvm::DenseSet<Value> updated;
  for (Operation *op : planned.ops)
    if (isa<ff::UpdateOp, ff::UpdateRowsOp>(op))
      updated.insert(op->getOperand(0)); // a parameter, or its running mean
  std::vector<std::string> names;
  for (ff::StateOp state : mainFunction(planned.module).getOps<ff::StateOp>())
    if (updated.contains(state) && state.getKind() == "parameter")
      names.push_back(state.getName().str());
  return names;
}

void Compilation::writePlan() {
  writeConfigurations(planned, {strategy.begin(), strategy.end()});
  writeSchedule(planned, schedule);
}

LogicalResult Compilation::emit() {
  report.phase("emit");
  OwningOpRef<ModuleOp> ranks = lowerToRank(planned, program);
  if (!ranks)
    return failure();
  if (options.emit != Emit::Binary) {
    writePlan();
    addStep(*ranks, planned);
  }
  if (options.emit == Emit::Rank)
    return writeModule(*ranks);

  codegen::ProgramMeta meta = describeProgram(options, planned.graph, strategy);
  auto hashText = [](StringRef text) {
    return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(text)).str();
  };
  if (auto model =
          llvm::MemoryBuffer::getFile(options.model, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false))
    meta.modelHash = hashText((*model)->getBuffer());
  auto weightsHash = codegen::sealWeights(
      weights ? weights->path() : folder->path() + "/train.weights");
  if (!weightsHash)
    return check(weightsHash.takeError());
  meta.weightsHash = *weightsHash;
  meta.topologyHash = topology->hash();
  meta.strategyHash = hashText(strategyText);
  meta.predictedStepSeconds = stepSeconds;
  meta.trained = describeSums(parameters);
  meta.updated = updatedParameters(planned);
  meta.strategy =
      describeStrategy(originOfStrategy(), planned.graph, strategy, schedule);
  describeRanks(meta, options, *topology, busySeconds);
  meta.linkProbes =
      plan::linkProbes(costModel(planned.graph), topology->numDevices());
  describeStrategyFiles(meta);
  std::optional<codegen::EvaluationStep> evaluated;
  if (evaluation)
    evaluated = describeEvaluation(meta);
  auto files =
      codegen::emitProgram(*ranks, meta, evaluated ? &*evaluated : nullptr);
  if (failed(files))
    return failure();
  // For `ffc verify`.
  if (options.emit == Emit::Source) {
    files->push_back({codegen::kPlanFile, moduleText(*ranks)});
    if (evaluation)
      files->push_back(
          {codegen::kEvaluationPlanFile, moduleText(*evaluation->ranks)});
  }
  return writeProgram(*files, meta);
}

std::string Compilation::originOfStrategy() const {
  return options.isFile() ? llvm::sys::path::filename(options.strategy).str()
                          : options.strategy;
}

void Compilation::describeStrategyFiles(codegen::ProgramMeta &meta) const {
  SmallVector<StringRef> lines;
  StringRef(strategyText).split(lines, '\n', -1, /*KeepEmpty=*/false);
  meta.strategyLines.assign(lines.begin(), lines.end());
  for (const std::string &text :
       {options.isFile() ? options.strategy : "", options.exportStrategy}) {
    if (text.empty() || text == "-")
      continue;
    if (auto file = llvm::MemoryBuffer::getFile(text))
      meta.strategyFiles.push_back(ff::hashName((*file)->getBuffer()));
  }
}

LogicalResult
Compilation::writeProgram(const std::vector<codegen::SourceFile> &files,
                          const codegen::ProgramMeta &meta) {
  const codegen::RuntimeKind kind{target, meta.inF64, cudaArch()};
  if (options.emit == Emit::Source) {
    if (failed(check(codegen::fillSourceFolder(folder->path(), files, meta,
                                               kind, options.runtime))))
      return failure();
    return check(folder->commit());
  }
  auto phase = [&](StringRef name) { report.phase(name); };
  if (failed(
          check(codegen::buildExecutable(options.output, files, kind, phase))))
    return failure();
  return weights->exists() ? check(weights->commit()) : success();
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

LogicalResult Compilation::writeText(StringRef text) {
  if (!options.output.empty() && options.output != "-")
    return check(codegen::writeFile(options.output, text));
  llvm::outs() << text;
  return success();
}

LogicalResult Compilation::writeModule(ModuleOp op) {
  if (failed(writeText(moduleText(op))))
    return failure();
  report.sayTimes();
  return success();
}

void Compilation::reportModel() {
  size_t forward = 0;
  for (auto op :
       mainFunction(*module).front().getOps<ff::PartitionableInterface>())
    forward += !op->hasAttr(ff::kRoleAttr);
  report.say(options.model + ": " + Twine(forward) + " operators, " +
             Twine(numOperators()) + " in the step; " +
             describeSums(parameters));
  if (std::string missing = describeMissing(parameters);
      !missing.empty() && options.training)
    report.say(missing);
  if (const std::string caution = options.optimizer.caution();
      !caution.empty() && options.training)
    report.say(caution);
}
