//===- resize.h - which elements a resize interpolates ----------*- C++ -*-===//
#ifndef FFRT_COMMON_RESIZE_H
#define FFRT_COMMON_RESIZE_H

#include "ffrt/real.h"
#include "ffrt/resize.h"

#include <vector>

namespace ffrt {

/// What the positions of one dimension of a tile are made of.
struct ResizeTable {
  /// Position i is made of entries starts[i] to before starts[i + 1].
  Ints starts = {0};
  Ints positions; ///< local ones of the operand
  std::vector<Real> weights;
  bool copies = true; ///< position i is operand position i
};

/// What a target computes with, from a table per dimension.
struct ResizePlan;
std::shared_ptr<const ResizePlan> plan_resize(std::vector<ResizeTable> tables);

} // namespace ffrt

#endif // FFRT_COMMON_RESIZE_H
