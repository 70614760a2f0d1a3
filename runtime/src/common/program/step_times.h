//===- step_times.h - what steps wait for -----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_STEP_TIMES_H
#define FFRT_COMMON_STEP_TIMES_H

#include "common/program/device_probe.h"
#include "common/program/instance.h"
#include "common/program/link_watch.h"
#include "common/program/outliers.h"
#include "common/program/rank_map.h"
#include "common/program/talk_pace.h"
#include "ffrt/comm.h"
#include "ffrt/program.h"

#include <array>
#include <chrono>
#include <optional>
#include <vector>

namespace ffrt {

/// Watches how the ranks spend their steps, and has rank 0 say what slows a run
/// down: a rank that is slower than it should be (Outliers), a link that is
/// (LinkWatch), and data that are not there in time.
///
/// A rank computes while it neither waits in communication nor for data. Ranks
/// with a GPU only start the work; what their GPUs take for something that is
/// always the same is measured instead, between steps (DeviceProbe). Ranks tell
/// each other every kWindow steps, or a few times a second if those take less;
/// only the steps just before are timed in parts, and links watched behind
/// them.
class StepTimes {
public:
  /// For so many steps of `instance`. `places` are those of all ranks. All
  /// arguments must outlive it. Collective.
  StepTimes(Comm &comm, const Group &world, const ProgramInfo &info,
            const std::vector<RankPlace> &places, Instance &instance,
            Context &context, int64_t steps);

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
  using Window = std::array<double, kWindow>;
  /// What a rank tells.
  struct Told {
    double fitting = 0;  ///< steps in the time between two talks
    double for_data = 0; ///< seconds since the first talk
    double seconds = 0;  ///< since the first talk
    double since = 0;    ///< seconds since the last talk
    Window computing{};  ///< of each step
    Window exchanging{}; ///< behind each step, for links to be watched
  };
  static_assert(sizeof(Told) == (4 + 2 * kWindow) * sizeof(double));

  std::vector<Outliers::Expected> expected_of_ranks(const ProgramInfo &info);
  bool is_timed() const { return pace.left() <= kWindow; }
  void exchange();
  void talk();
  /// One window of all ranks, rank after rank.
  const double *all_of(Window Told::*window);
  void say_slow_ranks();
  /// Says how long data were waited for, if that is `least` of the time.
  void say_data(double least);

  Comm &comm;
  const Group &world;
  const std::vector<RankPlace> &places;
  const bool sees_computing;
  Outliers ranks;
  std::optional<LinkWatch> links;    ///< nothing: there is none to watch
  std::optional<DeviceProbe> device; ///< the same
  TalkPace pace;
  Clock::time_point began, first_talk, last_talk;
  double waited = 0, for_data = 0, for_data_at_first = 0, left_out = 0;
  bool has_talked = false, has_said_data = false;
  Told mine;
  std::vector<Told> all;
  std::vector<double> gathered; ///< by all_of()
};

} // namespace ffrt

#endif // FFRT_COMMON_STEP_TIMES_H
