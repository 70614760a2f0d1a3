//===- tensor.cpp - local view of a global tensor -------------------------===//
#include "ffrt/tensor.h"

namespace ffrt {

std::size_t size_of(DType type) {
  switch (type) {
  case DType::f32:
  case DType::i32:
    return 4;
  case DType::f64:
  case DType::i64:
    return 8;
  case DType::bf16:
  case DType::f16:
    return 2;
  case DType::u8:
  case DType::boolean:
    return 1;
  }
  return 0;
}

Index Tensor::strides() const {
  Index result;
  int64_t step = 1;
  bool last = order == Order::channels_last && rank >= 3;
  if (last) {
    result[1] = 1;
    step = shape[1];
  }
  for (int d = rank - 1; d >= 0; --d) {
    if (last && d == 1)
      continue;
    result[d] = step;
    step *= d == rank - 1 ? pitch() : shape[d];
  }
  return result;
}

} // namespace ffrt
