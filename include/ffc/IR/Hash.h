//===- Hash.h - hash of names -----------------------------------*- C++ -*-===//
#ifndef FFC_IR_HASH_H
#define FFC_IR_HASH_H

#include <cstdint>
#include <string_view>

namespace ffc::ff {

/// 64-bit FNV-1a, the function of ffrt/hash.h: the `key` of a dropout and the
/// streams of initial values are hashes of names, in compiler and program
/// alike.
constexpr uint64_t hashName(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

} // namespace ffc::ff

#endif // FFC_IR_HASH_H
