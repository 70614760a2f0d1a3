//===- ReshapeSpace.h - common factors of two shapes ------------*- C++ -*-===//
#ifndef FFC_LIB_IR_RESHAPESPACE_H
#define FFC_LIB_IR_RESHAPESPACE_H

#include "ffc/Plan/Rules.h"

namespace ffc::ff {

/// The iteration space of a reshape: factors whose mixed-radix number, the
/// first most significant, is the row-major element number of both tensors.
struct ReshapeSpace {
  struct Factor {
    int64_t extent = 1;
    /// False for the rest of dimensions that have no common refinement.
    bool splittable = true;
    /// Dimension of either tensor of which this is the leading factor, or -1;
    /// -1 if it cannot be split.
    int leadsX = -1, leadsY = -1;
  };
  std::vector<Factor> factors;
  /// How the tensors' dimensions are made of the factors.
  std::vector<plan::DimMap> x, y;
};

/// The coarsest common refinement of two shapes with equally many elements and
/// no empty dimension. At most plan::kMaxRank factors.
ReshapeSpace reshapeSpace(const plan::Shape &x, const plan::Shape &y);

} // namespace ffc::ff

#endif // FFC_LIB_IR_RESHAPESPACE_H
