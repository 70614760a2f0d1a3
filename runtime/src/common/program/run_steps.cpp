//===- run_steps.cpp - the steps of a run --------------------------------===//
#include "common/program/run.h"

#include "common/device/target.h"
#include "common/program/finite_watch.h"
#include "common/program/steps.h"
#include "common/program/tensorboard.h"
#include "common/program/terminal.h"
#include "common/program/together.h"

#include <algorithm>

namespace ffrt {

namespace {

/// Into which folder what a step leaves is written; empty: nowhere. Steps count
/// from 1.
std::string dump_folder(const Arguments &arguments, int64_t step,
                        int64_t steps) {
  const std::vector<int64_t> &listed = arguments.dump_steps;
  if (listed.empty())
    return step == steps ? arguments.dump : "";
  return std::binary_search(listed.begin(), listed.end(), step)
             ? arguments.dump + "/step" + std::to_string(step)
             : "";
}

Show how_to_show(const Arguments &arguments) {
  if (arguments.quiet)
    return Show::nothing;
  return !arguments.plain && on_terminal(1) ? Show::live : Show::lines;
}

} // namespace

/// Makes the context that of a step, counted from 0.
void Run::begin_step(int64_t step) {
  context.step = step;
  context.learning_rate = rate.at(step);
}

void Run::write_dump(int64_t step) {
  const std::string folder = dump_folder(arguments, step, steps);
  if (folder.empty())
    return;
  finish_target();
  dump.write(folder, instance->states(), losses->of_steps(),
             [this](const StateSlot &slot) { begin(slot); });
}

/// Rank 0's.
std::vector<std::unique_ptr<StepLog>> Run::open_logs() {
  std::vector<std::unique_ptr<StepLog>> logs;
  together(comm, world, "start", [&] {
    if (comm.rank() != 0)
      return;
    if (!arguments.log.empty()) {
      auto log = std::make_unique<RunLog>(arguments.log);
      log->begin(info, progress.first_step, steps, arguments.seed);
      logs.push_back(std::move(log));
    }
    if (!arguments.tensorboard.empty())
      logs.push_back(std::make_unique<TensorBoard>(arguments.tensorboard));
  });
  return logs;
}

/// Of the step that was done last; `for_data`: seconds waited in all.
void Run::report_step(Report &report, double for_data) {
  const bool has_loss = info.training && comm.rank() == 0;
  StepLog::Step done;
  done.step = context.step + 1;
  done.epoch = progress.epoch_after(done.step);
  if (info.training)
    done.training = {has_loss ? losses->of_steps().back() : 0.0,
                     context.learning_rate};
  if (has_loss)
    report.losses(losses->of_steps());
  report.step(done, for_data);
}

/// After a step, which is the last one if there is no patience left.
Validated Run::validate(int64_t step, Report &report, StepTimes &times) {
  const Validated found = validation->run(step);
  report.validation(found);
  times.leave_out(found.seconds);
  if (checkpoints)
    checkpoints->set_best(validation->best());
  if (validation->gives_up())
    steps = step;
  return found;
}

void Run::do_steps() {
  const int64_t first = progress.first_step;
  if (first == steps) { // the last step is left out
    if (checkpoints)
      checkpoints->after_step(
          steps, [this] { return losses->of_steps(); }, [] {});
    return;
  }
  const int64_t first_micro_batch = progress.first_sample / info.batch;
  const std::vector<std::unique_ptr<StepLog>> logs = open_logs();
  std::vector<StepLog *> all_logs;
  for (const std::unique_ptr<StepLog> &log : logs)
    all_logs.push_back(log.get());
  Report report(info, comm.rank() == 0, how_to_show(arguments), first, steps,
                arguments.print_frequency, all_logs);
  Feeder feeder(*source, instance->inputs(), instance->input_numbers(),
                first_micro_batch,
                first_micro_batch + (steps - first) * info.micro_batches);
  // A program that evaluates a data set writes what it finds for all samples.
  const int64_t samples =
      info.training ? 0 : std::min(source->samples(), steps * info.batch);
  const bool has_loss = info.training && comm.rank() == 0;
  std::optional<FiniteWatch> watch;
  if (info.training && !arguments.any_loss)
    watch.emplace(comm, world, has_loss ? losses.get() : nullptr,
                  instance->states());
  // Values are dumped as kernels are started one by one.
  const bool replays = instance->replays() && arguments.dump.empty();
  Steps program(*instance, context, feeder, trace.get(),
                has_loss ? losses.get() : nullptr, replays);
  // Steps allocate nothing, so these are made once.
  bool is_dumped = false;
  const std::function<void(int)> before_micro_batch = [&](int micro_batch) {
    if (samples > 0 && !arguments.dump.empty())
      dump.record_batch(context.step * info.batch, samples);
    else if (is_dumped)
      dump.record_batch(micro_batch * info.batch,
                        info.micro_batches * info.batch);
  };
  StepTimes times(comm, world, info, places, *instance, context, steps - first);
  const std::function<std::vector<double>()> all_losses = [&] {
    return losses->of_steps();
  };
  const std::function<void()> before_saving = [&] {
    if (watch)
      watch->look(context.step + 1);
  };
  begun = Clock::now();
  for (int64_t step = first; step < steps; ++step) {
    begin_step(step);
    const bool validates = validation && validation->is_due(step + 1, steps);
    // One that may turn out to be the last is dumped as such.
    const bool may_be_last = validates && arguments.validation.patience > 0;
    is_dumped =
        !dump_folder(arguments, step + 1, may_be_last ? step + 1 : steps)
             .empty();
    times.begin();
    program.run(before_micro_batch);
    times.end(feeder.waited());
    if (report.is_due(step + 1)) {
      finish_target();
      if (has_loss)
        losses->of_steps();
      // A step with a loss that is not finite is not reported.
      if (!(watch && losses->first_bad() > 0))
        report_step(report, feeder.waited());
    }
    if (watch && (is_dumped || validates || step + 1 == steps))
      watch->look(step + 1);
    else if (watch)
      watch->after_step(step + 1);
    bool is_best = false;
    if (validates)
      is_best = validate(step + 1, report, times).is_best;
    if (step + 1 < steps)
      write_dump(step + 1);
    if (checkpoints)
      checkpoints->after_step(step + 1, all_losses, before_saving,
                              is_best || step + 1 == steps);
  }
  finish_target();
  report.done(steps);
  times.finish();
}

} // namespace ffrt
