//===- random.cpp - random words for the elements of a tile ---------------===//
#include "common/kernels/random.h"

namespace ffrt {

namespace {

constexpr int kLanes = 16;

/// The blocks of counters first, first + 1, ... in a form that vectorises.
void philox_blocks(uint64_t key, uint64_t step, uint64_t first,
                   uint32_t (&words)[kLanes * 4]) {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    c0[i] = uint32_t(first + i);
    c1[i] = uint32_t((first + i) >> 32);
    c2[i] = uint32_t(step);
    c3[i] = uint32_t(step >> 32);
  }
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      uint64_t p0 = uint64_t(0xD2511F53u) * c0[i];
      uint64_t p1 = uint64_t(0xCD9E8D57u) * c2[i];
      c0[i] = uint32_t(p1 >> 32) ^ c1[i] ^ k0;
      c1[i] = uint32_t(p1);
      c2[i] = uint32_t(p0 >> 32) ^ c3[i] ^ k1;
      c3[i] = uint32_t(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < kLanes; ++i) {
    words[4 * i] = c0[i];
    words[4 * i + 1] = c1[i];
    words[4 * i + 2] = c2[i];
    words[4 * i + 3] = c3[i];
  }
}

} // namespace

void philox_words(uint64_t key, uint64_t step, uint64_t first, uint64_t stride,
                  uint32_t *words, int64_t n) {
  if (stride != 1) {
    for (int64_t i = 0; i < n; ++i)
      words[i] = philox_word(key, first + uint64_t(i) * stride, step);
    return;
  }
  int64_t i = 0;
  for (; i < n && (first + i) % 4; ++i)
    words[i] = philox_word(key, first + i, step);
  while (i < n) {
    uint32_t block[kLanes * 4];
    philox_blocks(key, step, (first + i) / 4, block);
    for (int k = 0; k < kLanes * 4 && i < n; ++k, ++i)
      words[i] = block[k];
  }
}

} // namespace ffrt
