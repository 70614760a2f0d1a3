//===- checksum.h - of values that several ranks write ----------*- C++ -*-===//
#ifndef FFRT_COMMON_CHECKSUM_H
#define FFRT_COMMON_CHECKSUM_H

#include "ffrt/tensor.h"

namespace ffrt {

/// A sum over the elements of a box, modulo 2^64, in which each counts by its
/// bits and its number in the whole value: the sums of boxes add up to that of
/// the value, however it is divided. `box` is row-major, in the host's memory;
/// its lo and global say where it lies.
uint64_t checksum(const Tensor &box);

} // namespace ffrt

#endif // FFRT_COMMON_CHECKSUM_H
