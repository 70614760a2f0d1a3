//===- pool_geometry.cpp - how windows lie on a tile ----------------------===//
#include "common/conv/pool_geometry.h"

#include "common/kernels/check.h"

#include <algorithm>

namespace ffrt {

namespace {

/// One axis of the operator, and where the tiles of x and y lie on it.
struct AxisWindow {
  int64_t kernel, stride, dilation, pad, pad_end;
  int64_t image;
  int64_t x_lo, x_size, y_lo, y_size;

  int64_t position(int64_t o, int64_t k) const {
    return o * stride - pad + k * dilation;
  }
};

PoolAxis::Entries entries_of(const AxisWindow &w, int64_t o, bool include_pad) {
  PoolAxis::Entries entries{0, 0, 0};
  int64_t inside = 0, counted = 0;
  for (int64_t k = 0; k < w.kernel; ++k) {
    int64_t at = w.position(o, k);
    counted += at >= -w.pad && at < w.image + w.pad_end;
    if (at < 0 || at >= w.image)
      continue;
    if (inside++ == 0)
      entries.first = at;
    entries.end = at + 1;
  }
  entries.divisor = Real(include_pad ? counted : inside);
  return entries;
}

PoolAxis plan(const AxisWindow &w, bool include_pad) {
  PoolAxis axis;
  axis.step = w.dilation;
  axis.image = w.image;
  for (int64_t o = 0; o < w.y_size; ++o)
    axis.entries.push_back(entries_of(w, w.y_lo + o, include_pad));
  for (int64_t i = 0; i < w.x_size; ++i) {
    axis.begin.push_back(int64_t(axis.covering.size()));
    for (int64_t k = 0; k < w.kernel; ++k) {
      int64_t scaled = w.x_lo + i + w.pad - k * w.dilation;
      int64_t o = scaled / w.stride - w.y_lo;
      if (scaled >= 0 && scaled % w.stride == 0 && o >= 0 && o < w.y_size)
        axis.covering.push_back(o);
    }
  }
  axis.begin.push_back(int64_t(axis.covering.size()));
  return axis;
}

} // namespace

PoolGeometry::PoolGeometry(const char *kernel, const Tensor &x, const Tensor &y,
                           const PoolAttributes &attributes) {
  expect(kernel, x.rank >= 3 && x.rank <= 5,
         "image: expected rank 3 to 5, found " + std::to_string(x.rank));
  expect_rank(kernel, "operand or result", y, x.rank);
  const int spatial = x.rank - 2;
  const std::size_t n = std::size_t(spatial);
  const Ints ones(n, 1);
  const Ints &dilations =
      attributes.dilations.empty() ? ones : attributes.dilations;
  expect_length(kernel, "dilations", dilations, n);
  expect_length(kernel, "kernel_shape", attributes.kernel_shape, n);
  expect_length(kernel, "pads", attributes.pads, 2 * n);
  expect_length(kernel, "strides", attributes.strides, n);
  for (int d = 0; d < 3; ++d) {
    AxisWindow w{1, 1, 1, 0, 0, 1, 0, 1, 0, 1};
    if (int at = d - (3 - spatial); at >= 0) {
      const std::size_t i = std::size_t(at);
      w = {attributes.kernel_shape[i],
           attributes.strides[i],
           dilations[i],
           attributes.pads[i],
           attributes.pads[i + n],
           x.global[at + 2],
           x.lo[at + 2],
           x.shape[at + 2],
           y.lo[at + 2],
           y.shape[at + 2]};
    }
    axis[d] = plan(w, attributes.include_pad);
    volume *= w.kernel;
  }
}

PoolImage::PoolImage(const Tensor &t) {
  const Index strides = t.strides();
  for (int d = 0; d < 5; ++d) {
    const int from = d < 2 ? d : d - (5 - t.rank);
    const bool present = d < 2 || from >= 2;
    extent[d] = present ? t.shape[from] : 1;
    stride[d] = present ? strides[from] : 0;
    lo[d] = present ? t.lo[from] : 0;
  }
}

} // namespace ffrt
