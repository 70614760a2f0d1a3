//===- step_times.h - what steps wait for -----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_STEP_TIMES_H
#define FFRT_COMMON_STEP_TIMES_H

#include "common/program/slow_ranks.h"
#include "common/program/talk_pace.h"
#include "ffrt/comm.h"
#include "ffrt/program.h"

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace ffrt {

/// Watches how the ranks spend their steps, and has rank 0 say what slows a run
/// down: a rank that computes for longer than it should (SlowRanks), and data
/// that are not there in time.
///
/// A rank computes while it neither waits in communication nor for data. Of
/// programs for GPUs, whose ranks only start the work, that is not known. Ranks
/// tell each other every kWindow steps, or a few times a second if those
/// take less; only the steps just before are timed in parts.
class StepTimes {
public:
  /// `hosts` by rank, used on rank 0.
  StepTimes(Comm &comm, const Group &world, const ProgramInfo &info,
            std::vector<std::string> hosts);

  /// Before a step, and collective after it; `for_data`: how many seconds this
  /// rank has waited for data in all steps so far. They allocate nothing unless
  /// something is said.
  void begin();
  void end(double for_data);
  /// These seconds are none of steps.
  void leave_out(double seconds) { left_out += seconds; }
  /// Collective, after the last step.
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  /// What a rank tells.
  struct Told {
    double fitting = 0;  ///< steps in the time between two talks
    double for_data = 0; ///< seconds since the first talk
    double seconds = 0;  ///< since the first talk
    std::array<double, kWindow> computing{};
  };
  static_assert(sizeof(Told) == (3 + kWindow) * sizeof(double));

  void exchange();
  void talk();
  void say_slow_rank();
  /// Says how long data were waited for, if that is `least` of the time.
  void say_data(double least);

  Comm &comm;
  const Group &world;
  const bool sees_computing;
  const std::vector<std::string> hosts;
  SlowRanks slow;
  TalkPace pace;
  Clock::time_point began, first_talk;
  double waited = 0, for_data = 0, for_data_at_first = 0, left_out = 0;
  bool has_talked = false, has_said_data = false;
  Told mine;
  std::vector<Told> all;
  std::vector<double> computing; ///< of all, rank after rank
};

} // namespace ffrt

#endif // FFRT_COMMON_STEP_TIMES_H
