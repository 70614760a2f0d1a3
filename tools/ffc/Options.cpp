//===- Options.cpp - the command line of ffc ------------------------------===//

#include "Options.h"

#include "OptionValues.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Passes/Rewrites.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>

using namespace llvm;
using namespace ffc;
using codegen::makeError;

const char *ffc::wordOf(Precision precision) {
  switch (precision) {
  case Precision::F32:
    return "f32";
  case Precision::F64:
    return "f64";
  case Precision::TF32:
    return "tf32";
  case Precision::BF16:
    return "bf16";
  case Precision::FP16:
    return "fp16";
  }
  llvm_unreachable("all are listed");
}

static std::pair<StringRef, Precision> named(Precision precision) {
  return {wordOf(precision), precision};
}

static auto &learningRate(Options &options) {
  return options.learningRate.emplace(0);
}
static auto &momentum(Options &options) { return options.momentum.emplace(0); }

static auto &serverBandwidth(Options &options) {
  return options.serverInside.bandwidth;
}
static auto &asFlexNet(Options &options) {
  return options.serverInside.asFlexNet;
}

static bool isPositive(double value) { return value > 0; }
static bool isNotNegative(double value) { return value >= 0; }
static constexpr const char *kNotNegative = "a number of at least 0";
static bool isShare(double value) { return value >= 0 && value <= 1; }
static constexpr const char *kShare = "a number from 0 to 1";
static bool isFraction(double value) { return value >= 0 && value < 1; }
static constexpr const char *kFraction = "a number from 0 to below 1";
static const std::vector<std::pair<StringRef, bool>> kAllOrNone = {
    {"all", true}, {"none", false}};

static auto &searchBudget(Options &options) { return options.search.budget; }
static auto &searchSeed(Options &options) { return options.search.seed; }
static auto &searchChains(Options &options) { return options.search.chains; }
static auto &searchSeconds(Options &options) { return options.search.seconds; }
static auto &searchAlpha(Options &options) {
  return options.search.alpha.emplace(0);
}

// What is compiled concerns every command; which strategy is taken, all that
// take one.
static constexpr CommandSet kStrategy = kCompile | kExplain;

