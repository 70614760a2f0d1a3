//===- steps.cpp - the steps of a program ---------------------------------===//
#include "common/program/steps.h"

namespace ffrt {

void Steps::run(const std::function<void(int pass)> &before_pass) {
  if (trace)
    trace->begin_step();
  for (int pass = 0; pass < context.passes; ++pass) {
    context.pass = context.step * context.passes + pass;
    feeder.next();
    before_pass(pass);
    start(passes[static_cast<std::size_t>(pass)], [&] {
      if (trace)
        trace->begin_pass();
      program.step();
    });
    if (losses)
      losses->add(program.loss());
  }
  start(update, [&] {
    program.update();
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
