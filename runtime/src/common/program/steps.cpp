//===- steps.cpp - the steps of a program ---------------------------------===//
#include "common/program/steps.h"

namespace ffrt {

void Steps::run(
    const std::function<void(int micro_batch)> &before_micro_batch) {
  if (trace)
    trace->begin_step();
  for (int micro_batch = 0; micro_batch < context.micro_batches;
       ++micro_batch) {
    context.micro_batch = context.step * context.micro_batches + micro_batch;
    feeder.next();
    before_micro_batch(micro_batch);
    start(micro_batches[static_cast<std::size_t>(micro_batch)], [&] {
      if (trace)
        trace->begin_micro_batch();
      program.begin(StepPart::micro_batch);
      program.step();
      program.end(StepPart::micro_batch);
    });
    if (losses)
      losses->add(program.loss());
  }
  start(update, [&] {
    program.begin(StepPart::update);
    program.update();
    program.end(StepPart::update);
    if (trace)
      trace->end_step();
  });
  if (trace)
    trace->keep(context.step);
}

void Steps::start(Replay &replay, const std::function<void()> &work) {
  if (!replays)
    return work();
  replay.run(context, work);
  instance.watch_replay();
}

} // namespace ffrt
