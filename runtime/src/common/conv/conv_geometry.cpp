//===- conv_geometry.cpp - local geometry of convolution tiles ------------===//
#include "common/conv/conv_geometry.h"

#include <algorithm>

namespace ffrt {

namespace {

/// First and last input row that the windows of `out` span.
Rows span(const ConvAxis &axis, Rows out) {
  int64_t first = out.begin * axis.stride - axis.pad;
  int64_t last = (out.end - 1) * axis.stride - axis.pad +
                 (axis.kernel - 1) * axis.dilation;
  return {first, last + 1};
}

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// Paddings that extend `in` to the span of `out`. Up to stride - 1 more input
/// rows than the span are allowed at the end, no window reads them.
AxisPlan with_pads(Rows in, Rows out, Rows spanned) {
  return {in, out, in.begin - spanned.begin,
          std::max<int64_t>(0, spanned.end - in.end)};
}

} // namespace

AxisPlan plan_forward(const ConvAxis &axis, Rows in, Rows out) {
  if (in.empty() || out.empty())
    return {{0, 0}, {0, 0}, 0, 0};
  Rows spanned = span(axis, out);
  Rows part{std::max(in.begin, spanned.begin),
            std::min(in.end, spanned.end + axis.stride - 1)};
  // A tile may hold rows after its last window only.
  if (part.begin >= spanned.end)
    part.end = part.begin;
  return with_pads(part, out, spanned);
}

AxisPlan plan_backward(const ConvAxis &axis, Rows in, Rows out) {
  if (in.empty() || out.empty())
    return {{0, 0}, {0, 0}, 0, 0};
  int64_t reach = (axis.kernel - 1) * axis.dilation;
  int64_t first =
      floor_div(in.begin + axis.pad - reach + axis.stride - 1, axis.stride);
  int64_t last = floor_div(in.end - 1 + axis.pad, axis.stride);
  Rows part{std::max(out.begin, first), std::min(out.end, last + 1)};
  if (part.empty())
    return {{0, 0}, {0, 0}, 0, 0};
  Rows spanned = span(axis, part);
  Rows region{std::max(in.begin, spanned.begin),
              std::min(in.end, spanned.end + axis.stride - 1)};
  return with_pads(region, part, spanned);
}

} // namespace ffrt
