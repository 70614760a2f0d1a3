//===- validation_flags.h - evaluating while training -----------*- C++ -*-===//
#ifndef FFRT_COMMON_VALIDATION_FLAGS_H
#define FFRT_COMMON_VALIDATION_FLAGS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ffrt {

/// What the command line says about it.
struct ValidationFlags {
  std::string folder; ///< of samples; empty: not given
  double share = 0;   ///< of the data set, which is held out; 0: not given
  /// Steps; 0: whenever the data set has been gone through.
  int64_t every = 0;
  std::vector<std::string> metrics; ///< empty: the usual ones
  std::string best = "loss";        ///< which of them says what is best
  int64_t patience = 0; ///< validations without a better one; 0: any number

  bool given() const { return !folder.empty() || share > 0; }
};

} // namespace ffrt

#endif // FFRT_COMMON_VALIDATION_FLAGS_H
