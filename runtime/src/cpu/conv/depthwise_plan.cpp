//===- depthwise_plan.cpp - which rows and columns see which --------------===//
#include "cpu/conv/depthwise_plan.h"

#include <algorithm>

namespace ffrt {

namespace {

/// One axis: entry k of the kernel at local position o of y sees local position
/// o * stride + offset + k * dilation of x.
struct Axis {
  int64_t kernel, stride, dilation, offset;

  Axis(const Tensor &x, const Tensor &w, const Tensor &y,
       const ConvAttributes &attributes, int d)
      : kernel(w.shape[d + 2]), stride(attributes.strides[std::size_t(d)]),
        dilation(attributes.dilations[std::size_t(d)]),
        offset(y.lo[d + 2] * stride - attributes.pads[std::size_t(d)] -
               x.lo[d + 2]) {}

  /// What position `at` of the result sees, inside the image or not.
  std::vector<Tap> taps(int64_t at, bool transposed) const {
    std::vector<Tap> taps;
    for (int64_t k = 0; k < kernel; ++k) {
      if (!transposed) {
        taps.push_back({at * stride + offset + k * dilation, k});
        continue;
      }
      const int64_t scaled = at - offset - k * dilation;
      if (scaled % stride == 0)
        taps.push_back({scaled / stride, k});
    }
    return taps;
  }
};

} // namespace

DepthwisePlan::DepthwisePlan(const Tensor &x, const Tensor &w, const Tensor &y,
                             const ConvAttributes &attributes, bool transposed)
    : channels(x.shape[1]), kernel{w.shape[2], w.shape[3]} {
  const Tensor &from = transposed ? y : x, &to = transposed ? x : y;
  rows = to.shape[2];
  width = to.shape[3];

  const Axis vertical(x, w, y, attributes, 0);
  for (int64_t row = 0; row < rows; ++row) {
    first.push_back(row_taps.size());
    int64_t lowest = 0, highest = -1;
    for (const Tap &tap : vertical.taps(row, transposed)) {
      if (tap.from < 0 || tap.from >= from.shape[2])
        continue;
      row_taps.push_back(tap);
      lowest = highest < 0 ? tap.from : std::min(lowest, tap.from);
      highest = std::max(highest, tap.from);
    }
    kept = std::max(kept, highest - lowest + 1);
  }
  first.push_back(row_taps.size());

  const Axis across(x, w, y, attributes, 1);
  const int64_t classes = transposed ? std::min(across.stride, width) : 1;
  int64_t lowest = 0, highest = -1;
  for (int64_t c = 0; c < classes; ++c) {
    Columns next = {c, classes, (width - c + classes - 1) / classes,
                    transposed ? 1 : across.stride, across.taps(c, transposed)};
    for (const Tap &tap : next.taps) {
      lowest = std::min(lowest, tap.from);
      highest = std::max(highest, tap.from + (next.count - 1) * next.from_step);
    }
    columns.push_back(std::move(next));
  }
  left = -lowest;
  padded = left + highest + 1;
  for (Columns &part : columns)
    for (Tap &tap : part.taps)
      tap.from += left;
}

} // namespace ffrt
