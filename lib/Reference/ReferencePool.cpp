//===- ReferencePool.cpp - pooling in plain loops -------------------------===//

#include "ReferenceFamilies.h"

#include <cmath>
#include <limits>

using namespace ffc;
using namespace ffc::ff;

namespace {
/// An index into a tensor.
using Index = llvm::SmallVector<int64_t, 5>;

/// Windows over the image of shape `x`. `dilations` may be absent.
struct PoolWindows {
  llvm::ArrayRef<int64_t> kernel, dilations, pads, strides, image;
  plan::Box taps;

  PoolWindows(const ReferenceCall &call, const plan::Shape &x,
              llvm::ArrayRef<int64_t> dilations = {})
      : kernel(call.ints("kernel_shape")), dilations(dilations),
        pads(call.ints("pads")), strides(call.ints("strides")),
        image(llvm::ArrayRef(x).drop_front(2)), taps(spatial()) {
    for (int d = 0; d < spatial(); ++d)
      taps[d] = {0, kernel[d]};
  }

  int spatial() const { return static_cast<int>(kernel.size()); }
  int64_t offset(int d, int64_t i) const {
    return i * (dilations.empty() ? 1 : dilations[d]) - pads[d];
  }

  /// Calls body(input) for the positions inside the image of the window at `o`,
  /// in scan order.
  template <class Body>
  void forEachInput(llvm::ArrayRef<int64_t> o, Body body) const {
    Index input(o);
    forEachIndex(taps, [&](llvm::ArrayRef<int64_t> tap) {
      for (int d = 0; d < spatial(); ++d) {
        input[2 + d] = o[2 + d] * strides[d] + offset(d, tap[d]);
        if (input[2 + d] < 0 || input[2 + d] >= image[d])
          return;
      }
      body(input);
    });
  }

  /// Calls body(output) for the windows of `y` that cover `input`.
  template <class Body>
  void forEachOutput(llvm::ArrayRef<int64_t> input, const plan::Shape &y,
                     Body body) const {
    Index o(input);
    forEachIndex(taps, [&](llvm::ArrayRef<int64_t> tap) {
      for (int d = 0; d < spatial(); ++d) {
        int64_t scaled = input[2 + d] - offset(d, tap[d]);
        if (scaled < 0 || scaled % strides[d] != 0 ||
            scaled / strides[d] >= y[2 + d])
          return;
        o[2 + d] = scaled / strides[d];
      }
      body(o);
    });
  }

  /// The number of a position in the image, in scan order.
  double numberOf(llvm::ArrayRef<int64_t> input) const {
    int64_t number = 0;
    for (int d = 0; d < spatial(); ++d)
      number = number * image[d] + input[2 + d];
    return static_cast<double>(number);
  }

  /// What the sum of the window at `o` is divided by: its positions inside
  /// the image, or inside the image and its declared pads.
  double divisor(llvm::ArrayRef<int64_t> o, bool includePads) const {
    double count = 1;
    for (int d = 0; d < spatial(); ++d) {
      int64_t lo = includePads ? -pads[d] : 0;
      int64_t hi = image[d] + (includePads ? pads[d + spatial()] : 0);
      int64_t inside = 0;
      for (int64_t i = 0; i < kernel[d]; ++i) {
        int64_t position = o[2 + d] * strides[d] + offset(d, i);
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
    double where = -1;
    windows.forEachInput(o, [&](llvm::ArrayRef<int64_t> input) {
      double value = x.at(input);
      if (where >= 0 && !(value > best) && !std::isnan(value))
        return;
      best = value;
      where = windows.numberOf(input);
    });
    y.at(o) = best;
    if (index.present())
      index.at(o) = where;
  });
}

static void maxPoolBackward(const ReferenceCall &call) {
  const View &dy = call.ins[0], &index = call.ins[1], &dx = call.outs[0];
  PoolWindows windows(call, dx.global(), call.ints("dilations"));
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    double here = windows.numberOf(i);
    double sum = 0;
    windows.forEachOutput(i, dy.global(), [&](llvm::ArrayRef<int64_t> o) {
      if (index.at(o) == here)
        sum += dy.at(o);
    });
    dx.at(i) = sum;
  });
}

static void averagePoolForward(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0];
  PoolWindows windows(call, x.global());
  bool includePads = call.i64("count_include_pad") != 0;
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> o) {
    double sum = 0;
    windows.forEachInput(
        o, [&](llvm::ArrayRef<int64_t> input) { sum += x.at(input); });
    y.at(o) = sum / windows.divisor(o, includePads);
  });
}

static void averagePoolBackward(const ReferenceCall &call) {
  const View &dy = call.ins[0], &dx = call.outs[0];
  PoolWindows windows(call, dx.global());
  bool includePads = call.i64("count_include_pad") != 0;
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    double sum = 0;
    windows.forEachOutput(i, dy.global(), [&](llvm::ArrayRef<int64_t> o) {
      sum += dy.at(o) / windows.divisor(o, includePads);
    });
    dx.at(i) = sum;
  });
}

void ff::registerReferencePool() {
  registerReference("max_pool_forward", maxPoolForward);
  registerReference("max_pool_backward", maxPoolBackward);
  registerReference("average_pool_forward", averagePoolForward);
  registerReference("average_pool_backward", averagePoolBackward);
}
