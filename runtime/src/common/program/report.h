//===- report.h - what a run prints -----------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_REPORT_H
#define FFRT_COMMON_REPORT_H

#include "common/program/live_line.h"
#include "common/program/run_log.h"
#include "common/program/validation.h"
#include "ffrt/program.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace ffrt {

/// Text of --info.
std::string describe(const ProgramInfo &info);

/// How a run shows its steps.
enum class Show {
  nothing,
  lines,
  live, ///< one line of a terminal, which changes
};

/// What rank 0 tells of steps. Lines, for the first step of the run, every
/// `frequency` steps and the last:
///
///   step 1/20  loss 2.302585  12.3 ms/step  650.4 samples/s
///
/// (no loss in programs that do not train), with the mean time since the line
/// before; or a live line (live_line.h) several times a second. And at the end
///
///   done 20 steps in 0.246 s  12.3 ms/step  650.4 samples/s
///
/// Logs get what lines say, whatever is shown.
class Report {
public:
  /// `first`: steps that an earlier run has done; `logs`: get the same numbers.
  /// On other ranks than 0, which are not `active`, it does nothing.
  Report(const ProgramInfo &info, bool active, Show show, int64_t first,
         int64_t steps, int64_t frequency, std::vector<StepLog *> logs = {});
  /// True if something is to be told of step number `step`, counted from 1.
  bool is_due(int64_t step) const;
  /// The losses of all steps so far, for their mean.
  void losses(const std::vector<double> &all) { smoothed.follow(all); }
  /// A figure that is shown in the live line from now on, such as one of a
  /// validation.
  void metric(const std::string &name, double value);
  /// Tells of it when that step is done, and adds how long it took; `for_data`:
  /// how many seconds have been waited for data in all steps so far.
  void step(StepLog::Step done, double for_data);
  /// Prints it, and does not count its time as that of steps.
  void validation(const Validated &validated);
  /// `last` is the last step that was done.
  void done(int64_t last);

private:
  using Clock = std::chrono::steady_clock;
  bool has_line(int64_t step) const;
  std::string pace(int64_t steps, double seconds) const;
  void show_live(const StepLog::Step &done, Clock::time_point now);

  const ProgramInfo &info;
  const bool active;
  const Show show;
  const int64_t first, steps, frequency;
  int64_t printed, shown; ///< steps
  Clock::time_point start, last, last_shown;
  const std::vector<StepLog *> logs;
  Smoothed smoothed;
  std::vector<std::pair<std::string, double>> metrics;
  double step_seconds = 0;    ///< of the last few
  double waited_for_data = 0; ///< up to the last line
};

/// Tokens of a step where the inputs are texts, [samples, T] integers; else 0.
int64_t tokens_of_step(const ProgramInfo &info);

} // namespace ffrt

#endif // FFRT_COMMON_REPORT_H
