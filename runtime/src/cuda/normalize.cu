//===- normalize.cu - batch, instance, group and layer normalisation ------===//
//
// Sums of a set and of its squares are taken in one pass, as doubles relative
// to the set's first element, so that what cancels is never much larger than
// what remains.
//
//===----------------------------------------------------------------------===//
#include "ffrt/normalize.h"

#include "cuda/normalize_work.h"

namespace ffrt {

using namespace normalization;

namespace {

/// The statistics of sets from the sums of what their elements are above the
/// first one, and of its squares.
struct Moments {
  const float *x;
  double size, epsilon;
  float *mean, *var; ///< may be null
  SetStatistics *statistics;

  __device__ Pair operator()(const Place &at, const Place &set) const {
    const double above = double(x[at[0]]) - double(x[set[0]]);
    return {above, above * above};
  }
  __device__ SetStatistics statistics_of(const Place &set, const Pair &sum,
                                         bool stores) const {
    const double above = sum.a / size, middle = double(x[set[0]]) + above,
                 rest = sum.b - sum.a * above,
                 spread = (rest > 0 ? rest : 0.0) / size;
    if (stores && mean)
      mean[set[1]] = float(middle);
    if (stores && var)
      var[set[1]] = float(spread);
    return {float(middle), inverse_of(spread, epsilon), 0, 0};
  }
};

struct StoreMoments {
  Moments moments;
  __device__ void operator()(const Place &set, const Pair &sum) const {
    moments.statistics[set[1]] = moments.statistics_of(set, sum, true);
  }
};

/// y of an element.
struct Apply {
  const float *x, *scale, *bias;
  float *y;
  fn::Clip clip;

  __device__ void operator()(const Place &at, const SetStatistics &set) const {
    const float a = scale ? set.inverse * scale[at[2]] : set.inverse;
    y[at[0]] = clip((x[at[0]] - set.mean) * a + (bias ? bias[at[2]] : 0.0f));
  }
};

Apply apply_of(const NormalizeGeometry &geometry, const Tensor &x,
               const Tensor &scale, const Tensor &bias, const Tensor &y) {
  return {x.as<float>(), scale.as<float>(), bias.as<float>(), y.as<float>(),
          geometry.clip};
}

__global__ void forward_rows_kernel(Reduction sets, Moments moments,
                                    Apply apply) {
  for (int64_t s = first_row(); s < sets.kept.elements; s += row_step()) {
    const Place set = sets.kept(s);
    const Pair sum = sum_of_row(sets, set, 0, sets.reduced.elements, moments);
    const SetStatistics own = moments.statistics_of(set, sum, threadIdx.x == 0);
    if (apply.y)
      for (int64_t i = threadIdx.x; i < sets.reduced.elements; i += blockDim.x)
        apply(set + sets.reduced(i), own);
  }
}

void apply_to_all(const NormalizeWork &work, const Apply &apply) {
  if (!apply.y)
    return;
  const Places all = work.all;
  const SetStatistics *statistics = work.of_sets();
  cuda::for_elements(
      all.elements, FFRT_LAMBDA(int64_t i) {
        const Place at = all(i);
        apply(at, statistics[at[1]]);
      });
}

} // namespace

void NormalizeForward::operator()(Tensors in, Tensors out) {
  const NormalizeWork &w = *work;
  const Apply apply =
      apply_of(*geometry, at(in, 0), at(in, 1), at(in, 2), at(out, 0));
  const Moments moments{apply.x,      geometry->count, geometry->epsilon,
                        data(out, 1), data(out, 2),    w.of_sets()};
  if (w.by_rows()) {
    cuda::launch(cuda::blocks_for(w.sets.kept.elements, w.sets.block().y),
                 w.sets.block(), forward_rows_kernel, w.sets, moments, apply);
    return;
  }
  sum_up(w.sets, w.partial(), moments, StoreMoments{moments});
  apply_to_all(w, apply);
}

void NormalizeSum::operator()(Tensors in, Tensors out) {
  const float *x = data(in, 0);
  float *sums = data(out, 0);
  sum_up(
      work->sets, work->partial(),
      FFRT_LAMBDA(const Place &at, const Place &) {
        return Pair{double(x[at[0]]), 0};
      },
      FFRT_LAMBDA(const Place &set, const Pair &sum) {
        sums[set[1]] = float(sum.a);
      });
}

void NormalizeSquares::operator()(Tensors in, Tensors out) {
  const float *x = data(in, 0), *sums = data(in, 1);
  float *squares = data(out, 0);
  SetStatistics *statistics = work->of_sets();
  const double count = geometry->count;
  cuda::for_elements(
      work->statistics,
      FFRT_LAMBDA(int64_t s) { statistics[s].mean = float(sums[s] / count); });
  sum_up(
      work->sets, work->partial(),
      FFRT_LAMBDA(const Place &at, const Place &set) {
        const double above = double(x[at[0]]) - double(statistics[set[1]].mean);
        return Pair{above * above, 0};
      },
      FFRT_LAMBDA(const Place &set, const Pair &sum) {
        squares[set[1]] = float(sum.a);
      });
}

void NormalizeApply::operator()(Tensors in, Tensors out) {
  const float *sums = data(in, 1), *squares = data(in, 2);
  float *mean = data(out, 1), *var = data(out, 2);
  SetStatistics *statistics = work->of_sets();
  const double count = geometry->count, epsilon = geometry->epsilon;
  cuda::for_elements(
      work->statistics, FFRT_LAMBDA(int64_t s) {
        const double middle = sums[s] / count, spread = squares[s] / count;
        statistics[s] = {float(middle), inverse_of(spread, epsilon), 0, 0};
        if (mean)
          mean[s] = float(middle);
        if (var)
          var[s] = float(spread);
      });
  apply_to_all(
      *work, apply_of(*geometry, at(in, 0), at(in, 3), at(in, 4), at(out, 0)));
}

} // namespace ffrt
