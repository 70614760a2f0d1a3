//===- same_bits.h - what bits are as another type --------------*- C++ -*-===//
#ifndef FFRT_SAME_BITS_H
#define FFRT_SAME_BITS_H

#include "ffrt/function.h"

#include <cstring>

namespace ffrt {

template <class To, class From> FFRT_FUNCTION To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "expected types of one size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

} // namespace ffrt

#endif // FFRT_SAME_BITS_H
