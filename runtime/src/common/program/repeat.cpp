//===- repeat.cpp - steps that are run once more --------------------------===//
#include "common/program/repeat.h"

#include "ffrt/result_check.h"

namespace ffrt {

void Repeat::run(Place from, int64_t last_step, int64_t batch,
                 const Hooks &hooks, ResultCheck *check) {
  const int64_t first_batch = from.sample / batch;
  Feeder feeder(source, instance.inputs(), instance.input_numbers(),
                first_batch,
                first_batch + (last_step - from.step) * context.micro_batches);
  Steps steps(instance, context, feeder, trace, /*losses=*/nullptr,
              instance.replays() && !check);
  instance.set_check(check);
  for (int64_t step = from.step; step < last_step; ++step) {
    hooks.begin(step);
    if (check)
      check->begin_step();
    steps.run([&](int) {
      if (hooks.inputs)
        hooks.inputs(step);
    });
    if (hooks.end)
      hooks.end(step);
  }
  finish_target();
  instance.set_check(nullptr);
}

} // namespace ffrt
