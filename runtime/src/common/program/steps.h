//===- steps.h - the steps of a program -------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_STEPS_H
#define FFRT_COMMON_STEPS_H

#include "common/data/feeder.h"
#include "common/device/replay.h"
#include "common/program/instance.h"
#include "common/program/loss_log.h"

#include <functional>
#include <vector>

namespace ffrt {

class Steps {
public:
  /// `trace` is that of the instance. `losses`: null if nobody asks. `replays`:
  /// work may be started as a whole. All arguments must outlive it.
  Steps(Instance &instance, Context &context, Feeder &feeder, Trace *trace,
        LossLog *losses, bool replays)
      : instance(instance), program(instance.program()), context(context),
        feeder(feeder), trace(trace), losses(losses), replays(replays),
        micro_batches(static_cast<std::size_t>(context.micro_batches)) {}

  /// Starts one step; before_micro_batch(number) once the inputs of one are on
  /// their way. With a trace it is done when this returns.
  void run(const std::function<void(int micro_batch)> &before_micro_batch);

private:
  void start(Replay &replay, const std::function<void()> &work);

  const Instance &instance;
  RankProgram &program;
  Context &context;
  Feeder &feeder;
  Trace *const trace;
  LossLog *const losses;
  const bool replays;
  /// They differ: the first begins the sums.
  std::vector<Replay> micro_batches;
  Replay update;
};

} // namespace ffrt

#endif // FFRT_COMMON_STEPS_H
