//===- progress.h - where a run stands in its data --------------*- C++ -*-===//
#ifndef FFRT_COMMON_PROGRESS_H
#define FFRT_COMMON_PROGRESS_H

#include <cstdint>

namespace ffrt {

/// How many samples a run has taken. Steps count from 1.
struct Progress {
  int64_t first_step = 0, first_sample = 0; ///< done before this run
  int64_t samples_per_step = 0;
  int64_t samples_per_epoch = 0; ///< 0: there is no such thing

  int64_t samples_after(int64_t step) const {
    return first_sample + (step - first_step) * samples_per_step;
  }
  /// Passes over the data set; 0 where there is none.
  double epoch_after(int64_t step) const {
    return samples_per_epoch > 0
               ? double(samples_after(step)) / double(samples_per_epoch)
               : 0.0;
  }
};

} // namespace ffrt

#endif // FFRT_COMMON_PROGRESS_H
