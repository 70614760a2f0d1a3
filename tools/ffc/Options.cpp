//===- Options.cpp - the command line of ffc ------------------------------===//

#include "Options.h"

#include "Commands.h"
#include "Flags.h"

#include "ffc/Codegen/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;
using namespace ffc;
using codegen::makeError;

namespace {

using Flag = FlagOf<Options>;
using FlagGroup = FlagGroupOf<Options>;

} // namespace

/// A flag whose value is taken as it is.
template <std::string Options::*Member>
static Error setText(Options &options, StringRef, StringRef value) {
  options.*Member = value.str();
  return Error::success();
}

/// A flag without a value.
template <bool Options::*Member>
static Error setTrue(Options &options, StringRef, StringRef) {
  options.*Member = true;
  return Error::success();
}

static Error parseNumber(StringRef flag, StringRef text, bool accept(double),
                         const char *what, double &result) {
  double value;
  if (text.getAsDouble(value) || !std::isfinite(value) || !accept(value))
    return expected(flag, what, text);
  result = value;
  return Error::success();
}

static Error parseWhole(StringRef flag, StringRef text, int64_t least,
                        int64_t &result) {
  if (text.getAsInteger(10, result) || result < least)
    return expected(flag, "a whole number of at least " + Twine(least), text);
  return Error::success();
}

static Error parseCount(StringRef flag, StringRef text, int64_t &result) {
  return parseWhole(flag, text, 1, result);
}

/// `text` must be one of `words`.
static Error parseWord(StringRef flag, StringRef text,
                       ArrayRef<StringRef> words, std::string &result) {
  if (!is_contained(words, text))
    return expected(flag,
                    join(words.drop_back(), ", ") + " or " + words.back().str(),
                    text);
  result = text.str();
  return Error::success();
}

static Error parseEmit(Options &options, StringRef flag, StringRef value) {
  static const StringRef words[] = {"ff",   "train",  "plan",
                                    "rank", "source", "binary"};
  std::string word;
  if (Error error = parseWord(flag, value, words, word))
    return error;
  options.emit = static_cast<Emit>(find(words, word) - std::begin(words));
  return Error::success();
}

static Error parseDim(Options &options, StringRef flag, StringRef value) {
  auto [name, extent] = value.split('=');
  if (name.empty() || !value.contains('='))
    return expected(flag, "NAME=VALUE", value);
  return parseCount(flag, extent, options.dims[name.str()]);
}

static Error parseDropout(Options &options, StringRef flag, StringRef value) {
  if (value == "off") {
    options.dropout = 0;
    return Error::success();
  }
  double ratio = 0;
  if (Error error = parseNumber(
          flag, value, [](double v) { return v >= 0 && v < 1; },
          "a ratio from 0 to below 1 or 'off'", ratio))
    return error;
  options.dropout = ratio;
  return Error::success();
}

static Error parseBatchNorm(Options &options, StringRef flag, StringRef value) {
  static const StringRef words[] = {"exported", "train", "infer"};
  std::string word;
  if (Error error = parseWord(flag, value, words, word))
    return error;
  options.batchStatistics.reset();
  if (word != "exported")
    options.batchStatistics = word == "train";
  return Error::success();
}

static Error parseBatchNormGroups(Options &options, StringRef flag,
                                  StringRef value) {
  StringRef groups = value;
  if (groups.consume_front("local:"))
    return parseCount(flag, groups, options.batchNormGroups.emplace(1));
  options.batchNormGroups.reset();
  if (value == "global")
    options.batchNormGroups = 1;
  else if (value != "local")
    return expected(flag, "global, local or local:GROUPS", value);
  return Error::success();
}

static Error parseTableGradients(Options &options, StringRef flag,
                                 StringRef value) {
  std::string word;
  if (Error error = parseWord(flag, value, {"sparse", "dense"}, word))
    return error;
  options.sparseTables = word == "sparse";
  return Error::success();
}

static Error parseStrategy(Options &options, StringRef flag, StringRef value) {
  options.strategy = value.str();
  options.randomStrategy.reset();
  if (!value.consume_front("random:"))
    return Error::success();
  if (value.getAsInteger(10, options.randomStrategy.emplace()))
    return expected(flag, "a whole number after random:", value);
  return Error::success();
}

static Error parseBudget(Options &options, StringRef flag, StringRef value) {
  return parseWhole(flag, value, 0, options.search.budget.emplace());
}

static Error parseAlpha(Options &options, StringRef flag, StringRef value) {
  return parseNumber(
      flag, value, [](double x) { return x > 0; }, "a number over 0",
      options.search.alpha);
}

static bool isNotNegative(double value) { return value >= 0; }
static constexpr const char *kNotNegative = "a number of at least 0";
static bool isFraction(double value) { return value >= 0 && value < 1; }
static constexpr const char *kFraction = "a number from 0 to below 1";

