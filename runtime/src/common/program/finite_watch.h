//===- finite_watch.h - losses and states that are not finite ---*- C++ -*-===//
#ifndef FFRT_COMMON_FINITE_WATCH_H
#define FFRT_COMMON_FINITE_WATCH_H

#include "common/program/loss_log.h"
#include "common/program/talk_pace.h"
#include "ffrt/comm.h"
#include "ffrt/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ffrt {

/// Thrown on all ranks after the same step.
struct BadStep {
  int64_t step;     ///< from 1
  std::string what; ///< "the loss of step 3 is nan"
  /// It is the first one. Else one before may have been bad, too.
  bool first;
};

/// Looks whether losses, parameters and slots are finite. Losses are there
/// anyway, and rank 0 reads them as often as ranks talk (TalkPace). States are
/// read every now and then, so that it takes a five-hundredth of the time.
class FiniteWatch {
public:
  /// What is not finite now may be so for ever. `losses`: null but on rank 0.
  /// All arguments must outlive it.
  FiniteWatch(Comm &comm, const Group &world, LossLog *losses,
              const std::vector<StateSlot> &states);

  /// Collective, after step number `step`, from 1. Throws BadStep.
  void after_step(int64_t step) {
    if (pace.is_due())
      look(step, false);
  }
  /// The same at once, at everything: before something is written that a bad
  /// step has had a part in.
  void look(int64_t step) { look(step, true); }
  /// Collective: at states alone, after every step.
  void look_at_states(int64_t step);

private:
  using Clock = TalkPace::Clock;
  void look(int64_t step, bool at_all);
  /// The first that is not finite any more; null.
  const StateSlot *bad_state();

  Comm &comm;
  const Group &world;
  LossLog *const losses;
  std::vector<const StateSlot *> states; ///< that are looked at
  TalkPace pace;
  Clock::time_point next_states = Clock::now();
};

} // namespace ffrt

#endif // FFRT_COMMON_FINITE_WATCH_H
