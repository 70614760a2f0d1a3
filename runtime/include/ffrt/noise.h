//===- noise.h - random numbers ---------------------------------*- C++ -*-===//
#ifndef FFRT_NOISE_H
#define FFRT_NOISE_H

#include "ffrt/kernel.h"

namespace ffrt {

/// {x} -> {y} of one shape and order: y = x + r, where r is random and, by
/// `kind`, 0: uniform in [0, 1), 1: normal with mean 0 and variance 1. The
/// number of global element e follows from seed xor key, e and step as in
/// philox.h; `key` is the hash of the node's name.
class Noise {
public:
  Noise(Context &cx, Tensors in, Tensors out, int64_t key, int64_t kind);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  uint64_t key;
  bool is_normal;
};

} // namespace ffrt

#endif // FFRT_NOISE_H
