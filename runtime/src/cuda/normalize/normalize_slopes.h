//===- normalize_slopes.h - gradients of normalisations, element by element ==//
//
// What is read of a result's gradient and an operand's element, and what of
// them sums are taken of.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_NORMALIZE_SLOPES_H
#define FFRT_CUDA_NORMALIZE_SLOPES_H

#include "cuda/normalize/normalize_operand.h"
#include "cuda/normalize/normalize_work.h"

namespace ffrt::normalization {

/// As it was read: bf16 and f16 become f32 where they are used, so that a
/// read waits for no other.
template <class Dy, class X> struct Element {
  typename Operand<Dy>::Value dy;
  typename Operand<X>::Value x;
};

template <class Dy, class X> struct Elements {
  cuda::Group<typename Operand<Dy>::Value> dy;
  cuda::Group<typename Operand<X>::Value> x;
  __device__ Element<Dy, X> operator[](int k) const { return {dy[k], x[k]}; }
};

/// What counts of slopes: those of what was not cut.
struct Cut {
  bool cuts;
  fn::ClipGradient slope;

  __device__ float operator()(float dy, float x, float mean, float a,
                              float b) const {
    return cuts ? slope(dy, (x - mean) * a + b) : dy;
  }
};

/// What is read at once.
template <class Dy, class X> struct Both {
  Operand<Dy> dy;
  Operand<X> x;
  Cut cut;

  bool begin_groups() const { return dy.begins_group() && x.begins_group(); }
  __device__ Elements<Dy, X> read(const Place &at,
                                  const cuda::Span &span) const {
    return {dy.read(at[0], span), x.read(at[0], span)};
  }
};

template <class Dy, class X> Both(Operand<Dy>, Operand<X>, Cut) -> Both<Dy, X>;

/// What sums are taken of: g = dy * scale and g * (x - mean). Where a set has
/// one scale, its sums are multiplied by it later, and `scale` is null.
template <class Dy, class X> struct Slopes {
  Both<Dy, X> both;
  const float *scale;
  int64_t next_parameter; ///< from an element of a span to the next
  Statistics statistics;

  struct Read {
    Elements<Dy, X> elements;
    cuda::Group<float> scale;
  };
  bool begin_groups() const {
    return both.begin_groups() && cuda::begins_group(scale);
  }
  __device__ Statistic<float> own(const Place &set) const {
    return statistics.before_sums(set[1]);
  }
  __device__ Read read(const Place &at, const cuda::Span &span) const {
    return {both.read(at, span),
            read_along(scale, at[2], next_parameter, span, 1.0f)};
  }
  __device__ AddPairs::Part of(const Read &read, int k,
                               const Statistic<float> &own) const {
    const Element<Dy, X> e = read.elements[k];
    const float g = both.cut(e.dy, e.x, own.mean, own.a, own.b) * read.scale[k];
    return {g, g * (float(e.x) - own.mean)};
  }
};

} // namespace ffrt::normalization

#endif // FFRT_CUDA_NORMALIZE_SLOPES_H
