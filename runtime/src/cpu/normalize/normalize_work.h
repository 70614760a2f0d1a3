//===- normalize_work.h - loops of normalisations ---------------*- C++ -*-===//
//
// Two ways through a tensor. By *columns*, where the fastest dimension in
// memory has a statistic per element (batch normalisation of channels-last
// images): rows are added up as vectors. By *sets*, else: the elements of one
// statistic are handled together (layer normalisation). Columns need parameters
// that are constant within a set; sets take any geometry.
//
// Groups of samples are handled one after the other, each as a tensor of its
// own; all loops here are over one group.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_NORMALIZE_WORK_H
#define FFRT_CPU_NORMALIZE_WORK_H

#include "common/kernels/clamp.h"
#include "common/kernels/nest.h"
#include "common/normalize/normalize_geometry.h"
#include "ffrt/real.h"

#include <vector>

namespace ffrt {

/// Count, mean and sum of squares around it.
struct Moments {
  double count = 0, mean = 0, squares = 0;
  void merge(const Moments &o) {
    if (o.count == 0)
      return;
    const double total = count + o.count, delta = o.mean - mean;
    mean += delta * (o.count / total);
    squares += o.squares + delta * delta * (count * o.count / total);
    count = total;
  }
};

/// Scratch of one kernel; `x` is one group.
struct NormalizeWork : NormalizeGeometry {
  NormalizeWork(const NormalizeGeometry &geometry, const Context &cx,
                const Tensor &x);

  bool by_columns;
  int parts; ///< slices of x that are summed concurrently
  /// Parameter of each statistic; empty if that is not one.
  std::vector<int32_t> parameter_of;

  // Scratch. Per statistic:
  std::vector<double> first, second;
  std::vector<Real> mean, inverse, a, b, c;
  /// Where results were cut, what they were: (x - mean) * line_a + line_b.
  std::vector<Real> line_a, line_b;
  /// Per part: all statistics (columns), or two numbers per parameter (sets).
  std::vector<Moments> moments;
  std::vector<double> partial;
  std::vector<Real> lines;  ///< per part
  int64_t line = 0;         ///< floats per part
  std::vector<int> pending; ///< sets added up by each part
  /// Gradients of both parameters by one group.
  std::vector<Real> group_gradients;

  /// Fills `mean` and `inverse` from the two statistics.
  void use(const Real *given_mean, const Real *given_var);
  /// Fills `line_a` and `line_b`, after that.
  void use_parameters(const Real *scale, const Real *bias);
  Real scale_of(const Real *scale, int64_t s) const {
    return scale ? scale[parameter_of[std::size_t(s)]] : 1.0f;
  }
};

namespace columns {

/// first = means and second = sums of squares around them, of the tile.
void moments(NormalizeWork &work, const Tensor &x);
/// first = sums.
void sum(NormalizeWork &work, const Tensor &x);
/// second = sums of (x - work.mean)^2.
void squares(NormalizeWork &work, const Tensor &x);
/// y = clip((x - work.mean) * work.a + work.b + addend?)
void apply(NormalizeWork &work, const Tensor &x, const Tensor &addend,
           const Tensor &y);
// Where results were cut, dy counts as 0.

/// first = sums of dy, second = sums of dy * (x - work.mean) * work.inverse.
void gradient_sums(NormalizeWork &work, const Tensor &dy, const Tensor &x);
/// dx = dy * work.a + (x - work.mean) * work.b + work.c + addend?
void gradient_data(NormalizeWork &work, const Tensor &dy, const Tensor &x,
                   const Tensor &addend, const Tensor &dx);

} // namespace columns

namespace sets {

struct Forward {
  const Real *scale = nullptr, *bias = nullptr; ///< may be null
  Tensor addend, y;                             ///< may be absent
};

/// y of sets whose statistics are in work.mean and work.inverse.
void apply(NormalizeWork &work, const Tensor &x, const Forward &to);
/// The same after computing the statistics: first = means, second = sums of
/// squares, of the tile.
void forward(NormalizeWork &work, const Tensor &x, const Forward &to);
void sum(NormalizeWork &work, const Tensor &x);
void squares(NormalizeWork &work, const Tensor &x);

struct Backward {
  const Real *scale = nullptr;
  /// Sums over the tile, if not null.
  Real *dscale = nullptr, *dbias = nullptr;
  Tensor addend, dx; ///< may be absent
};

// Where results were cut, dy counts as 0.

/// first = sum(g) and second = sum(g * h) of the tile, dscale and dbias, and dx
/// if these sums are complete (`whole`).
void gradient(NormalizeWork &work, const Tensor &dy, const Tensor &x,
              const Backward &to, bool whole);
/// dx from first and second.
void gradient_data(NormalizeWork &work, const Tensor &dy, const Tensor &x,
                   const Backward &to);

} // namespace sets

} // namespace ffrt

#endif // FFRT_CPU_NORMALIZE_WORK_H
