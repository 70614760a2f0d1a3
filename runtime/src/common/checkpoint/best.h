//===- best.h - the best validation of a run --------------------*- C++ -*-===//
#ifndef FFRT_COMMON_BEST_H
#define FFRT_COMMON_BEST_H

#include <cstdint>
#include <string>

namespace ffrt {

struct Best {
  std::string metric;
  double value = 0;
  int64_t step = 0;  ///< after which it was; 0: there is none yet
  int64_t since = 0; ///< validations after it
};

} // namespace ffrt

#endif // FFRT_COMMON_BEST_H
