//===- gather_elements.h - elements along one dimension ---------*- C++ -*-===//
//
// Every line along `axis` has indices of its own, i32 or i64, from 0 to below
// the number of positions or negative, counted from the end; others are errors.
// All tensors are row-major, and f32 but for the indices.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_GATHER_ELEMENTS_H
#define FFRT_GATHER_ELEMENTS_H

#include "ffrt/kernel.h"

namespace ffrt {

/// {x, indices} -> {y}: y[.., i, ..] = x[.., indices[.., i, ..], ..]. x holds
/// all positions along the axis.
class GatherElements {
public:
  GatherElements(Context &cx, Tensors in, Tensors out, int64_t axis);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
};

/// {indices, dy} -> {dx}: dx[.., indices[.., i, ..], ..] += dy[.., i, ..], from
/// 0. indices and dy hold all positions along the axis.
class GatherElementsBackward {
public:
  GatherElementsBackward(Context &cx, Tensors in, Tensors out, int64_t axis);
  void operator()(Tensors in, Tensors out);

private:
  /// What the call needs memory for.
  void reserve(const Tensor &dx, const Tensor &indices);

  int axis;
};

} // namespace ffrt

#endif // FFRT_GATHER_ELEMENTS_H
