//===- validation.cpp - evaluating while training -------------------------===//
#include "common/program/validation.h"

#include "common/data/feeder.h"
#include "common/device/target.h"
#include "common/program/say.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace ffrt {

namespace {

constexpr const char *kTask = "validate";

/// Rows of a sample: of what is compared with the target.
int64_t rows_per_sample(const ProgramInfo &info) {
  for (const OutputInfo &output : info.outputs)
    if (std::string(output.name) == "rows/target") {
      int64_t rows = 1;
      for (int d = 0; d < output.rank; ++d)
        rows *= output.shape[d];
      return rows / info.batch;
    }
  return 1;
}

} // namespace

Validation::Validation(Comm &comm, const Group &world,
                       const Evaluation &evaluation, Instance &training,
                       const Context &training_context,
                       const ValidationFlags &flags, const std::string &dataset,
                       const Saved &saved, const Progress &progress,
                       const Best &best)
    : comm(comm), world(world), evaluation(evaluation), flags(flags),
      progress(progress), context(training_context), rows(comm, world),
      metrics(flags.metrics), so_far(best) {
  const ProgramInfo &info = evaluation.info;
  context.micro_batches = 1;
  together(comm, world, kTask, [&] {
    DatasetPart part;
    part.prefers_tests = !flags.folder.empty();
    part.held_out = flags.share;
    part.is_held_out = flags.folder.empty();
    source = make_dataset(info, flags.folder.empty() ? dataset : flags.folder,
                          /*shuffled=*/false, 0, part);
    samples = source->samples();
    if (evaluation.rows == EvaluationRows::losses)
      samples -= samples % info.batch;
    if (samples == 0)
      throw Error("--validate: expected at least a batch of " +
                  std::to_string(info.batch) +
                  " samples for a loss that the model computes of a batch, "
                  "found " +
                  std::to_string(source->samples()));
    if (!so_far.metric.empty() && so_far.metric != flags.best)
      so_far = {};
    so_far.metric = flags.best;
  });
  if (metrics.empty())
    metrics = default_metrics(evaluation.rows, rows_per_sample(info));
  if (std::find(metrics.begin(), metrics.end(), flags.best) == metrics.end())
    metrics.push_back(flags.best);
  instance = std::make_unique<Instance>(training, context, rows, info,
                                        evaluation.make, saved);
  if (comm.rank() != 0)
    return;
  std::string text = "validates on " + std::to_string(samples) + " samples";
  if (const int64_t rest = source->samples() - samples; rest > 0)
    text += ", without " + std::to_string(rest) +
            " that fill no batch, of which the model gives one loss";
  if (flags.every > 0)
    text += " every " + std::to_string(flags.every) + " steps";
  else
    text += progress.samples_per_epoch > 0 ? " after every epoch"
                                           : " after the last step";
  say(text);
}

bool Validation::is_due(int64_t step, int64_t last_step) const {
  if (step == last_step)
    return true;
  if (flags.every > 0)
    return step % flags.every == 0;
  return progress.samples_per_epoch > 0 &&
         std::floor(progress.epoch_after(step)) >
             std::floor(progress.epoch_after(step - 1));
}

void Validation::evaluate(MetricSums &sums) {
  const int64_t batch = evaluation.info.batch,
                batches = (samples + batch - 1) / batch;
  RankProgram &program = instance->program();
  Feeder feeder(*source, instance->inputs(), instance->input_numbers(), 0,
                batches);
  for (int64_t number = 0; number < batches; ++number) {
    context.step = context.micro_batch = number;
    feeder.next();
    program.begin(StepPart::micro_batch);
    program.step();
    program.end(StepPart::micro_batch);
    program.begin(StepPart::update);
    program.update();
    program.end(StepPart::update);
    finish_target();
    rows.gather();
    if (comm.rank() != 0)
      continue;
    EvaluatedBatch found;
    for (auto [name, tensor] : {std::pair("rows/loss", &found.loss),
                                {"rows/top", &found.top},
                                {"rows/target", &found.target},
                                {"rows/prediction", &found.prediction}})
      for (const OutputInfo &output : evaluation.info.outputs)
        if (std::string(output.name) == name)
          *tensor = rows.at(name);
    sums.add(found, std::min(batch, samples - number * batch), batch);
  }
}

bool Validation::compare(int64_t step, const MetricSums &sums) {
  double value = 0;
  if (comm.rank() == 0)
    value = sums.values({flags.best}).front().second;
  comm.wait(comm.broadcast(kTask, world, 0, flat(&value, DType::f64, 1)));
  // One that is not finite is no better than any.
  const bool better =
      std::isfinite(value) &&
      (so_far.step == 0 ||
       (is_error(flags.best) ? value < so_far.value : value > so_far.value));
  if (better)
    so_far = {flags.best, value, step, 0};
  else
    ++so_far.since;
  return better;
}

Validated Validation::run(int64_t step) {
  const auto start = std::chrono::steady_clock::now();
  finish_target();
  MetricSums sums(evaluation.rows);
  evaluate(sums);
  Validated found;
  found.step = step;
  found.epoch = progress.epoch_after(step);
  found.samples = samples;
  found.is_best = compare(step, sums);
  if (comm.rank() == 0)
    found.metrics = sums.values(metrics);
  found.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return found;
}

std::string describe_evaluation(const ProgramInfo &info,
                                const Evaluation *evaluation) {
  if (!info.training)
    return "";
  if (!evaluation)
    return "validation      none: compiled without\n";
  int64_t most = 0;
  for (std::size_t rank = 0; rank < info.rank_info.size(); ++rank) {
    const RankInfo &mine = info.rank_info[rank],
                   &theirs = evaluation->info.rank_info.at(rank);
    most = std::max(
        most, std::max<int64_t>(theirs.state_bytes - mine.state_bytes, 0) +
                  std::max<int64_t>(info.symmetric_arena + theirs.arena_bytes -
                                        mine.arena_bytes,
                                    0));
  }
  return format("validation      at most %" PRId64 " bytes more\n", most);
}

std::string to_string(const Validated &validated) {
  char text[128];
  std::snprintf(text, sizeof text, "validation after step %" PRId64 ":",
                validated.step);
  std::string line = text;
  for (const auto &[metric, value] : validated.metrics) {
    std::snprintf(text, sizeof text, " %s %.6g ", metric.c_str(), value);
    line += text;
  }
  std::snprintf(text, sizeof text, " (%" PRId64 " samples in %.3g s%s)",
                validated.samples, validated.seconds,
                validated.is_best ? "; the best so far" : "");
  return line + text;
}

} // namespace ffrt
