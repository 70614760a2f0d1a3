//===- normalize.h - batch, instance, group, layer normalisation -*- C++ -*-==//
//
// y = (x - mean) / sqrt(var + epsilon) * scale + bias + addend, mean and var
// being taken over the dimensions `axes` of the global tensor. Statistics
// (mean, var and the sums that lead to them) have x's dimensions without
// `axes`, parameters (scale and bias) have the dimensions `param_dims`; both
// are row-major. Tensors of x's shape (x, dy, addend, y and dx) have one order,
// and each is f32, bf16 or f16, of these two one in a call. What is not f32
// gives the bits that its copy as f32 gives; all is computed as f32, and
// rounded when stored. Statistics, parameters and their gradients are f32.
// Results do not overlap operands. The same bits for the same number of
// threads.
//
// `clamp` has the bounds that y is, or was, cut to: none, the lower one, or
// both.
//
// With `sample_groups` the global dimension 0 is cut into so many equal blocks,
// each with statistics of its own: the group is the first dimension of
// statistics. A tile has a part of one group, or the same part of several one
// behind the other.
//
// A normalised dimension that is split needs kernels that compute sums of a
// tile, which are added up over the tiles before the next kernel reads them.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_NORMALIZE_H
#define FFRT_NORMALIZE_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

struct NormalizeGeometry;
struct NormalizeWork;

/// What the kernels have in common: geometry, and what the target needs.
class Normalization {
protected:
  Normalization(const char *kernel, Context &cx, Tensors in,
                const Tensor &statistic, const Ints &axes, double epsilon,
                const Ints &param_dims, int64_t sample_groups,
                const Reals &clamp = {});
  std::shared_ptr<const NormalizeGeometry> geometry;
  std::shared_ptr<NormalizeWork> work;
};

/// {x, scale?, bias?, addend?} -> {y?, mean?, var?}. `axes` are whole.
class NormalizeForward : Normalization {
public:
  NormalizeForward(Context &cx, Tensors in, Tensors out, const Ints &axes,
                   const Reals &clamp, double epsilon, const Ints &param_dims,
                   int64_t sample_groups = 1);
  void operator()(Tensors in, Tensors out);
};

/// {x} -> {sums}
class NormalizeSum : Normalization {
public:
  NormalizeSum(Context &cx, Tensors in, Tensors out, const Ints &axes,
               const Reals &clamp, double epsilon, const Ints &param_dims,
               int64_t sample_groups = 1);
  void operator()(Tensors in, Tensors out);
};

/// {x, sums} -> {sums of (x - mean)^2}
class NormalizeSquares : Normalization {
public:
  NormalizeSquares(Context &cx, Tensors in, Tensors out, const Ints &axes,
                   const Reals &clamp, double epsilon, const Ints &param_dims,
                   int64_t sample_groups = 1);
  void operator()(Tensors in, Tensors out);
};

/// {x, sums, squares, scale?, bias?, addend?} -> {y?, mean?, var?}
class NormalizeApply : Normalization {
public:
  NormalizeApply(Context &cx, Tensors in, Tensors out, const Ints &axes,
                 const Reals &clamp, double epsilon, const Ints &param_dims,
                 int64_t sample_groups = 1);
  void operator()(Tensors in, Tensors out);
};

// Gradients, with r = 1 / sqrt(var + epsilon), h = (x - mean) * r, g = dy *
// scale: dx = r * (g - mean(g) - h * mean(g * h)) + addend, dscale = sum(dy *
// h) and dbias = sum(dy). The last two are sums over the tile. With bounds in
// `clamp`, dy counts nothing where h * scale + bias is not between them,
// exclusively; each statistic has one parameter then. Without, the bias may be
// absent.

/// {dy, x, mean, var, scale?, bias?, addend?} -> {dx?, dscale?, dbias?}. `axes`
/// are whole.
class NormalizeBackward : Normalization {
public:
  NormalizeBackward(Context &cx, Tensors in, Tensors out, const Ints &axes,
                    const Reals &clamp, double epsilon, const Ints &param_dims,
                    int64_t sample_groups = 1);
  void operator()(Tensors in, Tensors out);
};

/// {dy, x, mean, var, scale?, bias?} -> {sum(g), sum(g * h), dscale?, dbias?}
class NormalizeBackwardSums : Normalization {
public:
  NormalizeBackwardSums(Context &cx, Tensors in, Tensors out, const Ints &axes,
                        const Reals &clamp, double epsilon,
                        const Ints &param_dims, int64_t sample_groups = 1);
  void operator()(Tensors in, Tensors out);
};

/// {dy, x, mean, var, scale?, bias?, sum(g), sum(g * h), addend?} -> {dx?}
class NormalizeBackwardData : Normalization {
public:
  NormalizeBackwardData(Context &cx, Tensors in, Tensors out, const Ints &axes,
                        const Reals &clamp, double epsilon,
                        const Ints &param_dims, int64_t sample_groups = 1);
  void operator()(Tensors in, Tensors out);
};

// The same for batch normalisation, where each statistic has its own scale and
// bias, so that two sums serve both dx and the parameters. There are no groups.

/// {dy, x, mean, var, scale?, bias?} -> {sum(dy), sum(dy * h)}
class NormalizeChannelSums : Normalization {
public:
  NormalizeChannelSums(Context &cx, Tensors in, Tensors out, const Ints &axes,
                       const Reals &clamp, double epsilon,
                       const Ints &param_dims);
  void operator()(Tensors in, Tensors out);
};

/// {dy, x, mean, var, scale?, bias?, sum(dy), sum(dy * h), addend?} -> {dx?,
/// dscale?, dbias?}
class NormalizeChannelData : Normalization {
public:
  NormalizeChannelData(Context &cx, Tensors in, Tensors out, const Ints &axes,
                       const Reals &clamp, double epsilon,
                       const Ints &param_dims);
  void operator()(Tensors in, Tensors out);
};

} // namespace ffrt

#endif // FFRT_NORMALIZE_H
