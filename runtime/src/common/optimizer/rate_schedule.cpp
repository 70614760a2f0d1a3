//===- rate_schedule.cpp - the learning rate over the steps ---------------===//
#include "common/optimizer/rate_schedule.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

double RateSchedule::at(int64_t step) const {
  if (step < warmup)
    return rate * double(step) / double(warmup);
  if (form == constant)
    return rate;
  const int64_t falling = std::max<int64_t>(steps - warmup, 1);
  const double done = std::min(1.0, double(step - warmup) / double(falling));
  const double left =
      form == linear ? 1.0 - done : 0.5 * (1.0 + std::cos(M_PI * done));
  return last + (rate - last) * left;
}

} // namespace ffrt
