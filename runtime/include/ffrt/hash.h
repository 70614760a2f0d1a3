//===- hash.h - hash of names -----------------------------------*- C++ -*-===//
#ifndef FFRT_HASH_H
#define FFRT_HASH_H

#include <cstdint>
#include <string_view>

namespace ffrt {

/// 64-bit FNV-1a: start with 0xcbf29ce484222325; for every byte, xor it in,
/// then multiply by 0x100000001b3 modulo 2^64. The compiler computes the same
/// function for the `key` attribute of dropout.
constexpr uint64_t hash_name(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

} // namespace ffrt

#endif // FFRT_HASH_H
