//===- ResizeTaps.h - what a position of a resize is made of ----*- C++ -*-===//
#ifndef FFC_IR_RESIZETAPS_H
#define FFC_IR_RESIZETAPS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace ffc::ff {

/// A position of the operand and its weight.
struct ResizeTap {
  int64_t position;
  double weight;
};

/// One dimension of a resize from extent `from` to `to`; the other members are
/// the operator's attributes.
struct ResizeDim {
  int64_t from, to;
  double scale;
  llvm::StringRef coordinates, mode, nearest;
  double cubicCoeffA = -0.75;
  bool excludesOutside = false;
  double begin = 0, end = 1; ///< the region, in parts of the operand
  bool antialiases = false;  ///< where it becomes smaller

  bool isCopied() const {
    return scale == 1 && from == to && begin == 0 && end == 1;
  }

  /// How much wider than between neighbours interpolation is.
  double spread() const;

  /// What result position `o` is made of. Positions are clamped to the operand,
  /// weights are not 0.
  llvm::SmallVector<ResizeTap, 4> taps(int64_t o) const;

  /// The same for all result positions.
  std::vector<llvm::SmallVector<ResizeTap, 4>> table() const;

private:
  /// The place in the operand of result position `o`.
  double coordinate(int64_t o) const;
  int64_t nearestTo(double x) const;
};

} // namespace ffc::ff

#endif // FFC_IR_RESIZETAPS_H
