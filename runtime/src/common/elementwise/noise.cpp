//===- noise.cpp - operands of random numbers -----------------------------===//
#include "ffrt/noise.h"

#include "common/elementwise/check_elementwise.h"
#include "common/kernels/check.h"

namespace ffrt {

Noise::Noise(Context &cx, Tensors in, Tensors out, int64_t key, int64_t kind)
    : cx(cx), key(uint64_t(key)), is_normal(kind == 1) {
  check_elementwise(in, out, 1);
  expect("noise", kind == 0 || kind == 1,
         "kind: expected 0 or 1, found " + std::to_string(kind));
}

} // namespace ffrt