static const std::vector<FlagGroup> &flagGroups() {
  static const std::vector<FlagGroup> groups = {
      {"Input",
       {{"--devices", "FILE",
         "device topology, a file or a preset such as cpu:4 (ffc topology "
         "--help lists them); needed from --emit=plan on",
         setText<&Options::devices>},
        {"--profile", "FILE",
         "times measured by a program of ffc profile, instead of the "
         "topology's figures",
         setText<&Options::profile>},
        {"--strategies", "N",
         "of ffc profile: measure the kernels of at most so many strategies "
         "(24)",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseCount(f, v, o.profiledStrategies);
         }},
        {"--strategy", "FILE",
         "strategy file, search (default), data-parallel, or random:SEED",
         parseStrategy},
        {"--batch-size", "N", "batch, whatever the model was exported with",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseCount(f, v, o.batchSize.emplace(1));
         }},
        {"--dim", "NAME=N", "extent of a symbolic dimension; may be repeated",
         parseDim},
        {"--time-block", "N",
         "time steps of a recurrent layer that are one operator (10)",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseCount(f, v, o.timeBlock);
         }}}},
      {"Training",
       {{"--mode", "MODE", "train (default) or infer",
         [](Options &o, StringRef f, StringRef v) -> Error {
           std::string word;
           if (Error error = parseWord(f, v, {"train", "infer"}, word))
             return error;
           o.training = word == "train";
           return Error::success();
         }},
        {"--loss", "LOSS", "cross-entropy (default), mse, bce or none",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseWord(f, v, {"cross-entropy", "mse", "bce", "none"},
                            o.loss);
         }},
        {"--momentum", "X", "momentum of SGD (0.9); 0 for none",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseNumber(f, v, isFraction, kFraction, o.momentum);
         }},
        {"--nesterov", "", "Nesterov momentum", setTrue<&Options::nesterov>},
        {"--lr", "X", "default learning rate of the program (0.01)",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseNumber(f, v, isNotNegative, kNotNegative,
                              o.learningRate);
         }},
        {"--wd", "X", "default weight decay of the program (0)",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseNumber(f, v, isNotNegative, kNotNegative, o.weightDecay);
         }},
        {"--table-gradients", "HOW",
         "sparse: only the rows that were looked up are updated, which needs "
         "--momentum 0 (default if so); or dense",
         parseTableGradients},
        {"--init", "HOW",
         "weights without values: glorot-uniform (default), he-normal, "
         "he-uniform, lecun-normal, normal:STD, uniform:BOUND or zeros",
         setText<&Options::init>},
        {"--dropout", "RATIO", "ratio of every dropout, or off", parseDropout},
        {"--bn", "HOW",
         "batch normalisation by statistics of the batch (train), by running "
         "ones (infer) or as the model says (exported, default)",
         parseBatchNorm},
        {"--batch-norm", "HOW",
         "statistics of the batch over all of it (global, default), or local: "
         "over each of as many equal groups of samples as there are devices; "
         "local:GROUPS",
         parseBatchNormGroups}}},
      {"Search",
       {{"--search-budget", "N",
         "proposals (80000 over the number of devices); 0 compares recipes "
         "only",
         parseBudget},
        {"--search-time", "SECONDS",
         "stop after this time; the answer then depends on the machine",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseNumber(f, v, isNotNegative, kNotNegative,
                              o.search.seconds);
         }},
        {"--search-alpha", "X",
         "a strategy slower by 1 % is accepted with probability exp(-X) (1)",
         parseAlpha},
        {"--seed", "N", "of the search's random numbers (0)",
         [](Options &o, StringRef f, StringRef v) -> Error {
           int64_t seed = 0;
           if (Error error = parseWhole(f, v, 0, seed))
             return error;
           o.search.seed = static_cast<uint64_t>(seed);
           return Error::success();
         }},
        {"--chains", "N", "independent chains of proposals (4)",
         [](Options &o, StringRef f, StringRef v) -> Error {
           int64_t chains = 0;
           if (Error error = parseWhole(f, v, 1, chains))
             return error;
           o.search.chains = static_cast<int>(std::min<int64_t>(chains, 4096));
           return Error::success();
         }},
        {"--memory-limit", "SIZE",
         "memory of every device, whatever the topology says (8 GB, 512 MiB)",
         [](Options &o, StringRef f, StringRef v) -> Error {
           std::string error;
           std::optional<double> bytes =
               plan::parseQuantity(v.str(), plan::QuantityKind::Bytes, error);
           if (!bytes || *bytes < 1)
             return expected(f, "a size with its unit", v);
           o.search.memoryLimit = static_cast<int64_t>(*bytes);
           return Error::success();
         }},
        {"--start", "FILE", "strategy to start from besides the recipes",
         setText<&Options::start>},
        {"--pin", "LINE",
         "line of a strategy file that the search keeps; may be repeated",
         [](Options &o, StringRef, StringRef v) -> Error {
           o.pins.push_back(v.str());
           return Error::success();
         }}}},
      {"Output",
       {{"-o", "PATH", "output; a folder for --emit=source",
         [](Options &o, StringRef f, StringRef v) -> Error {
           if (v.empty())
             return expected(f, "a path", v);
           o.output = v.str();
           return Error::success();
         }},
        {"--emit", "WHAT",
         "ff, train, plan, rank, source or binary (default); text without -o, "
         "or "
         "with -o -, goes to standard output",
         parseEmit},
        {"--target", "TARGET", "cpu or cuda (default: the devices' kind)",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseWord(f, v, {"cpu", "cuda"}, o.target);
         }},
        {"--fuse", "HOW",
         "element-wise operators with what they follow: on (default) or off",
         [](Options &o, StringRef f, StringRef v) -> Error {
           std::string word;
           if (Error error = parseWord(f, v, {"on", "off"}, word))
             return error;
           o.fuse = word == "on";
           return Error::success();
         }},
        {"--print-strategy", "FILE",
         "write the complete strategy, - for standard output",
         setText<&Options::printStrategy>},
        {"--export-strategy", "FILE",
         "write the strategy for FlexFlow, - for standard output",
         setText<&Options::exportStrategy>},
        {"--export-format", "FORM",
         "of --export-strategy: text (default), which FlexFlow reads, or "
         "printed",
         [](Options &o, StringRef f, StringRef v) -> Error {
           return parseWord(f, v, {"text", "printed"}, o.exportFormat);
         }},
        {"--report", "FILE",
         "where the time of a step goes, by device and by operator; - for "
         "standard output",
         setText<&Options::report>},
        {"--trace", "FILE", "predicted times of all tasks, for ui.perfetto.dev",
         setText<&Options::trace>},
        {"--task-graph", "FILE", "all tasks and what they wait for, for dot",
         setText<&Options::taskGraph>},
        {"--shared-links", "",
         "in the final report and these files, all that communicates at once "
         "shares links",
         setTrue<&Options::sharedLinks>},
        {"--quiet", "", "no report on standard error",
         setTrue<&Options::quiet>},
        {"--help", "", "this text", setTrue<&Options::help>},
        {"--version", "", "version of ffc", setTrue<&Options::version>}}},
      {"FlexFlow's names of flags",
       {{"--import-strategy", "FILE", "--strategy", parseStrategy},
        {"--import", "FILE", "--strategy", parseStrategy},
        {"-s", "FILE", "--strategy", parseStrategy},
        {"--budget", "N", "--search-budget", parseBudget},
        {"--alpha", "X", "--search-alpha", parseAlpha}}}};
  return groups;
}

