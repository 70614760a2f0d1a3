//===- sample_order.cpp - the order of samples ----------------------------===//
//
// A Feistel network over the smallest even number of bits that holds all
// positions is a permutation of them; values past the end are sent through it
// again until they are in range, which keeps it one of the samples. The round
// functions are Philox under seed xor hash("shuffle"), of the half word in the
// low counter and (epoch, round) in the high one.
//
//===----------------------------------------------------------------------===//
#include "common/data/sample_order.h"

#include "ffrt/hash.h"
#include "ffrt/philox.h"

namespace ffrt {

namespace {
constexpr int kRounds = 8;
} // namespace

SampleOrder::SampleOrder(int64_t samples, bool shuffled, uint64_t seed)
    : samples(uint64_t(samples)), shuffled(shuffled),
      key(seed ^ hash_name("shuffle")) {
  while (uint64_t(1) << 2 * half_bits < this->samples)
    ++half_bits;
}

int64_t SampleOrder::at(int64_t epoch, int64_t position) const {
  if (!shuffled)
    return position;
  const uint64_t mask = (uint64_t(1) << half_bits) - 1;
  uint64_t value = uint64_t(position);
  do {
    uint64_t left = value >> half_bits, right = value & mask;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t word =
          philox(key, right, uint64_t(epoch) * kRounds + uint64_t(round))[0];
      const uint64_t next = left ^ (word & mask);
      left = right;
      right = next;
    }
    value = left << half_bits | right;
  } while (value >= samples);
  return int64_t(value);
}

} // namespace ffrt
