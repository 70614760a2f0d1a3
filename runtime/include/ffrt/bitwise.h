//===- bitwise.h - functions of bits ----------------------------*- C++ -*-===//
#ifndef FFRT_BITWISE_H
#define FFRT_BITWISE_H

#include "ffrt/function.h"
#include "ffrt/kernel.h"

#include <type_traits>

namespace ffrt {

/// What Bitwise computes, by the numbers of ff::BitwiseKind
/// (FFElementwiseOps.td).
enum class BitFunction : int {
  bit_and = 0,
  bit_or = 1,
  bit_xor = 2,
  shift_left = 3,
  shift_right = 4,          ///< fills with the sign
  shift_right_unsigned = 5, ///< fills with zeros
};

/// Shifts by less than 0 or by all bits leave what they fill with.
template <class T>
FFRT_FUNCTION inline T bit_function(BitFunction f, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const bool inside = U(b) < 8 * sizeof(T);
  switch (f) {
  case BitFunction::bit_and:
    return T(a & b);
  case BitFunction::bit_or:
    return T(a | b);
  case BitFunction::bit_xor:
    return T(a ^ b);
  case BitFunction::shift_left:
    return inside ? T(U(a) << b) : T(0);
  case BitFunction::shift_right:
    return inside ? T(a >> b) : T(a < 0 ? -1 : 0);
  case BitFunction::shift_right_unsigned:
    return inside ? T(U(a) >> b) : T(0);
  }
  return T(0);
}

/// {a, b} -> {y} of one type, u8, i32 or i64, with numpy broadcasting as
/// Broadcast has it: number `kind` of BitFunction.
class Bitwise {
public:
  Bitwise(Context &cx, Tensors in, Tensors out, int64_t kind);
  void operator()(Tensors in, Tensors out);

private:
  BitFunction kind;
};

} // namespace ffrt

#endif // FFRT_BITWISE_H
