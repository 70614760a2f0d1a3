//===- conv_geometry.h - local geometry of convolution tiles ----*- C++ -*-===//
//
// Turns boxes and global attributes into a self-contained convolution: part of
// the input rows and output rows, and the zero padding around them. Paddings
// come out non-negative, as oneDNN wants them.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_CONV_GEOMETRY_H
#define FFRT_COMMON_CONV_GEOMETRY_H

#include "ffrt/kernel.h"

namespace ffrt {

/// One spatial axis of an operator.
struct ConvAxis {
  int64_t kernel, stride, dilation, pad;
};

/// Rows [begin, end) in global coordinates.
struct Rows {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
};

/// The sub-convolution of one axis; empty `in` or `out` means no contribution.
struct AxisPlan {
  Rows in, out;
  int64_t pad_begin, pad_end;
};

/// For forward and weight gradient: all rows `out` from the rows held, `in`.
AxisPlan plan_forward(const ConvAxis &axis, Rows in, Rows out);

/// For the data gradient: the part of rows `in` that rows `out` contribute to,
/// and the part of `out` that does.
AxisPlan plan_backward(const ConvAxis &axis, Rows in, Rows out);

} // namespace ffrt

#endif // FFRT_COMMON_CONV_GEOMETRY_H
