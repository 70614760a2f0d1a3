//===- sample_order.h - the order of samples --------------------*- C++ -*-===//
#ifndef FFRT_COMMON_SAMPLE_ORDER_H
#define FFRT_COMMON_SAMPLE_ORDER_H

#include <cstdint>

namespace ffrt {

/// A permutation of the samples for every epoch, which depends on the seed and
/// the epoch alone; or their own order. Needs no memory: any rank may ask for
/// any part.
class SampleOrder {
public:
  SampleOrder(int64_t samples, bool shuffled, uint64_t seed);
  /// The sample at `position` < samples of `epoch`.
  int64_t at(int64_t epoch, int64_t position) const;

private:
  uint64_t samples;
  bool shuffled;
  uint64_t key;
  int half_bits = 1;
};

} // namespace ffrt

#endif // FFRT_COMMON_SAMPLE_ORDER_H
