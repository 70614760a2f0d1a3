//===- recovery.h - what --on-nan asks for ----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_RECOVERY_H
#define FFRT_COMMON_RECOVERY_H

#include "common/program/finite_watch.h"
#include "common/program/progress.h"
#include "common/program/repeat.h"

#include <set>

namespace ffrt {

/// What becomes of a run with a loss or parameter that is not finite.
enum class OnNan {
  stop,     ///< it ends with what was found about the cause
  skip,     ///< goes back to a checkpoint, and does all steps but the bad one
  rollback, ///< goes back to a checkpoint, and on with the data behind the step
};

/// "stop", "skip", "rollback"
OnNan parse_on_nan(const std::string &flag, const std::string &text);

/// Goes on after bad steps. All ranks do the same.
class Recovery {
public:
  /// From one checkpoint on.
  static constexpr int kMost = 10;

  Recovery(Comm &comm, const Group &world, OnNan how, int64_t batch)
      : comm(comm), world(world), how(how), batch(batch) {}

  /// Collective. The first bad step up to `bad`, which may not be the first.
  /// The state is that after step `from`, and any other afterwards.
  BadStep find_first(const BadStep &bad, int64_t from, const Progress &progress,
                     Repeat &repeat, FiniteWatch &watch,
                     const std::function<void(int64_t step)> &begin_step);
  /// Collective. The state is that after step `from`; `progress` becomes that
  /// of the rest of the run. Throws Stop after the last one that is allowed.
  void go_on(const BadStep &bad, int64_t from, const std::string &path,
             Progress &progress, Repeat &repeat,
             const std::function<void(int64_t step)> &begin_step);

private:
  /// All steps up to `last` but the bad ones.
  void repeat_good(int64_t from, int64_t last, const Progress &progress,
                   Repeat &repeat, const Repeat::Hooks &hooks) const;
  void count(const BadStep &bad, int64_t from, const std::string &path);

  Comm &comm;
  const Group &world;
  const OnNan how;
  const int64_t batch;
  std::set<int64_t> bad_steps; ///< all of the run
  int64_t last_from = -1;
  int counted = 0; ///< from `last_from` on
};

} // namespace ffrt

#endif // FFRT_COMMON_RECOVERY_H
