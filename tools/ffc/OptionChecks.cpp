//===- OptionChecks.cpp - which flags of ffc go together ------------------===//
//
// What one flag alone cannot say: flags that need or exclude each other.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "ffc/Codegen/Build.h"
#include "ffc/Codegen/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace ffc;
using codegen::makeError;

/// Brings the flags of SGD into its numbers.
static Error checkOptimizer(Options &options) {
  ff::Optimizer &optimizer = options.optimizer;
  StringRef name = ff::stringifyOptimizerKind(optimizer.kind);
  const bool isSgd = optimizer.kind == ff::OptimizerKind::Sgd;
  for (auto [flag, isGiven] :
       {std::pair("--momentum", options.momentum.has_value()),
        std::pair("--nesterov", options.nesterov)})
    if (isGiven && !isSgd)
      return expected(flag, "--optimizer=sgd", name);
  if (options.momentum)
    optimizer.number("momentum") = *options.momentum;
  if (options.nesterov)
    optimizer.number("nesterov") = 1;
  if (optimizer.hasNarrowSlots && optimizer.slots().empty())
    return expected("--optimizer: slots=bf16",
                    "an optimizer that keeps something of a parameter",
                    optimizer.str());
  if (optimizer.hasNarrowSlots && options.precision == Precision::F64)
    return expected("--optimizer: slots=bf16", "another --precision", "f64");
  if (!options.sparseTables.value_or(false))
    return Error::success();
  if (optimizer.hasNarrowSlots)
    return expected("--table-gradients=sparse", "slots of f32", "slots=bf16");
  if (!optimizer.info().rowKernel)
    return expected("--table-gradients=sparse",
                    "--optimizer=" + ff::namesOfRowOptimizers(), name);
  if (options.microBatches > 1)
    return expected("--table-gradients=sparse", "--accumulate=1",
                    std::to_string(options.microBatches));
  for (auto [flag, value] :
       {std::pair("--momentum", isSgd ? optimizer.number("momentum") : 0),
        std::pair("--wd", options.weightDecay),
        std::pair("--clip-norm", options.clipNorm),
        std::pair("--clip-value", options.clipValue),
        std::pair("--ema", options.ema)})
    if (value != 0)
      return makeError(
          "--table-gradients=sparse: expected " + Twine(flag) +
          " 0, which leaves the rows alone that were not looked up, found " +
          formatv("{0}", format("%g", value)));
  return Error::success();
}

static Error checkLoss(const Options &options) {
  if (options.lossScale && !options.training)
    return expected("--loss-scale", "--mode=train", "infer");
  if (options.ema > 0 && !options.training)
    return expected("--ema", "--mode=train", "infer");
  if (options.classAxis && options.loss != "cross-entropy")
    return expected("--class-axis", "--loss=cross-entropy", options.loss);
  if (options.labelSmoothing > 0 && options.loss != "cross-entropy")
    return expected("--label-smoothing", "--loss=cross-entropy", options.loss);
  if (options.labelSmoothing > 0 && !options.training)
    return expected("--label-smoothing", "--mode=train", "infer");
  return Error::success();
}

/// FlexFlow's simulator times a training step on one batch in f32, and its
/// search has moves of its own.
static Error checkSimulator(const Options &options) {
  if (!options.isByFlexFlow())
    return Error::success();
  if (options.emit < Emit::Plan)
    return makeError("--simulator=flexflow: expected --emit=plan or later, "
                     "where there is a strategy, found --emit=" +
                     Twine(options.emit == Emit::FF ? "ff" : "train"));
  const search::Options standard;
  for (auto [flag, isGiven] :
       {std::pair("--mode=infer", !options.training),
        std::pair("--precision", options.precision != Precision::F32),
        std::pair("--accumulate", options.microBatches > 1),
        std::pair("--pin", !options.pins.empty()),
        std::pair("--start", !options.start.empty()),
        std::pair("--search-alpha", options.search.alpha.has_value()),
        std::pair("--chains", options.search.chains != standard.chains),
        std::pair("--search-schedules", !options.searchesSchedules),
        std::pair("--search-recompute", !options.searchesRecomputation)})
    if (isGiven)
      return expected(flag, "--simulator=ffc", "flexflow");
  return Error::success();
}

/// What is written for FlexFlow is of the model's own operators.
static Error checkRewrites(const Options &options) {
  if (!options.rewrites || options.rewrites->empty())
    return Error::success();
  if (!options.exportStrategy.empty())
    return expected("--export-strategy", "--rewrites=auto or none",
                    join(*options.rewrites, ","));
  if (options.isByFlexFlow())
    return expected("--simulator=flexflow", "--rewrites=auto or none",
                    join(*options.rewrites, ","));
  return Error::success();
}

/// Programs that are built have the runtime that was built with ffc.
static Error checkRuntime(Options &options) {
  if (options.runtime.empty())
    return Error::success();
  if (options.emit != Emit::Source)
    return makeError(
        "--runtime: expected --emit=source, which writes a program "
        "that is to be built, found another");
  Expected<std::string> path = codegen::findRuntime(options.runtime);
  if (!path)
    return makeError("--runtime: " + toString(path.takeError()));
  options.runtime = *path;
  return Error::success();
}

Error ffc::checkModelCommand(Options &options, size_t count,
                             const Twine &what) {
  if (Error error = expectArguments(options, count, what))
    return error;
  options.model = options.arguments.back();
  if (Error error = resolveFlexNetFlags(options))
    return error;
  if (options.devices.empty() && options.emit >= Emit::Plan)
    return makeError("expected --devices FILE, found none; for instance "
                     "--devices cpu:4, four processes on this machine (ffc "
                     "topology --help lists the presets)");
  for (auto [flag, path] :
       {std::pair("--report", &options.report),
        std::pair("--trace", &options.trace),
        std::pair("--task-graph", &options.taskGraph),
        std::pair("--chakra", &options.chakra),
        std::pair("--server-tasks", &options.serverTasks),
        std::pair("--export-measures", &options.exportMeasures)})
    if (!path->empty() && options.emit < Emit::Plan)
      return makeError(Twine(flag) +
                       ": expected --emit=plan or later, whose "
                       "tasks are timed, found --emit=" +
                       (options.emit == Emit::FF ? "ff" : "train"));
  for (auto [flag, isGiven] :
       {std::pair("--server-bandwidth", options.serverInside.bandwidth > 0),
        std::pair("--server-sums", options.serverInside.asFlexNet)})
    if (isGiven && options.serverTasks.empty())
      return expected(flag, "--server-tasks FILE", "none");
  if (!options.batchNormGroups && options.devices.empty())
    return makeError("--batch-norm=local: expected --devices FILE or a number "
                     "of groups (local:GROUPS), found neither");
  for (auto [flag, isGiven] : {std::pair("--pin", !options.pins.empty()),
                               std::pair("--start", !options.start.empty())})
    if (isGiven && !options.searches())
      return expected(flag, "--strategy=search", options.strategy);
  if (options.microBatches > 1 && !options.training)
    return expected("--accumulate", "--mode=train", "infer");
  if (Error error = checkSimulator(options))
    return error;
  if (Error error = checkRewrites(options))
    return error;
  if (Error error = checkLoss(options))
    return error;
  if (Error error = checkOptimizer(options))
    return error;
  if (Error error = checkRuntime(options))
    return error;
  if (options.output.empty() && options.emit >= Emit::Source)
    return makeError(options.emit == Emit::Source
                         ? "--emit=source: expected -o FOLDER, found none"
                         : "expected -o FILE, found none");
  return Error::success();
}
