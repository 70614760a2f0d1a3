//===- normalize.cu - batch, instance, group and layer normalisation ------===//
//
// Sums of a set and of its squares are taken in one pass, as doubles relative
// to the set's first element, so that what cancels is never much larger than
// what remains.
//
//===----------------------------------------------------------------------===//
#include "ffrt/normalize.h"

#include "common/cast.h"
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
    return of(x[at[0]], x[set[0]]);
  }
  /// What an element adds to the sums.
  __device__ Pair of(float value, float first) const {
    const double above = double(value) - double(first);
    return {above, above * above};
  }
  __device__ SetStatistics statistics_of(const Place &set, float first,
                                         const Pair &sum, bool stores) const {
    const double above = sum.a / size, middle = double(first) + above,
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
    moments.statistics[set[1]] =
        moments.statistics_of(set, moments.x[set[0]], sum, true);
  }
};

/// y of an element, stored as Y.
template <class Y> struct Apply {
  const float *x, *scale, *bias, *addend;
  Y *y;
  fn::Clip clip;

  /// `more` is the addend's element.
  __device__ float operator()(float value, int64_t parameter,
                              const SetStatistics &set, float more) const {
    const float a = scale ? set.inverse * scale[parameter] : set.inverse;
    return clip((value - set.mean) * a + (bias ? bias[parameter] : 0.0f) +
                more);
  }
};

template <class Y>
__global__ void __launch_bounds__(cuda::kRowThreads)
    forward_rows_kernel(Reduction sets, Moments moments, Apply<Y> apply) {
  for (int64_t s = cuda::first_row(); s < sets.kept.elements;
       s += cuda::row_step()) {
    const Place set = sets.kept(s);
    const auto element = [&](int64_t i) {
      return moments.x[(set + sets.reduced(i))[0]];
    };
    const cuda::Row<decltype(element)> x(sets.reduced.elements, element);
    const float first = moments.x[set[0]];
    const AddPairs add;
    Pair sum = add.neutral();
    x.for_each([&](int64_t, float value) {
      sum = add(sum, moments.of(value, first));
    });
    sum = cuda::reduce_row(sum, add.neutral(), add);
    const SetStatistics own =
        moments.statistics_of(set, first, sum, threadIdx.x == 0);
    if (apply.y)
      x.for_each([&](int64_t i, float value) {
        const Place at = set + sets.reduced(i);
        apply.y[at[0]] = Y(apply(value, at[2], own,
                                 apply.addend ? apply.addend[at[0]] : 0.0f));
      });
  }
}

template <class Y>
void apply_to_all(const NormalizeWork &work, const Apply<Y> &apply) {
  if (!apply.y)
    return;
  const SetStatistics *statistics = work.of_sets();
  const int64_t next_set = work.all.step(1), next_parameter = work.all.step(2);
  for_groups(
      work, begin_groups(apply.x, apply.addend, apply.y),
      FFRT_LAMBDA(const Place &at, const cuda::Span &span) {
        const cuda::Group<float> x = cuda::read(apply.x + at[0], span);
        cuda::Group<float> more{};
        if (apply.addend)
          more = cuda::read(apply.addend + at[0], span);
        cuda::Group<Y> y;
        FFRT_UNROLL
        for (int k = 0; k < cuda::kGroup; ++k)
          if (k < span.count)
            y[k] = Y(apply(x[k], at[2] + k * next_parameter,
                           statistics[at[1] + k * next_set], more[k]));
        cuda::write(apply.y + at[0], span, y);
      });
}

/// Statistics and y.
template <class Y>
void forward(const NormalizeWork &work, const Moments &moments,
             const Apply<Y> &apply) {
  if (work.by_rows()) {
    const dim3 block = cuda::row_block(work.sets.reduced.elements);
    cuda::launch(cuda::blocks_for_rows(work.sets.kept.elements, block), block,
                 forward_rows_kernel<Y>, work.sets, moments, apply);
    return;
  }
  sum_up(work.sets, work.partial(), moments, StoreMoments{moments});
  apply_to_all(work, apply);
}

} // namespace

void NormalizeForward::operator()(Tensors in, Tensors out) {
  const Moments moments{data(in, 0),  geometry->count, geometry->epsilon,
                        data(out, 1), data(out, 2),    work->of_sets()};
  with_factor(at(out, 0).type, [&](auto *type) {
    using Y = std::remove_pointer_t<decltype(type)>;
    forward<Y>(*work, moments,
               {data(in, 0), data(in, 1), data(in, 2), data(in, 3),
                at(out, 0).as<Y>(), geometry->clip});
  });
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
  with_factor(at(out, 0).type, [&](auto *type) {
    using Y = std::remove_pointer_t<decltype(type)>;
    apply_to_all<Y>(*work, {data(in, 0), data(in, 3), data(in, 4), data(in, 5),
                            at(out, 0).as<Y>(), geometry->clip});
  });
}

} // namespace ffrt
