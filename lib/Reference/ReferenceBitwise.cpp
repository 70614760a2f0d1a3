//===- ReferenceBitwise.cpp - functions of bits ---------------------------===//
//
// Of integers as wide as in programs; the doubles of the evaluators hold those
// of 64 bits up to 2^53.
//
//===----------------------------------------------------------------------===//

#include "ReferenceFamilies.h"

#include "ffc/IR/FF.h"

#include <type_traits>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;

/// As the runtime has it, of integers as wide as `T`.
template <class T> static T bits(BitwiseKind kind, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const bool isInside = static_cast<U>(b) < 8 * sizeof(T);
  switch (kind) {
  case BitwiseKind::And:
    return static_cast<T>(a & b);
  case BitwiseKind::Or:
    return static_cast<T>(a | b);
  case BitwiseKind::Xor:
    return static_cast<T>(a ^ b);
  case BitwiseKind::ShiftLeft:
    return isInside ? static_cast<T>(static_cast<U>(a) << b) : 0;
  case BitwiseKind::ShiftRight:
    return isInside ? static_cast<T>(a >> b) : static_cast<T>(a < 0 ? -1 : 0);
  case BitwiseKind::ShiftRightUnsigned:
    return isInside ? static_cast<T>(static_cast<U>(a) >> b) : 0;
  }
  llvm_unreachable("unknown kind");
}

/// The element that an operand of lower rank, or of extents of 1, has for a
/// result's.
static double broadcastAt(const View &view, ArrayRef<int64_t> index) {
  llvm::SmallVector<int64_t> own(index.take_back(view.global().size()).begin(),
                                 index.end());
  for (size_t d = 0; d < own.size(); ++d)
    if (view.global()[d] == 1)
      own[d] = 0;
  return view.at(own);
}

template <class T> static void bitsOf(const ReferenceCall &call) {
  const auto kind = static_cast<BitwiseKind>(call.i64("kind"));
  // By way of 64 bits: what is too large loses its upper ones.
  const auto number = [&](size_t operand, ArrayRef<int64_t> i) {
    return static_cast<T>(
        static_cast<int64_t>(broadcastAt(call.ins[operand], i)));
  };
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) =
        static_cast<double>(bits<T>(kind, number(0, i), number(1, i)));
  });
}

static void bitwise(const ReferenceCall &call) {
  if (call.type == plan::ElementType::U8)
    bitsOf<uint8_t>(call);
  else if (call.type == plan::ElementType::I32)
    bitsOf<int32_t>(call);
  else
    bitsOf<int64_t>(call);
}

void ff::registerReferenceBitwise() { registerReference("bitwise", bitwise); }
