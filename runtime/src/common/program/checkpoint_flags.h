//===- checkpoint_flags.h - what is asked of checkpoints --------*- C++ -*-===//
#ifndef FFRT_COMMON_CHECKPOINT_FLAGS_H
#define FFRT_COMMON_CHECKPOINT_FLAGS_H

#include <cstdint>
#include <string>

namespace ffrt {

struct CheckpointFlags {
  std::string folder; ///< empty: there are none
  int64_t steps = 0;  ///< every so many; 0: not given
  double seconds = 0; ///< every so many; 0: not given
  int64_t keep = 3;   ///< of the newest
};

} // namespace ffrt

#endif // FFRT_COMMON_CHECKPOINT_FLAGS_H
