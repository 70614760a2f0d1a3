//===- report.h - what a run prints -----------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_REPORT_H
#define FFRT_COMMON_REPORT_H

#include "common/program/run_log.h"
#include "common/program/validation.h"
#include "ffrt/program.h"

#include <chrono>
#include <string>
#include <vector>

namespace ffrt {

/// Text of --info.
std::string describe(const ProgramInfo &info);

/// Prints on rank 0, for the first step of the run, every `frequency` steps and
/// the last:
///
///   step 1/20  loss 2.302585  12.3 ms/step  650.4 samples/s
///
/// (no loss in programs that do not train), with the mean time since the line
/// before, and at the end
///
///   done 20 steps in 0.246 s  12.3 ms/step  650.4 samples/s
class Report {
public:
  /// `first`: steps that an earlier run has done; `logs`: get the same numbers.
  Report(const ProgramInfo &info, bool quiet, int64_t first, int64_t steps,
         int64_t frequency, std::vector<StepLog *> logs = {});
  /// True if there is a line for step number `step`, counted from 1.
  bool is_due(int64_t step) const;
  /// Prints it when that step is done, and adds how long it took for the logs.
  void step(StepLog::Step done);
  /// Prints it, and does not count its time as that of steps.
  void validation(const Validated &validated);
  /// `last` is the last step that was done.
  void done(int64_t last);

private:
  using Clock = std::chrono::steady_clock;
  std::string pace(int64_t steps, double seconds) const;

  const ProgramInfo &info;
  bool quiet;
  int64_t first, steps, frequency;
  int64_t printed;
  Clock::time_point start, last;
  const std::vector<StepLog *> logs;
};

} // namespace ffrt

#endif // FFRT_COMMON_REPORT_H
