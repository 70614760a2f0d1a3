//===- run.h - a run of an emitted program on a rank ------------*- C++ -*-===//
#ifndef FFRT_COMMON_RUN_H
#define FFRT_COMMON_RUN_H

#include "common/checkpoint/checkpoint.h"
#include "common/data/dump.h"
#include "common/data/source.h"
#include "common/program/arguments.h"
#include "common/program/checkpoints.h"
#include "common/program/on_ranks.h"
#include "common/program/recovery.h"
#include "common/program/report.h"
#include "common/program/run_log.h"
#include "common/program/step_times.h"
#include "common/program/validation.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ffrt {

/// A run on this rank.
class Run {
public:
  /// `evaluation`: null if the program has none.
  Run(Comm &comm, const ProgramInfo &info, const Arguments &given,
      MakeProgram make, const Evaluation *evaluation)
      : comm(comm), world(make_world(comm)), info(info), arguments(given),
        make(make), evaluation(evaluation), dump(info, comm, world) {}

  void all_steps();

private:
  void resume();
  void make_program();
  void set_own_rates();
  void make_checkpoints();
  void make_validation();
  void find_place();
  void say_map();
  void say_head();
  std::vector<std::unique_ptr<StepLog>> open_logs();
  void do_steps();
  void begin_step(int64_t step);
  void report_step(Report &report, double for_data);
  Validated validate(int64_t step, Report &report, StepTimes &times);
  void recover(const BadStep &bad);
  std::string go_back();
  void write_dump(int64_t step);
  /// What slots began with.
  void begin(const StateSlot &slot) const {
    initialise_on_host(slot, context.seed, weights_of(info), saved);
  }

  Comm &comm;
  const Group world;
  const ProgramInfo &info;
  Arguments arguments;
  const MakeProgram make;
  const Evaluation *const evaluation;
  Context context;
  std::unique_ptr<CheckpointFolder> folder; ///< rank 0, if it saves
  std::unique_ptr<Checkpoint> resumed;
  std::unique_ptr<SavedValues> parameters; ///< of --weights
  Saved saved;
  std::unique_ptr<Source> source;
  Dump dump;
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Instance> instance;
  std::unique_ptr<GlobalState> state;
  std::unique_ptr<LossLog> losses;
  std::unique_ptr<Checkpoints> checkpoints; ///< null: there are none
  std::unique_ptr<Validation> validation;   ///< the same
  std::optional<Recovery> recovery;
  RateSchedule rate;
  std::vector<RankPlace> places; ///< of the ranks
  int64_t steps = 0;
  Progress progress;
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun; ///< the first step of this run, or behind a bad one
};

} // namespace ffrt

#endif // FFRT_COMMON_RUN_H
