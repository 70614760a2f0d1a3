//===- BFloat16.h - numbers of 16 bits --------------------------*- C++ -*-===//
//
// Internal to IR: bf16 where values are doubles.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IR_BFLOAT16_H
#define FFC_LIB_IR_BFLOAT16_H

#include "llvm/ADT/APFloat.h"

namespace ffc::ff {

/// The nearest bf16, ties to even.
inline uint16_t bfloat16Bits(double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

inline double fromBFloat16(uint16_t bits) {
  return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

} // namespace ffc::ff

#endif // FFC_LIB_IR_BFLOAT16_H