/// What belongs together.
static Error check(const Options &options) {
  if (options.model.empty())
    return makeError("expected a model, found none");
  if (options.devices.empty() && options.emit >= Emit::Plan)
    return makeError("expected --devices FILE, found none");
  for (auto [flag, path] : {std::pair("--report", &options.report),
                            std::pair("--trace", &options.trace),
                            std::pair("--task-graph", &options.taskGraph)})
    if (!path->empty() && options.emit < Emit::Plan)
      return makeError(Twine(flag) +
                       ": expected --emit=plan or later, whose "
                       "tasks are timed, found --emit=" +
                       (options.emit == Emit::FF ? "ff" : "train"));
  if (!options.batchNormGroups && options.devices.empty())
    return makeError("--batch-norm=local: expected --devices FILE or a number "
                     "of groups (local:GROUPS), found neither");
  if (options.sparseTables.value_or(false))
    for (auto [flag, value] : {std::pair("--momentum", options.momentum),
                               std::pair("--wd", options.weightDecay)})
      if (value != 0)
        return makeError(
            "--table-gradients=sparse: expected " + Twine(flag) +
            " 0, which leaves the rows alone that were not looked up, found " +
            formatv("{0}", format("%g", value)));
  if (options.output.empty() && options.emit >= Emit::Source)
    return makeError(options.emit == Emit::Source
                         ? "--emit=source: expected -o FOLDER, found none"
                         : "expected -o FILE, found none");
  return Error::success();
}

Expected<Options> ffc::parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  auto takeModel = [&](StringRef argument) -> Error {
    if (!options.model.empty())
      return makeError("expected one model, found '" + options.model +
                       "' and '" + argument + "'");
    options.model = argument.str();
    return Error::success();
  };
  if (Error error = parseFlags<Options>(arguments, flagGroups(), options,
                                        takeModel, "see --help"))
    return error;
  if (!options.help && !options.version)
    if (Error error = check(options))
      return error;
  return options;
}

std::string ffc::usage() {
  std::string text =
      "ffc: compiles an ONNX model to a program that trains it on several "
      "devices\n\n"
      "  ffc MODEL --devices FILE [--strategy FILE] -o PROGRAM\n"
      "  mpirun -n RANKS ./PROGRAM --steps 10\n";
  text += "\nCommands:\n";
  for (const Command &command : commands())
    text += describeLine(Twine("ffc ") + command.name, command.summary);
  return text + describeFlags<Options>(flagGroups());
}
