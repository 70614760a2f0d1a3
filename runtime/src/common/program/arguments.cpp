//===- arguments.cpp - command line of an emitted program -----------------===//
#include "common/program/arguments.h"

#include "common/evaluate/metrics.h"
#include "common/program/flags.h"
#include "common/program/flexflow_flags.h"
#include "common/program/on_ranks.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <sstream>

namespace ffrt {

namespace {

int64_t positive(const std::string &flag, const std::string &text) {
  return whole_number(flag, "a positive integer", text, 1, INT64_MAX);
}

uint64_t natural(const std::string &flag, const std::string &text) {
  char *end = nullptr;
  errno = 0;
  unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] == '-' || *end || errno)
    expected(flag, "a non-negative integer", text);
  return value;
}

double not_negative(const std::string &flag, const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(value) || value < 0.0)
    expected(flag, "a non-negative number", text);
  return value;
}

std::string folder(const std::string &flag, const std::string &text) {
  return path(flag, "a folder", text);
}

RateForm rate_form(const std::string &flag, const std::string &text) {
  try {
    return parse_rate_form(text);
  } catch (const Error &error) {
    throw Error(flag + ": " + error.what());
  }
}

ParameterGroup group(const std::string &flag, const std::string &text) {
  try {
    return parse_group(text);
  } catch (const Error &error) {
    throw Error(flag + ": " + error.what());
  }
}

/// Numbers of at least `least` with commas between; `what` they are.
std::vector<int64_t> numbers(const std::string &flag, const char *what,
                             const std::string &text, int64_t least) {
  const std::string list = std::string(what) + " with commas between";
  std::vector<int64_t> values;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');)
    values.push_back(whole_number(flag, list.c_str(), word, least, INT64_MAX));
  if (values.empty() || text.back() == ',')
    expected(flag, list.c_str(), text);
  return values;
}

std::vector<int64_t> steps_to_dump(const std::string &flag,
                                   const std::string &text) {
  std::vector<int64_t> steps = numbers(flag, "steps", text, 1);
  if (std::adjacent_find(steps.begin(), steps.end(),
                         std::greater_equal<int64_t>()) != steps.end())
    expected(flag, "steps that ascend", text);
  return steps;
}

/// Reads a flag that says how to generate; false if it is another.
bool read_generation(const std::string &flag, Flags &flags, Generation &g) {
  if (flag == "--generate")
    g.tokens = positive(flag, flags.value());
  else if (flag == "--prompt")
    g.prompt = path(flag, "a text", flags.value());
  else if (flag == "--prompt-tokens")
    g.prompt_tokens = numbers(flag, "tokens", flags.value(), 0);
  else if (flag == "--temperature")
    g.temperature = not_negative(flag, flags.value());
  else if (flag == "--top-k")
    g.top_k = positive(flag, flags.value());
  else
    return false;
  return true;
}

/// "500" steps, or "30s", "10m", "2h".
void read_pace(const std::string &flag, const std::string &text,
               CheckpointFlags &flags) {
  const std::size_t unit =
      std::string("smh").find(text.empty() ? 'x' : text.back());
  flags.steps = 0;
  flags.seconds = 0;
  if (unit == std::string::npos) {
    flags.steps =
        whole_number(flag, "steps, or a time such as 30m", text, 1, INT64_MAX);
    return;
  }
  constexpr double kSeconds[] = {1, 60, 3600};
  flags.seconds =
      positive_number(flag, text.substr(0, text.size() - 1)) * kSeconds[unit];
}

/// Reads a flag about checkpoints; false if it is another.
bool read_checkpoints(const std::string &flag, Flags &flags, Arguments &a) {
  if (flag == "--checkpoint")
    a.checkpoints.folder = folder(flag, flags.value());
  else if (flag == "--checkpoint-every")
    read_pace(flag, flags.value(), a.checkpoints);
  else if (flag == "--keep")
    a.checkpoints.keep = positive(flag, flags.value());
  else if (flag == "--resume") {
    a.resumes = true;
    a.resume = flags.optional_value();
  } else
    return false;
  return true;
}

