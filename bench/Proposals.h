//===- Proposals.h - proposals, timed by delta or from nothing --*- C++ -*-===//
#ifndef FFC_BENCH_PROPOSALS_H
#define FFC_BENCH_PROPOSALS_H

#include "ffc/Search/Space.h"

#include <algorithm>
#include <ctime>
#include <numeric>
#include <vector>

namespace ffc::bench {

/// What the process has been running for, whatever else the machine does.
inline int64_t processNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

/// How proposals are timed.
struct Way {
  const char *name;
  bool full;    ///< all is looked up and swept, as without deltas
  bool limited; ///< no more than shows that a proposal is over its limit
};
constexpr Way kWays[] = {{"delta", false, false},
                         {"delta_early", false, true},
                         {"full", true, false},
                         {"full_early", true, true}};

/// A strategy, and proposals to it.
class Stepper {
public:
  Stepper(plan::SegmentTable &table, const std::vector<plan::ConfigId> &start,
          Way way)
      : way(way), timer(table, start), configs(start), next(start),
        current(timer.makespan()) {}

  plan::Picoseconds makespan() const { return current; }
  const std::vector<plan::ConfigId> &strategy() const { return configs; }

  /// Its makespan; with a way that is limited some number over `limit` if it is
  /// over that.
  plan::Picoseconds propose(const std::vector<plan::StepTimer::Change> &changes,
                            plan::Picoseconds limit) {
    if (!way.limited)
      limit = plan::kNoLimit;
    if (!way.full)
      return proposed = timer.propose(changes, limit);
    for (auto [op, config] : changes)
      next[op] = config;
    return proposed = timer.restart(next, limit);
  }
  void end(const std::vector<plan::StepTimer::Change> &changes, bool accepts) {
    if (!way.full)
      accepts ? timer.accept() : timer.reject();
    for (auto [op, config] : changes)
      accepts ? configs[op] = config : next[op] = configs[op];
    if (accepts)
      current = proposed;
  }

private:
  Way way;
  plan::StepTimer timer;
  std::vector<plan::ConfigId> configs, next;
  plan::Picoseconds current, proposed = 0;
};

} // namespace ffc::bench

#endif // FFC_BENCH_PROPOSALS_H
