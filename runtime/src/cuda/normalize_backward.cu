//===- normalize_backward.cu - gradients of normalisations ----------------===//
#include "ffrt/normalize.h"

#include "common/cast.h"
#include "cuda/normalize_work.h"

namespace ffrt {

using namespace normalization;

namespace {

struct Element {
  float dy, x;
};

/// What sums are taken of: g = dy * scale and g * (x - mean). Where a set has
/// one scale, its sums are multiplied by it later, and `scale` is null.
struct Slopes {
  const float *dy, *x, *scale;
  const SetStatistics *statistics;

  __device__ Pair operator()(const Place &at, const Place &set) const {
    return of({dy[at[0]], x[at[0]]}, at[2], statistics[set[1]].mean);
  }
  /// What an element adds to the sums.
  __device__ Pair of(const Element &e, int64_t parameter, float mean) const {
    const double g = scale ? double(e.dy) * scale[parameter] : double(e.dy);
    return {g, g * (e.x - mean)};
  }
};

/// What becomes of the sums of a set.
struct StoreSums {
  const float *scale; ///< of the set; null: in the sums already, or none
  double count;
  Pair *plain;           ///< sums without scale, or null
  float *first, *second; ///< with it; may be null
  SetStatistics *statistics;

  /// Sums of g and g * h.
  __device__ Pair scaled(const Place &set, const Pair &sum) const {
    const double factor = scale ? double(scale[set[2]]) : 1.0;
    return {sum.a * factor, sum.b * statistics[set[1]].inverse * factor};
  }
  __device__ void operator()(const Place &set, const Pair &sum) const {
    const int64_t s = set[1];
    const Pair all = scaled(set, sum);
    if (plain)
      plain[s] = {sum.a, sum.b * statistics[s].inverse};
    if (first)
      first[s] = float(all.a);
    if (second)
      second[s] = float(all.b);
    statistics[s].g = float(all.a / count);
    statistics[s].gh = float(all.b / count);
  }
};

/// dx of an element, stored as Dx.
template <class Dx> struct Data {
  const float *dy, *x, *scale;
  Dx *dx;

  __device__ float operator()(const Element &e, int64_t parameter,
                              const SetStatistics &set) const {
    const float slope = scale ? e.dy * scale[parameter] : e.dy;
    return set.inverse *
           (slope - set.g - (e.x - set.mean) * (set.inverse * set.gh));
  }
};

/// The sums of sets, and dx.
template <class Dx>
__global__ void __launch_bounds__(cuda::kRowThreads)
    backward_rows_kernel(Reduction sets, Slopes slopes, StoreSums store,
                         Data<Dx> data) {
  for (int64_t s = cuda::first_row(); s < sets.kept.elements;
       s += cuda::row_step()) {
    const Place set = sets.kept(s);
    const auto element = [&](int64_t i) {
      const int64_t at = (set + sets.reduced(i))[0];
      return Element{data.dy[at], data.x[at]};
    };
    const cuda::Row<decltype(element)> row(sets.reduced.elements, element);
    SetStatistics own = store.statistics[set[1]];
    const AddPairs add;
    Pair sum = add.neutral();
    row.for_each([&](int64_t i, const Element &e) {
      const int64_t parameter = (set + sets.reduced(i))[2];
      sum = add(sum, slopes.of(e, parameter, own.mean));
    });
    sum = cuda::reduce_row(sum, add.neutral(), add);
    const Pair all = store.scaled(set, sum);
    own.g = float(all.a / store.count);
    own.gh = float(all.b / store.count);
    if (threadIdx.x == 0)
      store(set, sum);
    row.for_each([&](int64_t i, const Element &e) {
      const Place at = set + sets.reduced(i);
      data.dx[at[0]] = Dx(data(e, at[2], own));
    });
  }
}

template <class Dx>
void data_of_all(const NormalizeWork &work, const Data<Dx> &data) {
  if (!data.dx)
    return;
  const SetStatistics *statistics = work.of_sets();
  const int64_t next_set = work.all.step(1), next_parameter = work.all.step(2);
  for_groups(
      work, begin_groups(data.dy, data.x, data.dx),
      FFRT_LAMBDA(const Place &at, const cuda::Span &span) {
        const cuda::Group<float> dy = cuda::read(data.dy + at[0], span),
                                 x = cuda::read(data.x + at[0], span);
        cuda::Group<Dx> dx;
        FFRT_UNROLL
        for (int k = 0; k < cuda::kGroup; ++k)
          if (k < span.count)
            dx[k] = Dx(data({dy[k], x[k]}, at[2] + k * next_parameter,
                            statistics[at[1] + k * next_set]));
        cuda::write(data.dx + at[0], span, dx);
      });
}

/// Statistics that are given.
void use(const NormalizeWork &work, const float *mean, const float *var,
         double epsilon) {
  SetStatistics *statistics = work.of_sets();
  cuda::for_elements(
      work.statistics, FFRT_LAMBDA(int64_t s) {
        statistics[s] = {mean[s], inverse_of(var[s], epsilon), 0, 0};
      });
}

/// Sums over what has a parameter in common.
void parameter_gradients(const NormalizeGeometry &geometry,
                         const NormalizeWork &work, const float *dy,
                         const float *x, float *dscale, float *dbias) {
  if (!dscale && !dbias)
    return;
  const SetStatistics *statistics = work.of_sets();
  const Pair *sums = work.sums();
  const bool of_statistics = geometry.constant;
  sum_up(
      work.parameters, work.partial(),
      FFRT_LAMBDA(const Place &at, const Place &) {
        if (of_statistics)
          return sums[at[1]];
        const SetStatistics set = statistics[at[1]];
        const double g = dy[at[0]];
        return Pair{g, g * ((x[at[0]] - set.mean) * set.inverse)};
      },
      FFRT_LAMBDA(const Place &parameter, const Pair &sum) {
        if (dscale)
          dscale[parameter[2]] = float(sum.b);
        if (dbias)
          dbias[parameter[2]] = float(sum.a);
      });
}

/// Statistics, sums and dx, all of which but the statistics may be absent.
template <class Dx> struct Gradient {
  const float *dy, *x, *mean, *var, *scale;
  float *first, *second, *dscale, *dbias;
  Dx *dx;
};

template <class Dx>
void gradient(const NormalizeGeometry &geometry, const NormalizeWork &work,
              const Gradient<Dx> &of) {
  use(work, of.mean, of.var, geometry.epsilon);
  const bool constant = geometry.constant;
  const Slopes slopes{of.dy, of.x, constant ? nullptr : of.scale,
                      work.of_sets()};
  const StoreSums store{constant ? of.scale : nullptr,
                        geometry.count,
                        constant ? work.sums() : nullptr,
                        of.first,
                        of.second,
                        work.of_sets()};
  const Data<Dx> data{of.dy, of.x, of.scale, of.dx};
  if (of.dx && work.by_rows()) {
    const dim3 block = cuda::row_block(work.sets.reduced.elements);
    cuda::launch(cuda::blocks_for_rows(work.sets.kept.elements, block), block,
                 backward_rows_kernel<Dx>, work.sets, slopes, store, data);
  } else {
    sum_up(work.sets, work.partial(), slopes, store);
    data_of_all(work, data);
  }
  parameter_gradients(geometry, work, of.dy, of.x, of.dscale, of.dbias);
}

/// dx from the sums of g and g * h, to be multiplied by the scale of their set
/// where `scale` is not null.
void gradient_data(const NormalizeGeometry &geometry, const NormalizeWork &work,
                   Tensors in, const float *scale, const Tensor &dx) {
  use(work, data(in, 2), data(in, 3), geometry.epsilon);
  const float *first = data(in, 5), *second = data(in, 6);
  SetStatistics *statistics = work.of_sets();
  const Places sets = work.sets.kept;
  const double count = geometry.count;
  cuda::for_elements(
      sets.elements, FFRT_LAMBDA(int64_t i) {
        const Place set = sets(i);
        const int64_t s = set[1];
        const double factor = scale ? scale[set[2]] / count : 1.0 / count;
        statistics[s].g = float(first[s] * factor);
        statistics[s].gh = float(second[s] * factor);
      });
  with_factor(dx.type, [&](auto *type) {
    using Dx = std::remove_pointer_t<decltype(type)>;
    data_of_all<Dx>(work, {data(in, 0), data(in, 1), data(in, 4), dx.as<Dx>()});
  });
}

} // namespace

void NormalizeBackward::operator()(Tensors in, Tensors out) {
  with_factor(at(out, 0).type, [&](auto *type) {
    using Dx = std::remove_pointer_t<decltype(type)>;
    gradient<Dx>(*geometry, *work,
                 {data(in, 0), data(in, 1), data(in, 2), data(in, 3),
                  data(in, 4), nullptr, nullptr, data(out, 1), data(out, 2),
                  at(out, 0).as<Dx>()});
  });
}

void NormalizeBackwardSums::operator()(Tensors in, Tensors out) {
  gradient<float>(*geometry, *work,
                  {data(in, 0), data(in, 1), data(in, 2), data(in, 3),
                   data(in, 4), data(out, 0), data(out, 1), data(out, 2),
                   data(out, 3), nullptr});
}

void NormalizeBackwardData::operator()(Tensors in, Tensors out) {
  gradient_data(*geometry, *work, in, nullptr, at(out, 0));
}

//===----------------------------------------------------------------------===//
// Backward, one scale per statistic
//===----------------------------------------------------------------------===//

void NormalizeChannelSums::operator()(Tensors in, Tensors out) {
  gradient<float>(*geometry, *work,
                  {data(in, 0), data(in, 1), data(in, 2), data(in, 3), nullptr,
                   data(out, 0), data(out, 1), nullptr, nullptr, nullptr});
}

void NormalizeChannelData::operator()(Tensors in, Tensors out) {
  const float *first = data(in, 5), *second = data(in, 6);
  float *dscale = data(out, 1), *dbias = data(out, 2);
  cuda::for_elements(
      work->statistics, FFRT_LAMBDA(int64_t s) {
        if (dscale)
          dscale[s] = second[s];
        if (dbias)
          dbias[s] = first[s];
      });
  gradient_data(*geometry, *work, in, data(in, 4), at(out, 0));
}

} // namespace ffrt