/// A share, or a folder.
void read_validation_set(const std::string &flag, const std::string &text,
                         ValidationFlags &v) {
  char *end = nullptr;
  const double share = std::strtod(text.c_str(), &end);
  v.folder.clear();
  v.share = 0;
  if (text.empty() || *end)
    v.folder = path(flag, "a folder, or a share of --dataset", text);
  else if (share > 0 && share < 1)
    v.share = share;
  else
    expected(flag, "a folder, or a share of --dataset between 0 and 1", text);
}

std::vector<std::string> words(const std::string &text) {
  std::vector<std::string> result;
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');)
    result.push_back(word);
  return result;
}

/// Reads a flag about validations; false if it is another.
bool read_validation(const std::string &flag, Flags &flags,
                     ValidationFlags &v) {
  if (flag == "--validate")
    read_validation_set(flag, flags.value(), v);
  else if (flag == "--validate-every")
    v.every = whole_number(flag, "steps", flags.value(), 1, INT64_MAX);
  else if (flag == "--metrics")
    v.metrics = words(path(flag, "metrics with commas between", flags.value()));
  else if (flag == "--best")
    v.best = path(flag, "a metric", flags.value());
  else if (flag == "--patience")
    v.patience = positive(flag, flags.value());
  else
    return false;
  return true;
}

/// What a flag without a value sets; null if it is another.
bool *switch_of(const std::string &flag, Arguments &a) {
  for (auto [name, yes] :
       {std::pair("--help", &a.help), std::pair("--info", &a.info),
        std::pair("--map", &a.map), std::pair("--ema", &a.averages),
        std::pair("--any-loss", &a.any_loss), std::pair("--quiet", &a.quiet),
        std::pair("--plain", &a.plain)})
    if (flag == name)
      return yes;
  return nullptr;
}

/// Long form of a short flag.
std::string canonical(const std::string &flag) {
  static const char *const names[][2] = {
      {"-e", "--epochs"},        {"-b", "--batch-size"},
      {"-p", "--print-freq"},    {"-d", "--dataset"},
      {"-h", "--help"},          {"--lr", "--learning-rate"},
      {"--wd", "--weight-decay"}};
  for (auto &name : names)
    if (flag == name[0])
      return name[1];
  return flag;
}

void check_batch(const std::string &flag, const std::string &text,
                 int64_t batch) {
  if (positive(flag, text) != batch)
    expected(flag,
             std::to_string(batch) +
                 ", the batch size compiled in (ffc MODEL --batch-size " +
                 text + " compiles another)",
             text);
}

