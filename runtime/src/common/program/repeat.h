//===- repeat.h - steps that are run once more ------------------*- C++ -*-===//
#ifndef FFRT_COMMON_REPEAT_H
#define FFRT_COMMON_REPEAT_H

#include "common/program/steps.h"
#include "ffrt/result_check.h"

#include <functional>

namespace ffrt {

/// Where a run stands: steps done, and samples that they took.
struct Place {
  int64_t step = 0, sample = 0;
};

/// The steps of a run from a place on, as they were: the state must be what it
/// was there. Nothing is said or written.
class Repeat {
public:
  /// All arguments must outlive it.
  Repeat(Instance &instance, Context &context, Source &source, Trace *trace)
      : instance(instance), context(context), source(source), trace(trace) {}

  struct Hooks {
    /// Makes the context that of step number `step`, counted from 0.
    std::function<void(int64_t step)> begin;
    /// When the inputs of a micro-batch are there, and after a step. May be
    /// empty.
    std::function<void(int64_t step)> inputs, end;
  };
  /// Collective. Results are looked at by `check` unless it is null.
  void run(Place from, int64_t last_step, int64_t batch, const Hooks &hooks,
           ResultCheck *check = nullptr);

private:
  Instance &instance;
  Context &context;
  Source &source;
  Trace *const trace;
};

} // namespace ffrt

#endif // FFRT_COMMON_REPEAT_H
