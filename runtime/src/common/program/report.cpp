//===- report.cpp - what a run prints -------------------------------------===//
#include "common/program/report.h"

#include "common/kernels/check.h"

#include <cinttypes>
#include <cstdio>
#include <utility>

namespace ffrt {

namespace {

template <class... Values>
std::string format(const char *pattern, Values... values) {
  char text[512];
  int n = std::snprintf(text, sizeof text, pattern, values...);
  return std::string(text, std::size_t(n) < sizeof text ? std::size_t(n)
                                                        : sizeof text - 1);
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

Report::Report(const ProgramInfo &info, bool quiet, int64_t first,
               int64_t steps, int64_t frequency, std::vector<StepLog *> logs)
    : info(info), quiet(quiet), first(first), steps(steps),
      frequency(frequency), printed(first), start(Clock::now()), last(start),
      logs(std::move(logs)) {}

std::string Report::pace(int64_t count, double seconds) const {
  return format("  %.4g ms/step  %.1f samples/s", seconds / count * 1e3,
                double(info.batch) * info.micro_batches * count / seconds);
}

bool Report::is_due(int64_t step) const {
  return !quiet &&
         (step == first + 1 || step == steps || step % frequency == 0);
}

void Report::step(StepLog::Step done) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last).count();
  const int64_t count = done.step - printed;
  std::string line = format("step %" PRId64 "/%" PRId64, done.step, steps);
  if (done.training)
    line += format("  loss %.9g", done.training->loss);
  std::puts((line + pace(count, seconds)).c_str());
  std::fflush(stdout);
  done.seconds = seconds / double(count);
  done.samples_per_second =
      double(info.batch) * info.micro_batches / done.seconds;
  for (StepLog *log : logs)
    log->step(done);
  printed = done.step;
  last = now;
}

void Report::validation(const Validated &validated) {
  const auto time = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(validated.seconds));
  start += time;
  last += time;
  if (quiet)
    return;
  std::puts(to_string(validated).c_str());
  std::fflush(stdout);
  for (StepLog *log : logs)
    log->validation(validated);
}

void Report::done(int64_t last_step) {
  if (quiet)
    return;
  const double seconds =
      std::chrono::duration<double>(Clock::now() - start).count();
  const int64_t done = last_step - first;
  std::puts((format("done %" PRId64 " steps in %.3f s", done, seconds) +
             pace(done, seconds))
                .c_str());
  std::fflush(stdout);
  for (StepLog *log : logs)
    log->end(done, seconds);
}

} // namespace ffrt
