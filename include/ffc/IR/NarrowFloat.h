//===- NarrowFloat.h - numbers of 16 bits -----------------------*- C++ -*-===//
//
// bf16 and f16 where values are doubles.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_IR_NARROWFLOAT_H
#define FFC_IR_NARROWFLOAT_H

#include "ffc/Plan/Rules.h"

#include "llvm/ADT/APFloat.h"

namespace ffc::ff {

inline const llvm::fltSemantics &narrowSemantics(plan::ElementType type) {
  return type == plan::ElementType::F16 ? llvm::APFloat::IEEEhalf()
                                        : llvm::APFloat::BFloat();
}

/// The nearest number of `type`, bf16 or f16, ties to even.
inline uint16_t narrowBits(plan::ElementType type, double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(narrowSemantics(type), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

inline double fromNarrow(plan::ElementType type, uint16_t bits) {
  llvm::APFloat number(narrowSemantics(type), llvm::APInt(16, bits));
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

/// The nearest number of `type` as a double.
inline double narrowed(plan::ElementType type, double value) {
  return fromNarrow(type, narrowBits(type, value));
}

} // namespace ffc::ff

#endif // FFC_IR_NARROWFLOAT_H
