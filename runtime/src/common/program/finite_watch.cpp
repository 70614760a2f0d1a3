//===- finite_watch.cpp - losses and states that are not finite -----------===//
#include "common/program/finite_watch.h"

#include "common/device/target.h"
#include "common/program/together.h"
#include "ffrt/result_check.h"

#include <cmath>

namespace ffrt {

namespace {

/// Of the time, for looks at states.
constexpr double kShare = 0.002;

constexpr const char *kLosses[] = {"nan", "inf", "-inf"};

int64_t kind_of(double loss) { return std::isnan(loss) ? 0 : loss > 0 ? 1 : 2; }

} // namespace

FiniteWatch::FiniteWatch(Comm &comm, const Group &world, LossLog *losses,
                         const std::vector<StateSlot> &slots)
    : comm(comm), world(world), losses(losses) {
  for (const StateSlot &slot : slots)
    if (slot.kind != StateKind::constant && !find_bad_values(slot.tensor))
      states.push_back(&slot);
}

const StateSlot *FiniteWatch::bad_state() {
  const Clock::time_point begin = Clock::now();
  const StateSlot *bad = nullptr;
  for (const StateSlot *slot : states)
    if (!bad && find_bad_values(slot->tensor))
      bad = slot;
  const Clock::time_point end = Clock::now();
  next_states =
      end + std::chrono::duration_cast<Clock::duration>((end - begin) / kShare);
  return bad;
}

void FiniteWatch::look(int64_t step, bool at_all) {
  finish_target(); // others may wait for what this rank has started
  // The largest of all ranks: the step, which loss, is it a state, the pace.
  int64_t said[4] = {0, 0, 0, int64_t(pace.fitting())};
  if (losses) {
    const std::vector<double> &all = losses->of_steps();
    said[0] = losses->first_bad();
    if (said[0] > 0)
      said[1] = kind_of(all[std::size_t(said[0] - 1)]);
  }
  if (at_all || Clock::now() >= next_states)
    said[2] = bad_state() != nullptr;
  comm.wait(comm.all_reduce("finite values", world, flat(said, DType::i64, 4),
                            ReduceOp::max));
  pace.talk(double(said[3]));
  if (said[0] > 0)
    throw BadStep{said[0],
                  "the loss of step " + std::to_string(said[0]) + " is " +
                      kLosses[said[1]],
                  true};
  if (said[2] > 0)
    throw BadStep{step,
                  "after step " + std::to_string(step) +
                      " a parameter is not finite",
                  false};
}

void FiniteWatch::look_at_states(int64_t step) {
  int64_t bad = bad_state() != nullptr;
  comm.wait(comm.all_reduce("finite values", world, flat(&bad, DType::i64, 1),
                            ReduceOp::max));
  if (bad > 0)
    throw BadStep{step,
                  "step " + std::to_string(step) +
                      " makes a parameter that is not finite",
                  true};
}

} // namespace ffrt
