//===- bitwise.cpp - operands of functions of bits ------------------------===//
#include "ffrt/bitwise.h"

#include "common/elementwise/check_elementwise.h"
#include "common/kernels/check.h"

namespace ffrt {

Bitwise::Bitwise(Context &, Tensors in, Tensors out, int64_t kind)
    : kind(BitFunction(kind)) {
  check_broadcast("bitwise", in, out, 2);
  const DType type = out.begin()->type;
  expect("bitwise",
         type == DType::u8 || type == DType::i32 || type == DType::i64,
         "expected a result of u8, i32 or i64");
  expect("bitwise", kind >= 0 && kind <= 5,
         "kind: expected 0 to 5, found " + std::to_string(kind));
}

} // namespace ffrt