void check_contradictions(const Arguments &a, const ProgramInfo &info) {
  if (a.shuffle && !info.training)
    throw Error("--shuffle: expected a program that trains, found one that "
                "evaluates");
  if (a.shuffle && a.dataset.empty())
    throw Error("--shuffle: expected --dataset with it, found none");
  if (a.last_rate > 0 && !a.rate_form.has_last())
    throw Error("--lr-final: expected a --lr-schedule that falls to a rate, "
                "such as linear or cosine, found " +
                to_string(a.rate_form));
  if (a.warmup > 0 && a.rate_form.kind == RateForm::one_cycle)
    throw Error("--warmup: expected another --lr-schedule, found one-cycle, "
                "which begins with one");
  if (a.epochs && a.steps)
    throw Error("expected --epochs or --steps, found both");
  if (a.quiet && a.plain)
    throw Error("expected --quiet or --plain, found both");
  if (!a.dataset.empty() && !a.inputs.empty())
    throw Error("expected --dataset or --inputs, found both");
  if (!a.dump_steps.empty() && a.dump.empty())
    throw Error("--dump-steps: expected --dump with it, found none");
  if (!a.dump_steps.empty() && !info.training)
    throw Error("--dump-steps: expected a program that trains, found one that "
                "evaluates");
  const bool saves = !a.checkpoints.folder.empty();
  if ((saves || a.resumes) && !info.training)
    throw Error(std::string(saves ? "--checkpoint" : "--resume") +
                ": expected a program that trains, found one that evaluates "
                "(--weights reads a checkpoint)");
  for (const char *flag : {"--checkpoint-every", "--keep"})
    if (!saves && a.given.count(flag))
      throw Error(std::string(flag) +
                  ": expected --checkpoint with it, found none");
  if (a.resumes && a.resume.empty() && !saves)
    throw Error("--resume: expected a folder, or --checkpoint with it, found "
                "neither");
  if (a.given.count("--on-nan") && !info.training)
    throw Error("--on-nan: expected a program that trains, found one that "
                "evaluates");
  if (a.given.count("--on-nan") && a.any_loss)
    throw Error("expected --on-nan or --any-loss, found both");
  if (a.on_nan != OnNan::stop && !saves)
    throw Error("--on-nan: expected --checkpoint with skip and rollback, found "
                "none");
  if (a.averages && a.weights.empty())
    throw Error("--ema: expected --weights with it, found none");
  if (a.resumes && !a.weights.empty())
    throw Error("expected --resume or --weights, found both");
  if (a.restarts && (!a.local_ranks || !saves))
    throw Error(std::string("--restarts: expected ") +
                (saves ? "--local-ranks" : "--checkpoint") +
                " with it, found none");
  if (a.local_ranks)
    check_local_ranks(a.local_ranks, info.ranks);
}

void check_validation(const Arguments &a, const ProgramInfo &info,
                      const Evaluation *evaluation) {
  const ValidationFlags &v = a.validation;
  for (const char *flag :
       {"--validate-every", "--metrics", "--best", "--patience"})
    if (!v.given() && a.given.count(flag))
      throw Error(std::string(flag) +
                  ": expected --validate with it, found none");
  if (!v.given())
    return;
  if (!info.training)
    throw Error("--validate: expected a program that trains, found one that "
                "evaluates (--dataset names what)");
  if (!evaluation)
    throw Error("--validate: expected a program with an evaluation, found one "
                "that ffc has compiled without (with --evaluation=off, or "
                "since the model has none, as ffc has said)");
  if (v.share > 0 && a.dataset.empty())
    throw Error(
        "--validate: expected --dataset with a share of it, found none");
  std::string known;
  for (const char *metric : metrics_of(evaluation->rows))
    known += (known.empty() ? "" : ", ") + std::string(metric);
  const auto check = [&](const char *flag, const std::string &metric) {
    for (const char *each : metrics_of(evaluation->rows))
      if (metric == each)
        return;
    expected(flag, "metrics of " + known, metric);
  };
  for (const std::string &metric : v.metrics)
    check("--metrics", metric);
  check("--best", v.best);
}

void check_groups(const Arguments &a, const ProgramInfo &info) {
  if (!info.training)
    throw Error("--group: expected a program that trains, found one that "
                "evaluates");
  try {
    expect_matches(a.groups, info.updated);
  } catch (const Error &error) {
    throw Error(std::string("--group: ") + error.what());
  }
}

/// `about` is a flag that says how to generate; empty: there is none.
void check_generation(const Arguments &a, const ProgramInfo &info,
                      const std::string &about) {
  if (about.empty())
    return;
  if (!a.generation.tokens)
    throw Error(about + ": expected --generate with it, found none");
  if (info.training)
    throw Error("--generate: expected a program that evaluates (ffc "
                "--mode=infer), found one that trains");
  if (!a.generation.prompt.empty() && !a.generation.prompt_tokens.empty())
    throw Error("expected --prompt or --prompt-tokens, found both");
  for (auto [flag, given] :
       {std::pair("--dataset", !a.dataset.empty()),
        std::pair("--inputs", !a.inputs.empty()),
        std::pair("--dump", !a.dump.empty()),
        std::pair("--trace", !a.trace.empty()),
        std::pair("--log", !a.log.empty()),
        std::pair("--tensorboard", !a.tensorboard.empty()),
        std::pair("--epochs", a.epochs > 0), std::pair("--steps", a.steps > 0)})
    if (given)
      throw Error(std::string("expected --generate or ") + flag +
                  ", found both");
}

} // namespace

