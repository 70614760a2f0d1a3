//===- checkpoints.h - when a run saves its state ---------------*- C++ -*-===//
#ifndef FFRT_COMMON_CHECKPOINTS_H
#define FFRT_COMMON_CHECKPOINTS_H

#include "common/checkpoint/checkpoint_writer.h"
#include "common/program/checkpoint_flags.h"
#include "common/program/progress.h"
#include "common/program/requests.h"

#include <functional>
#include <vector>

namespace ffrt {

/// Saves after the steps that the command line names, when a signal or the
/// clock asks, and after the last step.
class Checkpoints {
public:
  /// Collective. `run`: what does not change from step to step, rate.steps
  /// among it. References must outlive this. Throws Stop.
  Checkpoints(Comm &comm, const Group &world, const GlobalState &state,
              const CheckpointFlags &flags, CheckpointFolder *folder,
              const Record &run, const Progress &progress,
              const CheckpointWriter::Begin &begin);

  /// Of the validations so far, for what is saved from now on.
  void set_best(const Best &best) { run.best = best; }
  /// Collective, after each step, whose number counts from 1. `losses` gives
  /// those of all steps on rank 0; `before_saving` is called on all ranks. It
  /// is saved in any case if `must_save`. Throws Stop after saving when a
  /// signal ends the run.
  void after_step(int64_t step,
                  const std::function<std::vector<double>()> &losses,
                  const std::function<void()> &before_saving,
                  bool must_save = false);
  /// Collective: the last one is complete when this returns. Throws Stop.
  void finish();
  /// The path of the last one that finish() has completed; empty: none.
  const std::string &last() const { return last_path; }

private:
  Comm &comm;
  const CheckpointFlags flags;
  Record run;
  const Progress &progress;
  CheckpointWriter writer;
  Requests requests;
  std::string begun_path, last_path;
};

} // namespace ffrt

#endif // FFRT_COMMON_CHECKPOINTS_H
