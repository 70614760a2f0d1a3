//===- checksum.cpp - of values that several ranks write ------------------===//
#include "common/checkpoint/checksum.h"

#include "common/checkpoint/box_rows.h"

#include <cstring>

namespace ffrt {

namespace {

/// Of n neighbours, the first with number `number` in its value: the sum of
/// words times odd weights that look random, one multiplication each, so that
/// it takes little from the steps that run beside it. One changed word always
/// changes the sum; of several, the chance that they do not is about 2^-32.
template <class Word>
uint64_t sum_of_row(const std::byte *row, std::size_t n, uint64_t number) {
  static_assert(sizeof(Word) <= 4, "two high bits of wider ones would cancel");
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15u; // 2^64 by the golden ratio
  uint64_t sum = 0, at = number * kStep;
  for (std::size_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, row + i * sizeof word, sizeof word);
    at += kStep;
    sum += uint64_t(word) * (uint32_t(at ^ (at >> 32)) | 1);
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
  default: // of 4 bytes, or halves
    return sum_of_row<uint32_t>(row, n * size / 4, number * size / 4);
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
