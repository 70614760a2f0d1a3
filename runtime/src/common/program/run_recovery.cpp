//===- run_recovery.cpp - what a run does after a bad step ---------------===//
#include "common/program/run.h"

#include "common/device/target.h"
#include "common/program/find_cause.h"
#include "common/program/finite_watch.h"
#include "common/program/repeat.h"
#include "common/program/together.h"

namespace ffrt {

/// Makes the state that of the newest checkpoint, or that of the beginning, and
/// says which.
std::string Run::go_back() {
  if (checkpoints && !checkpoints->last().empty())
    together(comm, world, "resume", [&] {
      resumed = std::make_unique<Checkpoint>(checkpoints->last());
      resumed->verify(comm.rank(), comm.size());
      saved = {resumed.get(), true};
    });
  instance->initialise(saved);
  return resumed ? resumed->path() : "the beginning";
}

/// After a step with a loss that is not finite.
void Run::recover(const BadStep &bad) {
  finish_target();
  const double seconds_a_step =
      std::chrono::duration<double>(Clock::now() - begun).count() /
      double(context.step + 1 - progress.first_step);
  if (checkpoints)
    checkpoints->finish();
  const std::string path = go_back();
  const int64_t from = resumed ? resumed->record().step : 0;
  Repeat repeat(*instance, context, *source, trace.get());
  const auto begin = [this](int64_t step) { begin_step(step); };
  if (arguments.on_nan == OnNan::stop)
    end_with_cause(comm, world, bad, *instance, repeat,
                   {from, progress.samples_after(from)}, info.batch, begin,
                   seconds_a_step * double(bad.step - from));
  if (!recovery)
    recovery.emplace(comm, world, arguments.on_nan, info.batch);
  BadStep first = bad;
  if (!bad.first) {
    FiniteWatch watch(comm, world, nullptr, instance->states());
    first = recovery->find_first(bad, from, progress, repeat, watch, begin);
    go_back();
  }
  recovery->go_on(first, from, path, progress, repeat, begin);
  if (validation)
    validation->set_best(resumed ? resumed->record().best : Best());
  std::vector<double> earlier = losses->of_steps();
  earlier.resize(std::size_t(comm.rank() == 0 ? progress.first_step : 0));
  losses =
      std::make_unique<LossLog>(info.micro_batches, steps, std::move(earlier));
}

} // namespace ffrt