Arguments parse_arguments(int argc, char **argv, const ProgramInfo &info,
                          const Evaluation *evaluation) {
  Arguments a;
  a.learning_rate = info.default_learning_rate;
  a.weight_decay = info.default_weight_decay;
  a.clip_value = info.default_clip_value;
  std::string order, generating;
  Flags flags(argc, argv);
  while (flags.next()) {
    const std::string &given = flags.name(), flag = canonical(given);
    a.given.insert(flag);
    if (bool *yes = switch_of(flag, a)) {
      flags.expect_no_value();
      *yes = true;
    } else if (flag == "--shuffle" || flag == "--no-shuffle") {
      flags.expect_no_value();
      if (order.empty() || order == flag)
        order = flag;
      else
        throw Error("expected --shuffle or --no-shuffle, found both");
    } else if (flag == "--epochs")
      a.epochs = positive(given, flags.value());
    else if (flag == "--steps")
      a.steps = positive(given, flags.value());
    else if (flag == "--batch-size")
      check_batch(given, flags.value(), info.batch);
    else if (flag == "--learning-rate")
      a.learning_rate = not_negative(given, flags.value());
    else if (flag == "--lr-schedule")
      a.rate_form = rate_form(given, flags.value());
    else if (flag == "--lr-final")
      a.last_rate = not_negative(given, flags.value());
    else if (flag == "--warmup")
      a.warmup = positive(given, flags.value());
    else if (flag == "--weight-decay")
      a.weight_decay = not_negative(given, flags.value());
    else if (flag == "--clip-value")
      a.clip_value = not_negative(given, flags.value());
    else if (flag == "--group")
      a.groups.push_back(group(given, flags.value()));
    else if (flag == "--print-freq")
      a.print_frequency = positive(given, flags.value());
    else if (flag == "--seed")
      a.seed = natural(given, flags.value());
    else if (flag == "--dataset")
      a.dataset = folder(given, flags.value());
    else if (flag == "--inputs")
      a.inputs = folder(given, flags.value());
    else if (flag == "--weights")
      a.weights = folder(given, flags.value());
    else if (flag == "--dump")
      a.dump = folder(given, flags.value());
    else if (flag == "--dump-steps")
      a.dump_steps = steps_to_dump(given, flags.value());
    else if (flag == "--trace")
      a.trace = path(given, "a file", flags.value());
    else if (flag == "--log")
      a.log = path(given, "a file", flags.value());
    else if (flag == "--tensorboard")
      a.tensorboard = folder(given, flags.value());
    else if (flag == "--on-nan")
      a.on_nan = parse_on_nan(given, flags.value());
    else if (flag == "--deadline")
      a.deadline = positive_number(given, flags.value());
    else if (flag == "--local-ranks")
      a.local_ranks = int(positive(given, flags.value()));
    else if (flag == "--restarts")
      a.restarts = int(whole_number(given, "a number from 1 to 1000000",
                                    flags.value(), 1, 1000000));
    else if (read_generation(flag, flags, a.generation))
      generating = flag;
    else if (!read_checkpoints(flag, flags, a) &&
             !read_validation(flag, flags, a.validation) &&
             !read_flexflow(given, flags, info, a.notes))
      flags.reject();
    if (flag != "--local-ranks" && flag != "--restarts")
      for (const std::string &word : flags.words())
        a.forwarded.push_back(word);
  }
  a.shuffle = order == "--shuffle";
  check_contradictions(a, info);
  check_validation(a, info, evaluation);
  check_generation(a, info, generating);
  if (!a.groups.empty())
    check_groups(a, info);
  if (order.empty())
    a.shuffle = info.training && !a.dataset.empty();
  return a;
}

} // namespace ffrt
