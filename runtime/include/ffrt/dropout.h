//===- dropout.h - dropout --------------------------------------*- C++ -*-===//
#ifndef FFRT_DROPOUT_H
#define FFRT_DROPOUT_H

#include "ffrt/kernel.h"
#include "ffrt/real.h"

namespace ffrt {

/// {x, addend?} -> {y}: y = (keep ? x / (1 - ratio) : 0) + addend. The backward
/// pass is the same kernel with the same key on the gradient. Global element e
/// is kept when unit_interval(philox_word(seed xor key, e, step)) >= ratio; see
/// philox.h. `key` is the hash of the node's name; seed and step come from the
/// context. All have one shape and order. They are f32, bf16 or f16, of at most
/// one type besides f32: the kernel computes in f32 and rounds y once.
class Dropout {
public:
  Dropout(Context &cx, Tensors in, Tensors out, int64_t key, double ratio);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  uint64_t key;
  Real ratio;
};

} // namespace ffrt

#endif // FFRT_DROPOUT_H
