//===- OptionValues.cpp - what flags of models take -----------------------===//

#include "OptionValues.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Passes/Rewrites.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;
using namespace ffc;
using codegen::makeError;

Error ffc::parseDim(Options &options, StringRef flag, StringRef value) {
  auto [name, extent] = value.rsplit('=');
  if (name.empty() || !value.contains('='))
    return expected(flag, "NAME=VALUE or INPUT:AXIS=VALUE", value);
  return parseWhole(flag, extent, 1, options.dims[name.str()]);
}

Error ffc::parseFixed(Options &options, StringRef flag, StringRef value) {
  auto [name, number] = value.rsplit('=');
  if (name.empty() || number.empty())
    return expected(flag, "INPUT=VALUE", value);
  options.fixed[name.str()] = number.str();
  return Error::success();
}

Error ffc::parseTrain(Options &options, StringRef, StringRef value) {
  options.trainRules.push_back({value.str(), /*isTrained=*/true});
  return Error::success();
}

Error ffc::parseFreeze(Options &options, StringRef, StringRef value) {
  options.trainRules.push_back({value.str(), /*isTrained=*/false});
  return Error::success();
}

Error ffc::parseDropout(Options &options, StringRef flag, StringRef value) {
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

Error ffc::parseBatchNormGroups(Options &options, StringRef flag,
                                StringRef value) {
  StringRef groups = value;
  if (groups.consume_front("local:"))
    return parseWhole(flag, groups, 1, options.batchNormGroups.emplace(1));
  options.batchNormGroups.reset();
  if (value == "global")
    options.batchNormGroups = 1;
  else if (value != "local")
    return expected(flag, "global, local or local:GROUPS", value);
  return Error::success();
}

Error ffc::parseTimeBlock(Options &options, StringRef flag, StringRef value) {
  return parseWhole(flag, value, 1, options.timeBlock.emplace());
}

Error ffc::parseOptimizer(Options &options, StringRef flag, StringRef value) {
  Expected<ff::Optimizer> optimizer = ff::Optimizer::parse(value);
  if (!optimizer)
    return makeError(Twine(flag) + ": " + toString(optimizer.takeError()));
  options.optimizer = std::move(*optimizer);
  return Error::success();
}

static bool isLossScale(double value) {
  int exponent = 0;
  return value >= 1 && value <= 0x1p24 && std::frexp(value, &exponent) == 0.5;
}

Error ffc::parseLossScale(Options &options, StringRef flag, StringRef value) {
  LossScale &scale = options.lossScale.emplace(
      value == "dynamic" ? LossScale::dynamic() : LossScale::none());
  if (value == "dynamic" || value == "none")
    return Error::success();
  return parseNumber(flag, value, isLossScale,
                     "dynamic, none or a power of two from 1 to 2^24",
                     scale.first);
}

Error ffc::parseStrategy(Options &options, StringRef flag, StringRef value) {
  options.strategy = value.str();
  options.randomStrategy.reset();
  const std::pair<StringRef, Options::Random> kinds[] = {
      {"random:", Options::Random::Any},
      {"random-pipeline:", Options::Random::Pipeline},
      {"random-recompute:", Options::Random::Recompute}};
  for (auto [word, kind] : kinds) {
    if (!value.consume_front(word))
      continue;
    options.random = kind;
    if (value.getAsInteger(10, options.randomStrategy.emplace()))
      return expected(flag, "a whole number after " + word, value);
  }
  return Error::success();
}

Error ffc::parseSchedule(Options &options, StringRef flag, StringRef value) {
  options.schedule = {value.str(), 1, value.starts_with("zb")};
  if (value == "auto" || value == "none" || value == "gpipe" || value == "1f1b")
    return Error::success();
  if (value == "zb-h1" || value == "zb-h2") {
    options.schedule.ahead = value.back() - '0';
    return Error::success();
  }
  if (!value.consume_front("1f1b:") && !value.consume_front("zb:"))
    return expected(flag,
                    "auto, none, gpipe, 1f1b, 1f1b:AHEAD, zb-h1, zb-h2 or "
                    "zb:AHEAD",
                    value);
  int64_t ahead = 0;
  if (Error error = parseWhole(flag, value, 1, ahead, kMostCount))
    return error;
  options.schedule.ahead = static_cast<int>(ahead);
  return Error::success();
}

Error ffc::parseRewrites(Options &options, StringRef flag, StringRef value) {
  options.rewrites.reset();
  if (value == "auto")
    return Error::success();
  std::vector<std::string> &rules = options.rewrites.emplace();
  if (value == "none")
    return Error::success();
  for (StringRef name : split(value, ',')) {
    if (!findRewrite(name))
      return expected(flag, "auto, none or rules among " + namesOfRewrites(),
                      name);
    if (is_contained(rules, name))
      return expected(flag, "every rule once", value);
    rules.push_back(name.str());
  }
  return Error::success();
}

Error ffc::parseCollectives(Options &options, StringRef flag, StringRef value) {
  plan::CollectiveRules &rules = options.collectives;
  rules = {};
  if (value == "auto")
    return Error::success();
  if (value == "switches") {
    rules.switchesAdd = true;
    return Error::success();
  }
  rules.own = value == "library" ? plan::OwnCollectives::Never
                                 : plan::OwnCollectives::Always;
  if (value == "library" || value == "own")
    return Error::success();
  const std::vector<std::string> &algorithms = plan::scheduleAlgorithms();
  if (!is_contained(algorithms, value.str()))
    return expected(
        flag, "auto, own, library, switches, " + join(algorithms, ", "), value);
  rules.algorithm = value.str();
  return Error::success();
}

Error ffc::parseOutput(Options &options, StringRef flag, StringRef value) {
  if (value.empty())
    return expected(flag, "a path", value);
  options.output = value.str();
  return Error::success();
}
