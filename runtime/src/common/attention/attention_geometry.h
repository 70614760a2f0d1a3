//===- attention_geometry.h - operands of attention -------------*- C++ -*-===//
#ifndef FFRT_COMMON_ATTENTION_GEOMETRY_H
#define FFRT_COMMON_ATTENTION_GEOMETRY_H

#include "ffrt/function.h"
#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <cstdint>

namespace ffrt {

/// Arguments of the kernels.
struct AttentionNumbers {
  int64_t causal;
  const Reals &hidden;
  int64_t key;
  double ratio, scale;
};

/// The geometry of a tile, and its mask.
struct AttentionGeometry {
  const char *kernel;
  DType operand_type; ///< of q, k, v and dy
  int64_t samples, rows, heads, keys, width, values;
  Index mask_strides; ///< of n, h, t and s; 0 where it is broadcast
  bool causal;        ///< the mask hides what comes later, and nothing else
  bool replaces = false;
  Real hidden = 0, scale;
  uint64_t key; ///< of what is dropped
  Real ratio;   ///< 0: nothing is

  /// Throws unless the operands fit each other. Without `v` there are no
  /// values.
  AttentionGeometry(const char *kernel, const Tensor &q, const Tensor &k,
                    const Tensor *v, const Tensor &mask,
                    const AttentionNumbers &numbers);

  void expect_heads(const char *name, const Tensor &t, int64_t positions,
                    int64_t width, DType type = kReal) const;
  /// y, of f32 or of the operands' type.
  void expect_y(const Tensor &t) const;
  /// Absent, or such a tensor of f32, bf16 or f16.
  void expect_gradient(const char *name, const Tensor &t, int64_t positions,
                       int64_t width) const;
  void expect_sums(const char *name, const Tensor &t) const;

  /// Vectors of neighbouring positions are so far apart in a tensor
  /// [samples, positions, heads, width].
  FFRT_FUNCTION int64_t between(int64_t width) const { return heads * width; }
  /// Where head `h` of sample `n` of such a tensor begins.
  FFRT_FUNCTION int64_t head_at(int64_t n, int64_t h, int64_t positions,
                                int64_t width) const {
    return (n * positions * heads + h) * width;
  }
  /// Where row `t` of a head is in a tensor [samples, heads, rows].
  FFRT_FUNCTION int64_t row_at(int64_t n, int64_t h, int64_t t) const {
    return (n * heads + h) * rows + t;
  }
  FFRT_FUNCTION int64_t mask_at(int64_t n, int64_t h, int64_t t,
                                int64_t s) const {
    return n * mask_strides.v[0] + h * mask_strides.v[1] +
           t * mask_strides.v[2] + s * mask_strides.v[3];
  }
  /// The number of a score in the global tensor [N, H, T, S].
  FFRT_FUNCTION int64_t number(int64_t n, int64_t h, int64_t t,
                               int64_t s) const {
    return first + n * steps.v[0] + h * steps.v[1] + t * steps.v[2] + s;
  }

private:
  int64_t first; ///< number of the tile's first score
  Index steps;   ///< between numbers along n, h and t
};

/// What the constructors get. Throw Error naming the kernel.
AttentionGeometry check_attention_forward(Tensors in, Tensors out,
                                          const AttentionNumbers &numbers);
AttentionGeometry check_attention_max(Tensors in, Tensors out,
                                      const AttentionNumbers &numbers);
AttentionGeometry check_attention_sum(Tensors in, Tensors out,
                                      const AttentionNumbers &numbers);
AttentionGeometry check_attention_backward(Tensors in, Tensors out,
                                           const AttentionNumbers &numbers);

/// exp() of a score that is this much below the largest is 0 in floats, and
/// less than rounding in doubles.
constexpr Real kVanishes = 104.0f;

} // namespace ffrt

#endif // FFRT_COMMON_ATTENTION_GEOMETRY_H
