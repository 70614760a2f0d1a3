//===- pool_geometry.h - how windows lie on a tile --------------*- C++ -*-===//
//
// Tables made once per kernel, so that a call divides nothing: for every output
// position of an axis its entries inside the image, for every input position
// the windows that cover it. Images of fewer than three spatial dimensions get
// leading ones of extent 1.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_POOL_GEOMETRY_H
#define FFRT_COMMON_POOL_GEOMETRY_H

#include "ffrt/function.h"
#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <memory>

namespace ffrt {

/// Attributes of a pool; no dilations at all are dilations of 1.
struct PoolAttributes {
  const Ints &dilations, &kernel_shape, &pads, &strides;
  bool include_pad = false;
};

/// Windows along one axis. `x` is the image, `y` the result of the forward
/// pool.
struct PoolAxis {
  /// The entries of a window inside the image: positions first, first + step,
  /// ... below end, in global coordinates. `divisor` is the number of positions
  /// that a mean counts.
  struct Entries {
    int64_t first, end;
    Real divisor;
  };
  int64_t step = 1; ///< the dilation
  int64_t image = 1;
  std::vector<Entries> entries; ///< per local position of y
  /// Local positions of y whose windows cover local position i of x:
  /// covering[begin[i]] up to covering[begin[i + 1]], in scan order of the
  /// window's entries.
  std::vector<int64_t> begin, covering;
};

struct PoolGeometry {
  PoolAxis axis[3];
  int64_t volume = 1; ///< entries of a whole window

  /// Checks ranks and attributes.
  PoolGeometry(const char *kernel, const Tensor &x, const Tensor &y,
               const PoolAttributes &attributes);
};

/// What a target computes with.
struct PoolPlan;
std::shared_ptr<const PoolPlan> plan_pool(PoolGeometry geometry);

/// An image of three spatial dimensions: extents and strides by n, c, d, h, w.
struct PoolImage {
  int64_t extent[5], stride[5];
  int64_t lo[5];

  explicit PoolImage(const Tensor &t);
  int64_t elements() const { return rows() * extent[4] * extent[1]; }
  int64_t rows() const { return extent[0] * extent[2] * extent[3]; }
  /// Where the first channel of a pixel is.
  FFRT_FUNCTION int64_t offset_of(int64_t n, int64_t d, int64_t h,
                                  int64_t w) const {
    return n * stride[0] + d * stride[2] + h * stride[3] + w * stride[4];
  }
};

} // namespace ffrt

#endif // FFRT_COMMON_POOL_GEOMETRY_H
