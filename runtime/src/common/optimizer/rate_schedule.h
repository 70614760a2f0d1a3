//===- rate_schedule.h - the learning rate over the steps -------*- C++ -*-===//
#ifndef FFRT_COMMON_RATE_SCHEDULE_H
#define FFRT_COMMON_RATE_SCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

namespace ffrt {

/// How the rate changes, as --lr-schedule has it; n counts steps from the end
/// of the warm-up.
struct RateForm {
  enum Kind {
    constant,
    linear,     ///< falls to `last` at the last step
    cosine,     ///< as a half wave; "cosine:N": in N steps, then anew
    polynomial, ///< "polynomial:P": by the P-th power of the share that is left
    stepwise,   ///< "step:N:F": times F every N steps
    multi_step, ///< "multi-step:N,N,...:F": times F at these
    exponential, ///< "exponential:F": times F every step
    /// Rises from a 25th over 30 % of the steps, then falls, both as half waves
    /// (Smith, Super-Convergence, 2018, as PyTorch's OneCycleLR has it).
    one_cycle,
    /// "wsd:F": stays, and falls in proportion over the last share F of the
    /// steps (warm-up, stable, decay).
    stable_decay,
  };
  Kind kind = constant;
  std::vector<int64_t> steps; ///< N
  double factor = 0;          ///< P or F

  bool operator==(const RateForm &other) const {
    return kind == other.kind && steps == other.steps && factor == other.factor;
  }
  /// Does it end at RateSchedule::last?
  bool has_last() const {
    return kind != constant && kind != stepwise && kind != multi_step &&
           kind != exponential;
  }
};

/// The form of a text. Throws Error "expected ..., found 'TEXT'".
RateForm parse_rate_form(const std::string &text);
/// The reverse.
std::string to_string(const RateForm &form);

/// Rises in proportion over the first `warmup` steps, from 0, then goes on as
/// the form says, until step `steps`, the first that is not done.
struct RateSchedule {
  RateForm form;
  double rate = 0, last = 0;
  int64_t warmup = 0, steps = 0;

  /// Of a step, counted from 0.
  double at(int64_t step) const;

private:
  double one_cycle(double n, double all) const;
};

} // namespace ffrt

#endif // FFRT_COMMON_RATE_SCHEDULE_H
