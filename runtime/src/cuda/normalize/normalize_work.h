//===- normalize_work.h - normalisations on GPUs ----------------*- C++ -*-===//
//
// Sums per statistic or parameter (cuda/reduce/reduction.h), and what is done
// to every element when they are known. All groups of samples are handled at
// once.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_NORMALIZE_WORK_H
#define FFRT_CUDA_NORMALIZE_WORK_H

#include "common/normalize/normalize_geometry.h"
#include "cuda/kernels/row.h"
#include "cuda/reduce/reduction.h"
#include "ffrt/cuda/group.h"

namespace ffrt {

namespace normalization {

/// In x, in the statistics and in the parameters.
using Place = cuda::Offsets<3>;
using Places = cuda::Walk<3>;
using Reduction = cuda::Reduction<3>;

struct Pair {
  double a, b;
};
struct AddPairs {
  using Value = Pair;
  /// Of few elements.
  struct Part {
    float a, b;
  };
  __device__ Pair neutral() const { return {0, 0}; }
  __device__ Pair operator()(const Pair &x, const Pair &y) const {
    return {x.a + y.a, x.b + y.b};
  }
  __device__ Part operator()(const Part &x, const Part &y) const {
    return {x.a + y.a, x.b + y.b};
  }
  __device__ Pair operator()(const Pair &x, const Part &y) const {
    return {x.a + double(y.a), x.b + double(y.b)};
  }
};

/// What elements need of their statistic: the means of g and g * h on the way
/// back. With `a`, results were cut, and (x - mean) * a + b is what they were.
template <class T> struct Statistic { T mean, inverse, g, gh, a, b; };

/// What statistics or parameters have for a span of elements: numbers from `at`
/// on, `step` apart. Where they are neighbours, a group of elements begins a
/// group of them.
__device__ inline cuda::Group<float> read_along(const float *data, int64_t at,
                                                int64_t step,
                                                const cuda::Span &span) {
  if (step == 1)
    return cuda::read(data + at, span);
  const float first = data[at];
  cuda::Group<float> result{first, first, first, first};
  FFRT_UNROLL
  for (int k = 1; k < cuda::kGroup; ++k)
    if (step != 0 && k < span.count)
      result[k] = data[at + k * step];
  return result;
}

/// The same of what may be null, and is `missing` then.
__device__ inline cuda::Group<float> read_along(const float *data, int64_t at,
                                                int64_t step,
                                                const cuda::Span &span,
                                                float missing) {
  if (data)
    return read_along(data, at, step, span);
  return {missing, missing, missing, missing};
}

/// Statistics in memory, each number of all of them side by side, so that those
/// of neighbours are read at once.
struct Statistics : Statistic<float *> { ///< a and b may be null
  /// While g and gh are made: 0.
  __device__ Statistic<float> before_sums(int64_t s) const {
    return {mean[s], inverse[s], 0, 0, a ? a[s] : 0.0f, b ? b[s] : 0.0f};
  }
};

__device__ inline float inverse_of(double var, double epsilon) {
  return float(1.0 / sqrt(var + epsilon));
}

} // namespace normalization

struct NormalizeWork {
  using Places = normalization::Places;
  using Reduction = normalization::Reduction;
  using Statistics = normalization::Statistics;
  using Pair = normalization::Pair;

  NormalizeWork(const NormalizeGeometry &geometry, const Tensor &x);
  NormalizeWork(const NormalizeGeometry &geometry, const Tensor &x,
                const Nest<3> &places);

  Places all;      ///< elements of x
  Places groups;   ///< the same, cuda::kGroup at once
  bool has_groups; ///< do neighbours belong together, with all they need?
  Reduction sets;  ///< elements of x by statistic
  /// By parameter: statistics, if each has one parameter, else elements of x.
  Reduction parameters;
  int64_t statistics; ///< of all groups

  /// Is a set handled by one block, or one warp?
  bool by_rows() const { return !sets.columns && sets.chunks == 1; }

  /// Have sets columns of neighbours, with one parameter each?
  bool by_columns() const { return sets.columns && constant; }

  /// Starts kernel(sets, arguments...) with a row of threads for each set.
  /// `width` as of normalization::RowPart.
  template <class... Parameters, class... Arguments>
  void launch_rows(int width, void (*kernel)(Reduction, Parameters...),
                   const Arguments &...arguments) const;

  // Scratch, per statistic.
  Statistics of_sets() const {
    float *numbers = cuda::device().scratch<float>();
    const auto next = [&](bool present = true) {
      float *result = numbers;
      numbers += present ? each : 0;
      return present ? result : nullptr;
    };
    return {{next(), next(), next(), next(), next(cuts), next(cuts)}};
  }
  Pair *sums() const {
    return reinterpret_cast<Pair *>(cuda::device().scratch<float>() +
                                    each * (cuts ? 6 : 4));
  }
  Pair *partial() const { return sums() + statistics; }
  int64_t each; ///< floats for a number of all statistics, in whole groups
  bool cuts, constant;
};

namespace normalization {

/// The part of a row that its kernels handle at once: a group of neighbours,
/// or an element, which may lie anywhere.
template <bool kGrouped> struct RowPart {
  static constexpr int kWide = kGrouped ? cuda::kGroup : 1;
  /// Parts that a thread keeps in registers.
  static constexpr int kKept = kGrouped ? 6 : 4;
};

/// finish(place of the result, sum of what f has of its elements) for every
/// result.
template <class F, class Finish>
void sum_up(const Reduction &r, Pair *partial, F f, Finish finish) {
  cuda::reduce(r, partial, AddPairs(), f, finish);
}

/// May groups begin at all operands and results?
template <class... T> bool begin_groups(const T &...tensors) {
  return (tensors.begins_group() && ...);
}

/// f(place of the first, span) for all elements of x, a group at a time where x
/// has them and what is read and written does (`begin`).
template <class F> void for_groups(const NormalizeWork &work, bool begin, F f) {
  const bool grouped = work.has_groups && begin;
  const Places walk = grouped ? work.groups : work.all;
  const cuda::Span span{0, grouped ? cuda::kGroup : 1, grouped};
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) { f(walk(i), span); });
}

} // namespace normalization

template <class... Parameters, class... Arguments>
void NormalizeWork::launch_rows(int width,
                                void (*kernel)(Reduction, Parameters...),
                                const Arguments &...arguments) const {
  const int kept = width == 1 ? normalization::RowPart<false>::kKept
                              : normalization::RowPart<true>::kKept;
  const dim3 block = cuda::row_block(sets.reduced.elements / width, kept);
  cuda::launch(cuda::blocks_for_rows(sets.kept.elements, block), block, kernel,
               sets, arguments...);
}

} // namespace ffrt

#endif // FFRT_CUDA_NORMALIZE_WORK_H
