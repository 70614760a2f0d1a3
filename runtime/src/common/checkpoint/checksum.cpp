//===- checksum.cpp - of values that several ranks write ------------------===//
#include "common/checkpoint/checksum.h"

#include "common/checkpoint/box_rows.h"

#include <cstring>

namespace ffrt {

namespace {

/// Every bit of x changes half of the result's (the finalizer of MurmurHash3).
uint64_t mixed(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

/// Of n neighbours, the first with number `number` in its value.
template <class Word>
uint64_t sum_of_row(const std::byte *row, std::size_t n, uint64_t number) {
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15u; // odd: no two numbers meet
  uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, row + i * sizeof word, sizeof word);
    sum += mixed(word + (number + i + 1) * kStep);
  }
  return sum;
}

uint64_t sum_of_row(const std::byte *row, std::size_t n, uint64_t number,
                    std::size_t size) {
  switch (size) {
  case 1:
    return sum_of_row<uint8_t>(row, n, number);
  case 2:
    return sum_of_row<uint16_t>(row, n, number);
  case 4:
    return sum_of_row<uint32_t>(row, n, number);
  default:
    return sum_of_row<uint64_t>(row, n, number);
  }
}

} // namespace

uint64_t checksum(const Tensor &box) {
  const std::size_t size = size_of(box.type);
  uint64_t sum = 0;
  for_rows(box, [&](const std::byte *row, std::size_t n, std::size_t number) {
    sum += sum_of_row(row, n, number, size);
  });
  return sum;
}

} // namespace ffrt