const std::vector<FlagGroupOf<Options>> &ffc::modelFlags() {
  static const std::string optimizers =
      "one of these (default: the first); numbers may be left out: " +
      ff::describeOptimizers();
  static const std::string rewrites =
      "rewrite the model's graph by these rules: auto (default: those that a "
      "search finds worth it, and those that a strategy file names), none, or "
      "names with commas; " +
      describeRewrites();
  static const std::string collectives =
      "by whom collectives are done: own, by messages of the program; library, "
      "by NCCL or MPI; auto (default): own where that is faster among CPUs of "
      "several nodes and in networks without a switch; switches: as auto, and "
      "NCCL lets switches add up (NVLink SHARP), which is faster, but in any "
      "order; or own by one algorithm: " +
      join(plan::scheduleAlgorithms(), ", ");
  static const std::vector<FlagGroupOf<Options>> groups = {
      {"Input",
       {{"--devices", "FILE",
         "device topology, a file or a preset such as cpu:4 (ffc topology "
         "--help lists them); needed from --emit=plan on",
         setText(&Options::devices)},
        {"--profile", "FILE",
         "times measured by a program of ffc profile, instead of the "
         "topology's figures",
         setText(&Options::profile)},
        {"--strategies", "N",
         "measure the kernels of at most so many strategies (24)",
         setWhole(&Options::profiledStrategies, 1), kProfile},
        {"--strategy", "FILE",
         "strategy file, search (default), data-parallel, random:SEED, "
         "random-pipeline:SEED or random-recompute:SEED",
         parseStrategy, kStrategy},
        {"--schedule", "HOW",
         "order of micro-batches, if the strategy has some (splits samples "
         "into more blocks than devices work on them): the fastest of these "
         "(auto, default); none, operator after operator; or a pipeline: "
         "gpipe, 1f1b, or 1f1b:AHEAD, in which a stage is so many forward "
         "passes ahead of the next one (1); zb-h1, zb-h2 or zb:AHEAD, in which "
         "gradients of weights fill the time in which stages would wait",
         parseSchedule, kCompile},
        {"--simulator", "WHOSE",
         "whose times a search compares strategies by, and are said of what is "
         "given: ffc (default), or flexflow, of FlexFlow's standalone "
         "simulator of 2018, for models and strategies that it knows",
         setChoice<Options::Simulator>(
             &Options::simulator, {{"ffc", Options::Simulator::FFC},
                                   {"flexflow", Options::Simulator::FlexFlow}}),
         kCompile},
        {"--batch-size", "N", "batch, whatever the model was exported with",
         setWhole(&Options::batchSize, 1)},
        {"--dim", "NAME=N",
         "extent of a symbolic dimension, or INPUT:AXIS=N of one by its place; "
         "may be repeated",
         parseDim},
        {"--fix", "INPUT=N",
         "makes an input a constant, filled with a number, on which "
         "conditions and shapes fold; may be repeated",
         parseFixed},
        {"--time-block", "N",
         "time steps of a recurrent layer that are one operator (10; all if "
         "there is one device); unusual layers have operators for each step",
         parseTimeBlock}}},
      {"Training",
       {{"--mode", "MODE", "train (default) or infer",
         setChoice<bool>(&Options::training,
                         {{"train", true}, {"infer", false}})},
        {"--loss", "LOSS", "cross-entropy (default), mse, bce or none",
         setWord(&Options::loss, {"cross-entropy", "mse", "bce", "none"})},
        {"--class-axis", "N",
         "dimension of the classes in cross-entropy, from the end if negative "
         "(default: that of the softmax, else 2 of rank 3 and 1 otherwise)",
         setWhole(&Options::classAxis, -plan::kMaxRank)},
        {"--label-smoothing", "X",
         "the share of every target of cross-entropy that stands for all "
         "classes "
         "in equal parts, from 0 (default) to 1",
         setNumber(&Options::labelSmoothing, isShare, kShare)},
        {"--optimizer", "NAME", optimizers, parseOptimizer},
        {"--momentum", "X", "momentum of SGD; 0 for none",
         setNumber(momentum, isFraction, kFraction)},
        {"--nesterov", "", "Nesterov momentum of SGD",
         setTrue(&Options::nesterov)},
        {"--clip-norm", "X",
         "multiply gradients so that the norm of all of them is at most X; 0 "
         "(default) for any",
         setNumber(&Options::clipNorm, isNotNegative, kNotNegative)},
        {"--ema", "D",
         "keep a running mean of every parameter, D times itself and 1 - D "
         "times "
         "the parameter after every step; 0 (default): none",
         setNumber(&Options::ema, isFraction, kFraction),
         kEveryCommand & ~kExport},
        {"--accumulate", "N",
         "a step goes over N batches and updates with the mean of their "
         "gradients (1)",
         setWhole(&Options::microBatches, 1, kMostCount)},
        {"--lr", "X",
         "default learning rate of the program (the optimizer's, see there)",
         setNumber(learningRate, isNotNegative, kNotNegative)},
        {"--wd", "X", "default weight decay of the program (0)",
         setNumber(&Options::weightDecay, isNotNegative, kNotNegative)},
        {"--clip-value", "X",
         "default of the program: elements of gradients, clipped by "
         "--clip-norm "
         "already, are at least -X and at most X; 0 (default) for any",
         setNumber(&Options::clipValue, isNotNegative, kNotNegative)},
        {"--table-gradients", "HOW",
         "sparse: only the rows that were looked up are updated, which needs "
         "SGD with --momentum 0 or Adagrad, no decay, clipping or accumulation "
         "(default if so); or dense",
         setChoice<bool>(&Options::sparseTables,
                         {{"sparse", true}, {"dense", false}})},
        {"--precision", "TYPE",
         "of the operands of products: f32 (default), tf32 or fp16 (on GPUs), "
         "or bf16; with fp16 and bf16 also of values between products; kernels "
         "compute in f32, parameters and their gradients stay f32 (on GPUs "
         "gradients of convolutions' weights are rounded once); f64, on CPUs: "
         "everything is, to check other programs, slowly",
         setChoice<Precision>(&Options::precision,
                              {named(Precision::F32), named(Precision::F64),
                               named(Precision::TF32), named(Precision::BF16),
                               named(Precision::FP16)})},
        {"--loss-scale", "S",
         "gradients are those of S times the loss, a power of two, until "
         "updates divide by S, and a step is skipped if one is not finite; "
         "dynamic (default with fp16): 65536, halved by such a step, doubled "
         "by 2000 others in a row; none (default else)",
         parseLossScale},
        {"--train", "PATTERN",
         "train values of names like this (*, ?, [a-z]), whatever the file "
         "says; may be repeated, the last of --train and --freeze that matches "
         "a name counts (ffc parameters lists what is trained)",
         parseTrain},
        {"--freeze", "PATTERN", "do not train values of names like this",
         parseFreeze},
        {"--untie", "", "weights of equal contents are parameters of their own",
         [](Options &options, StringRef, StringRef) -> Error {
           options.ties = false;
           return Error::success();
         }},
        {"--init", "HOW",
         "weights without values: glorot-uniform (default), he-normal, "
         "he-uniform, lecun-normal, normal:STD, uniform:BOUND or zeros",
         setText(&Options::init)},
        {"--dropout", "RATIO", "ratio of every dropout, or off", parseDropout},
        {"--bn", "HOW",
         "batch normalisation by statistics of the batch (train), by running "
         "ones (infer) or as the model says (exported, default)",
         setChoice<std::optional<bool>>(
             &Options::batchStatistics,
             {{"exported", std::nullopt}, {"train", true}, {"infer", false}})},
        {"--batch-norm", "HOW",
         "statistics of the batch over all of it (global, default), or local: "
         "over each of as many equal groups of samples as there are devices; "
         "local:GROUPS",
         parseBatchNormGroups}}},
      {"Search",
       {{"--search-budget", "N",
         "proposals (at most 480000 over the number of devices up to 42 of "
         "them, then fewer, 12 at the least; up to four times as many for "
         "fewer than 1000 operators; none that are not worth the wait); 0 "
         "compares recipes only",
         setWhole(searchBudget, 0), kStrategy},
        {"--search-time", "SECONDS",
         "the whole search stops after this time, once it has two recipes, one "
         "of which fits; the answer then depends on the machine",
         setNumber(searchSeconds, isNotNegative, kNotNegative), kStrategy},
        {"--search-schedules", "HOW",
         "all (default): pipelines of micro-batches are tried, too; or none",
         setChoice<bool>(&Options::searchesSchedules, kAllOrNone), kStrategy},
        {"--search-recompute", "HOW",
         "all (default): what does not fit is tried with results that are "
         "computed, and parameters that are sent, again in the backward pass; "
         "or none",
         setChoice<bool>(&Options::searchesRecomputation, kAllOrNone),
         kStrategy},
        {"--search-alpha", "X",
         "a strategy slower by 1 % is accepted with probability exp(-X) (a "
         "sixteenth of the number of operators that are searched for, at least "
         "2)",
         setNumber(searchAlpha, isPositive, "a number over 0"), kStrategy},
        {"--seed", "N", "of random numbers (0)", setWhole(searchSeed, 0)},
        {"--chains", "N", "independent chains of proposals (4)",
         setWhole(searchChains, 1, kMostCount), kStrategy},
        {"--memory-limit", "SIZE",
         "memory of every device, whatever the topology says (8 GB, 512 MiB)",
         setBytes(&Options::memoryLimit), kStrategy},
        {"--start", "FILE", "strategy to start from besides the recipes",
         setText(&Options::start), kStrategy},
        {"--pin", "LINE",
         "line of a strategy file that the search keeps; may be repeated",
         addText(&Options::pins), kStrategy}}},
      {"Output",
       {{"-o", "PATH", "output; a folder for --emit=source", parseOutput,
         kCompile | kProfile | kExport},
        {"--weights", "PATH",
         "a checkpoint, the folder of a run's, or a safetensors file",
         setText(&Options::weights), kExport},
        {"--ema", "",
         "running means of parameters, where the checkpoint has some (of a "
         "program by --ema=D)",
         setTrue(&Options::exportsAverages), kExport},
        {"--emit", "WHAT",
         "ff, train, plan, rank, source or binary (default); text without -o, "
         "or with -o -, goes to standard output",
         setChoice<Emit>(&Options::emit, {{"ff", Emit::FF},
                                          {"train", Emit::Train},
                                          {"plan", Emit::Plan},
                                          {"rank", Emit::Rank},
                                          {"source", Emit::Source},
                                          {"binary", Emit::Binary}}),
         kCompile},
        {"--emit", "WHAT", "source, or binary (default)",
         setChoice<Emit>(&Options::emit,
                         {{"source", Emit::Source}, {"binary", Emit::Binary}}),
         kProfile},
        {"--target", "TARGET", "cpu or cuda (default: the devices' kind)",
         setWord(&Options::target, {"cpu", "cuda"}), kCompile | kProfile},
        {"--cuda-arch", "ARCH",
         "the GPUs that kernels are compiled for: sm_80, sm_90 or sm_100 "
         "(default: those of the devices' generation, else sm_90)",
         setWord(&Options::cudaArch, {"sm_80", "sm_90", "sm_100"}),
         kCompile | kProfile},
        {"--runtime", "FOLDER",
         "with --emit=source: a runtime that is there, which several programs "
         "share, instead of one of its own",
         setText(&Options::runtime), kCompile | kProfile},
        {"--fuse", "HOW",
         "element-wise operators with what they follow: on (default; "
         "with measurements of FlexNet activations only) or off",
         setChoice<bool>(&Options::fuse, {{"on", true}, {"off", false}})},
        {"--evaluation", "HOW",
         "for the program's --validate: on (default) or off",
         setChoice<bool>(&Options::evaluation, {{"on", true}, {"off", false}}),
         kCompile},
        {"--collectives", "HOW", collectives, parseCollectives, kStrategy},
        {"--rewrites", "RULES", rewrites, parseRewrites, kStrategy | kProfile},
        {"--print-strategy", "FILE",
         "write the complete strategy, - for standard output",
         setText(&Options::printStrategy), kStrategy},
        {"--print-topology", "FILE",
         "write the network found with --topology=topoopt as a topology file, "
         "- for standard output",
         setText(&Options::printTopology), kCompile},
        {"--export-strategy", "FILE",
         "write the strategy for FlexFlow, - for standard output; a search "
         "keeps to what FlexFlow can say",
         setText(&Options::exportStrategy), kStrategy},
        {"--export-format", "FORM",
         "of --export-strategy: text (default), which FlexFlow reads, or "
         "printed",
         setWord(&Options::exportFormat, {"text", "printed"}), kStrategy},
        {"--report", "FILE",
         "where the time of a step goes, by device and by operator; - for "
         "standard output",
         setText(&Options::report), kCompile},
        {"--trace", "FILE", "predicted times of all tasks, for ui.perfetto.dev",
         setText(&Options::trace), kCompile},
        {"--task-graph", "FILE", "all tasks and what they wait for, for dot",
         setText(&Options::taskGraph), kCompile},
        {"--chakra", "PREFIX",
         "all tasks and what they wait for, for ASTRA-sim and other readers of "
         "MLCommons Chakra: PREFIX.RANK.et and PREFIX.groups.json",
         setText(&Options::chakra), kCompile},
        {"--server-tasks", "FILE",
         "what servers compute and send each other, as FlexNet's task graph; "
         "by its layers if --profile has measurements of FlexNet",
         setText(&Options::serverTasks), kCompile},
        {"--export-measures", "FILE",
         "what the layers take in 1, 2, 4, ... parts, for FlexNet",
         setText(&Options::exportMeasures), kCompile},
        {"--server-bandwidth", "RATE",
         "of a device to others of its server, in --server-tasks, such as "
         "200 Gbit/s (the topology's)",
         setQuantity(serverBandwidth, plan::QuantityKind::BytesPerSecond, 1),
         kCompile},
        {"--server-sums", "HOW",
         "time of an all-reduce inside of a server of k devices in "
         "--server-tasks: ring (default), or flexnet, too little by k - 1 as "
         "in FlexNet's files",
         setChoice<bool>(asFlexNet, {{"ring", false}, {"flexnet", true}}),
         kCompile},
        {"--shared-links", "",
         "in the final report and these files, all that communicates at once "
         "shares links",
         setTrue(&Options::sharedLinks), kCompile},
        {"--quiet", "", "no report on standard error",
         setTrue(&Options::quiet)},
        {"--verbose", "",
         "the progress of a search every ten seconds, where standard error is "
         "no terminal, which shows it anyway; what became of its moves",
         setTrue(&Options::verbose), kStrategy},
        helpFlag<Options>(),
        {"--list-operators", "", "the operators of ONNX that models may have",
         setTrue(&Options::listOperators), kCompile},
        {"--version", "", "version of ffc", setTrue(&Options::version),
         kCompile}}},
      {"FlexFlow's names of flags",
       {{"--import-strategy", "FILE", "--strategy", parseStrategy, kStrategy},
        {"--import", "FILE", "--strategy", parseStrategy, kStrategy},
        {"-s", "FILE", "--strategy", parseStrategy, kStrategy},
        {"--budget", "N", "--search-budget", setWhole(searchBudget, 0),
         kStrategy},
        {"--alpha", "X", "--search-alpha",
         setNumber(searchAlpha, isPositive, "a number over 0"), kStrategy}}},
      flexNetFlags()};
  return groups;
}
