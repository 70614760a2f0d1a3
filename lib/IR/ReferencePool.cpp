//===- ReferencePool.cpp - pooling in plain loops -------------------------===//

#include "ReferenceFamilies.h"

#include <limits>

using namespace ffc;
using namespace ffc::ff;

static constexpr int64_t kNoDilation[] = {1, 1};

namespace {
/// PoolWindows over the image of shape `x`.
struct PoolWindows {
  llvm::ArrayRef<int64_t> kernel, dilations, pads, strides;
  int64_t height, width;

  PoolWindows(const ReferenceCall &call, const plan::Shape &x,
              llvm::ArrayRef<int64_t> dilations)
      : kernel(call.ints("kernel_shape")), dilations(dilations),
        pads(call.ints("pads")), strides(call.ints("strides")), height(x[2]),
        width(x[3]) {}

  /// Calls body(h, w) for the positions inside the image of the window at
  /// (oh, ow), in scan order.
  template <class Body>
  void forEachInput(int64_t oh, int64_t ow, Body body) const {
    for (int64_t i = 0; i < kernel[0]; ++i)
      for (int64_t j = 0; j < kernel[1]; ++j) {
        int64_t h = oh * strides[0] - pads[0] + i * dilations[0];
        int64_t w = ow * strides[1] - pads[1] + j * dilations[1];
        if (h >= 0 && h < height && w >= 0 && w < width)
          body(h, w);
      }
  }

  /// Calls body(oh, ow) for the windows of `y` that cover (h, w).
  template <class Body>
  void forEachOutput(int64_t h, int64_t w, const plan::Shape &y,
                     Body body) const {
    for (int64_t i = 0; i < kernel[0]; ++i)
      for (int64_t j = 0; j < kernel[1]; ++j) {
        int64_t oh = h + pads[0] - i * dilations[0];
        int64_t ow = w + pads[1] - j * dilations[1];
        if (oh < 0 || oh % strides[0] != 0 || ow < 0 || ow % strides[1] != 0)
          continue;
        oh /= strides[0];
        ow /= strides[1];
        if (oh < y[2] && ow < y[3])
          body(oh, ow);
      }
  }

  /// What the sum of the window at (oh, ow) is divided by: its positions inside
  /// the image, or inside the image and its declared pads.
  double divisor(int64_t oh, int64_t ow, bool includePads) const {
    double count = 1;
    const int64_t outputs[] = {oh, ow}, extents[] = {height, width};
    for (int d = 0; d < 2; ++d) {
      int64_t lo = includePads ? -pads[d] : 0;
      int64_t hi = extents[d] + (includePads ? pads[d + 2] : 0);
      int64_t inside = 0;
      for (int64_t i = 0; i < kernel[d]; ++i) {
        int64_t position = outputs[d] * strides[d] - pads[d] + i * dilations[d];
        inside += position >= lo && position < hi;
      }
      count *= static_cast<double>(inside);
    }
    return count;
  }
};
} // namespace

static void maxPoolForward(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0], &index = call.outs[1];
  PoolWindows windows(call, x.global(), call.ints("dilations"));
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> o) {
    double best = -std::numeric_limits<double>::infinity();
    int64_t where = -1;
    windows.forEachInput(o[2], o[3], [&](int64_t h, int64_t w) {
      double value = x.at({o[0], o[1], h, w});
      if (where >= 0 && value <= best)
        return;
      best = value;
      where = h * windows.width + w;
    });
    y.at(o) = best;
    if (index.present())
      index.at(o) = static_cast<double>(where);
  });
}

static void maxPoolBackward(const ReferenceCall &call) {
  const View &dy = call.ins[0], &index = call.ins[1], &dx = call.outs[0];
  PoolWindows windows(call, dx.global(), call.ints("dilations"));
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    double here = static_cast<double>(i[2] * windows.width + i[3]);
    double sum = 0;
    windows.forEachOutput(i[2], i[3], dy.global(), [&](int64_t oh, int64_t ow) {
      if (index.at({i[0], i[1], oh, ow}) == here)
        sum += dy.at({i[0], i[1], oh, ow});
    });
    dx.at(i) = sum;
  });
}

static void averagePoolForward(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0];
  PoolWindows windows(call, x.global(), kNoDilation);
  bool includePads = call.i64("count_include_pad") != 0;
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> o) {
    double sum = 0;
    windows.forEachInput(o[2], o[3], [&](int64_t h, int64_t w) {
      sum += x.at({o[0], o[1], h, w});
    });
    y.at(o) = sum / windows.divisor(o[2], o[3], includePads);
  });
}

static void averagePoolBackward(const ReferenceCall &call) {
  const View &dy = call.ins[0], &dx = call.outs[0];
  PoolWindows windows(call, dx.global(), kNoDilation);
  bool includePads = call.i64("count_include_pad") != 0;
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    double sum = 0;
    windows.forEachOutput(i[2], i[3], dy.global(), [&](int64_t oh, int64_t ow) {
      sum += dy.at({i[0], i[1], oh, ow}) / windows.divisor(oh, ow, includePads);
    });
    dx.at(i) = sum;
  });
}

void ff::registerPoolReferences() {
  registerReference("max_pool_forward", maxPoolForward);
  registerReference("max_pool_backward", maxPoolBackward);
  registerReference("average_pool_forward", averagePoolForward);
  registerReference("average_pool_backward", averagePoolBackward);
}
