//===- TimingProblem.h - timed tasks that a person writes -------*- C++ -*-===//
//
// A text form of what the simulator sweeps over (TimedTask.h), so that its
// rules can be looked at, tried out and tested with exact times. The format is
// in docs/timeline.md.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_TIMINGPROBLEM_H
#define FFC_PLAN_TIMINGPROBLEM_H

#include "ffc/Plan/TimedTask.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

struct TimingProblem {
  int numDevices = 0;
  bool overlap = false; ///< communication runs beside computation
  TimedTasks tasks;
  std::vector<std::string> labels; ///< "local a", by part

  /// The contents of a file. On failure returns nothing and sets `error`
  /// ("FILE:LINE: ...").
  static std::optional<TimingProblem> parse(const std::string &text,
                                            const std::string &fileName,
                                            std::string &error);
  /// The same of the file at `path`.
  static std::optional<TimingProblem> load(const std::string &path,
                                           std::string &error);
};

struct PartTime {
  Picoseconds start = 0, end = 0;
};

/// By part.
std::vector<PartTime> timeProblem(const TimingProblem &problem);

} // namespace ffc::plan

#endif // FFC_PLAN_TIMINGPROBLEM_H
