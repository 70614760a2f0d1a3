//===- report.cpp - what a run prints -------------------------------------===//
#include "common/program/report.h"

#include "common/kernels/check.h"
#include "common/program/head.h"
#include "common/program/say.h"
#include "common/program/terminal.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

namespace ffrt {

namespace {

/// Seconds between two looks of a live line.
constexpr double kShowEvery = 0.25;
/// Of the mean time of steps, with every look.
constexpr double kKept = 0.8;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

} // namespace

std::string describe(const ProgramInfo &info) {
  std::string text = format("model           %s\n", info.model);
  text +=
      format("kind            %s\n", info.training ? "training" : "inference");
  if (*info.trained)
    text += format("parameters      %s\n", info.trained);
  text += format("model hash      %s\n", info.model_hash);
  text += format("topology hash   %s\n", info.topology_hash);
  text += format("strategy hash   %s\n", info.strategy_hash);
  text += format("ranks           %d\n", info.ranks);
  text += format("batch           %" PRId64 "\n", info.batch);
  if (info.micro_batches > 1)
    text += format("micro-batches     %d\n", info.micro_batches);
  text +=
      format("predicted step  %.3f ms\n", info.predicted_step_seconds * 1e3);
  for (const InputInfo &input : info.inputs)
    text += format("%s          %s %s %s\n", input.target ? "target" : "input ",
                   input.name, name_of(input.type),
                   to_string(input.rank, input.shape).c_str());
  text += "rank    state bytes    arena bytes    flops per step\n";
  for (std::size_t rank = 0; rank < info.rank_info.size(); ++rank) {
    const RankInfo &r = info.rank_info[rank];
    text += format("%4zu %14" PRId64 " %14" PRId64 " %17.6g\n", rank,
                   r.state_bytes, r.arena_bytes, r.flops);
  }
  return text;
}

int64_t tokens_of_step(const ProgramInfo &info) {
  int64_t tokens = 0;
  for (const InputInfo &input : info.inputs) {
    if (input.target)
      continue;
    if ((input.type != DType::i32 && input.type != DType::i64) ||
        input.rank != 2)
      return 0;
    const int64_t count =
        input.shape[0] * input.shape[1] * int64_t(info.micro_batches);
    if (tokens != 0 && tokens != count)
      return 0;
    tokens = count;
  }
  return tokens;
}

Report::Report(const ProgramInfo &info, bool active, Show show, int64_t first,
               int64_t steps, int64_t frequency, std::vector<StepLog *> logs)
    : info(info), active(active), show(show), first(first), steps(steps),
      frequency(frequency), printed(first), shown(first), start(Clock::now()),
      last(start), last_shown(start), logs(std::move(logs)) {}

std::string Report::pace(int64_t count, double seconds) const {
  return format("  %.4g ms/step  %.1f samples/s", seconds / double(count) * 1e3,
                double(info.batch) * info.micro_batches * double(count) /
                    seconds);
}

bool Report::has_line(int64_t step) const {
  return step == first + 1 || step == steps || step % frequency == 0;
}

bool Report::is_due(int64_t step) const {
  if (!active)
    return false;
  // A loss that is not finite is found there, shown or not.
  if (has_line(step))
    return true;
  return show == Show::live &&
         seconds_between(last_shown, Clock::now()) >= kShowEvery;
}

void Report::metric(const std::string &name, double value) {
  for (auto &[known, old] : metrics)
    if (known == name) {
      old = value;
      return;
    }
  metrics.push_back({name, value});
}

void Report::show_live(const StepLog::Step &done, Clock::time_point now) {
  const double seconds =
      seconds_between(last_shown, now) / double(done.step - shown);
  step_seconds =
      step_seconds > 0 ? kKept * step_seconds + (1 - kKept) * seconds : seconds;
  LiveStatus status;
  status.epoch = done.epoch;
  status.step = done.step;
  status.steps = steps;
  if (done.training) {
    status.loss = smoothed.value();
    status.rate = done.training->learning_rate;
  }
  status.metrics = metrics;
  status.samples = double(info.batch) * info.micro_batches / step_seconds;
  status.tokens = double(tokens_of_step(info)) / step_seconds;
  status.flops = flops_of_step(info) / step_seconds;
  status.peak_flops = info.peak_flops;
  status.resident_bytes = resident_bytes();
  status.seconds_left = double(steps - done.step) * step_seconds;
  show_for_now(live_text(status, terminal_width() - 1));
  shown = done.step;
  last_shown = now;
}

void Report::step(StepLog::Step done, double for_data) {
  const Clock::time_point now = Clock::now();
  if (show == Show::live &&
      (done.step == steps || seconds_between(last_shown, now) >= kShowEvery))
    show_live(done, now);
  if (!has_line(done.step))
    return;
  const double seconds = seconds_between(last, now);
  const int64_t count = done.step - printed;
  if (show == Show::lines) {
    std::string line = format("step %" PRId64 "/%" PRId64, done.step, steps);
    if (done.training)
      line += format("  loss %.9g", done.training->loss);
    say(line + pace(count, seconds));
  }
  done.seconds = seconds / double(count);
  done.samples_per_second =
      double(info.batch) * info.micro_batches / done.seconds;
  done.tokens_per_second = double(tokens_of_step(info)) / done.seconds;
  done.flops_per_second = flops_of_step(info) / done.seconds;
  if (info.peak_flops > 0)
    done.share_of_peak = done.flops_per_second / info.peak_flops;
  done.waiting_for_data = std::min((for_data - waited_for_data) / seconds, 1.0);
  for (StepLog *log : logs)
    log->step(done);
  printed = done.step;
  waited_for_data = for_data;
  last = now;
}

void Report::validation(const Validated &validated) {
  const auto time = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(validated.seconds));
  for (Clock::time_point *since : {&start, &last, &last_shown})
    *since += time;
  if (!active)
    return;
  say(to_string(validated));
  for (const auto &[name, value] : validated.metrics)
    metric(name, value);
  for (StepLog *log : logs)
    log->validation(validated);
}

void Report::done(int64_t last_step) {
  if (!active)
    return;
  const double seconds = seconds_between(start, Clock::now());
  const int64_t done = last_step - first;
  say(format("done %" PRId64 " steps in %.3f s", done, seconds) +
      pace(done, seconds));
  for (StepLog *log : logs)
    log->end(done, seconds);
}

} // namespace ffrt
