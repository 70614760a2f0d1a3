//===- normalize.cu - batch, instance, group and layer normalisation ------===//
//
// Sums of a set and of its squares are taken in one pass, relative to the set's
// first element, so that what cancels is never much larger than what remains:
// in doubles, but for the few elements that a thread reads at once.
//
//===----------------------------------------------------------------------===//
#include "ffrt/normalize.h"

#include "cuda/normalize/normalize_operand.h"
#include "cuda/normalize/normalize_work.h"

namespace ffrt {

using namespace normalization;

namespace {

/// What is read at once.
template <class X> struct One {
  Operand<X> x;

  bool begin_groups() const { return x.begins_group(); }
  __device__ auto read(const Place &at, const cuda::Span &span) const {
    return x.read(at[0], span);
  }
};

/// The statistics of sets from the sums of what their elements are above the
/// first one, and of its squares.
template <class X> struct Moments : One<X> {
  using One<X>::x;
  double size, epsilon;
  float *mean, *var; ///< may be null
  Statistics statistics;

  __device__ float own(const Place &set) const { return x[set[0]]; }
  template <class Elements>
  __device__ AddPairs::Part of(const Elements &elements, int k,
                               float first) const {
    const float above = float(elements[k]) - first;
    return {above, above * above};
  }
  /// Mean and inverse, also where nobody else reads them.
  __device__ Statistic<float> statistic_of(const Place &set, float first,
                                           const Pair &sum, bool stores) const {
    const double above = sum.a / size, middle = double(first) + above,
                 rest = sum.b - sum.a * above,
                 spread = (rest > 0 ? rest : 0.0) / size;
    if (stores && mean)
      mean[set[1]] = float(middle);
    if (stores && var)
      var[set[1]] = float(spread);
    return {float(middle), inverse_of(spread, epsilon), 0, 0, 0, 0};
  }
};

template <class X> struct StoreMoments {
  Moments<X> moments;
  __device__ void operator()(const Place &set, const Pair &sum) const {
    const int64_t s = set[1];
    const Statistic<float> own =
        moments.statistic_of(set, moments.own(set), sum, true);
    moments.statistics.mean[s] = own.mean;
    moments.statistics.inverse[s] = own.inverse;
  }
};

/// y, stored as Y.
template <class X, class Y> struct Apply {
  Operand<X> x;
  const float *scale, *bias; ///< may be null
  Operand<Any> addend;
  Result<Y> y;
  fn::Clip clip;
  int64_t next_parameter; ///< from an element of a span to the next

  bool begin_groups() const {
    return normalization::begin_groups(x, addend, y) &&
           cuda::begins_group(scale) && cuda::begins_group(bias);
  }
  /// Of the parameters of a span.
  struct Factors {
    cuda::Group<float> a, b;
  };
  __device__ Factors factors(const Place &at, const cuda::Span &span) const {
    return {read_along(scale, at[2], next_parameter, span, 1.0f),
            read_along(bias, at[2], next_parameter, span, 0.0f)};
  }
  /// Of a span of elements x.
  template <class Mean, class Inverse>
  __device__ void operator()(const Place &at, const cuda::Span &span,
                             const cuda::Group<X> &x, const Mean &mean,
                             const Inverse &inverse) const {
    write(at, span, x, read_if_there(addend, at[0], span), mean, inverse,
          factors(at, span));
  }
  template <class Mean, class Inverse>
  __device__ void write(const Place &at, const cuda::Span &span,
                        const cuda::Group<X> &x, const cuda::Group<float> &more,
                        const Mean &mean, const Inverse &inverse,
                        const Factors &by) const {
    cuda::Group<float> to{};
    FFRT_UNROLL
    for (int k = 0; k < cuda::kGroup; ++k)
      if (k < span.count)
        to[k] =
            clip((x[k] - mean[k]) * (inverse[k] * by.a[k]) + by.b[k] + more[k]);
    y.write(at[0], span, to);
  }
};

/// The same by columns that have one statistic and one parameter each.
template <class X, class Y> struct ApplyToColumns {
  Apply<X, Y> apply;
  Statistics statistics;
  int64_t next_set; ///< from a column to the next

  struct Own {
    cuda::Group<float> mean, inverse;
    typename Apply<X, Y>::Factors by;
  };
  struct Read {
    cuda::Group<X> x;
    cuda::Group<float> more;
  };
  bool begin_groups() const { return apply.begin_groups(); }
  __device__ Own own(const Place &at, const cuda::Span &span) const {
    return {read_along(statistics.mean, at[1], next_set, span),
            read_along(statistics.inverse, at[1], next_set, span),
            apply.factors(at, span)};
  }
  __device__ Read read(const Place &at, const cuda::Span &span) const {
    return {apply.x.read(at[0], span),
            read_if_there(apply.addend, at[0], span)};
  }
  __device__ void write(const Place &at, const cuda::Span &span,
                        const Read &read, const Own &own) const {
    apply.write(at, span, read.x, read.more, own.mean, own.inverse, own.by);
  }
};

/// One number for all of a span.
struct Same {
  float value;
  __device__ float operator[](int) const { return value; }
};

template <bool kGrouped, class X, class Y>
__global__ void __launch_bounds__(cuda::kRowThreads)
    forward_rows_kernel(Reduction sets, Moments<X> moments, Apply<X, Y> apply) {
  using Part = RowPart<kGrouped>;
  constexpr cuda::Span kSpan{0, Part::kWide, kGrouped};
  const int64_t parts = sets.reduced.elements / Part::kWide;
  for (int64_t s = cuda::first_row(); s < sets.kept.elements;
       s += cuda::row_step()) {
    const Place set = sets.kept(s);
    const auto part = [&](int64_t i) {
      return moments.read(sets.element<kGrouped>(set, i), kSpan);
    };
    const cuda::Row<decltype(part), Part::kKept> x(parts, part);
    const float first = moments.own(set);
    const AddPairs add;
    Pair sum = add.neutral();
    x.for_each([&](int64_t, const cuda::Group<X> &values) {
      float plain = 0, squares = 0;
      FFRT_UNROLL
      for (int k = 0; k < Part::kWide; ++k) {
        const float above = float(values[k]) - first;
        plain += above;
        squares += above * above;
      }
      sum = add(sum, AddPairs::Part{plain, squares});
    });
    sum = cuda::reduce_row(sum, add.neutral(), add);
    const Statistic<float> own =
        moments.statistic_of(set, first, sum, threadIdx.x == 0);
    if (apply.y.data)
      x.for_each([&](int64_t i, const cuda::Group<X> &values) {
        apply(sets.element<kGrouped>(set, i), kSpan, values, Same{own.mean},
              Same{own.inverse});
      });
  }
}

template <class X, class Y>
void apply_to_all(const NormalizeWork &work, const Apply<X, Y> &apply) {
  if (!apply.y.data)
    return;
  const Statistics statistics = work.of_sets();
  if (work.by_columns())
    return cuda::for_columns(
        work.sets,
        ApplyToColumns<X, Y>{apply, statistics, work.sets.neighbour(1)});
  const int64_t next_set = work.all.step(1);
  for_groups(
      work, apply.begin_groups(),
      FFRT_LAMBDA(const Place &at, const cuda::Span &span) {
        apply(at, span, apply.x.read(at[0], span),
              read_along(statistics.mean, at[1], next_set, span),
              read_along(statistics.inverse, at[1], next_set, span));
      });
}

/// Statistics and y.
template <class X, class Y>
void forward(const NormalizeWork &work, const Moments<X> &moments,
             const Apply<X, Y> &apply) {
  if (work.by_rows()) {
    if (work.sets.groups && apply.begin_groups())
      work.launch_rows(cuda::kGroup, forward_rows_kernel<true, X, Y>, moments,
                       apply);
    else
      work.launch_rows(1, forward_rows_kernel<false, X, Y>, moments, apply);
    return;
  }
  sum_up(work.sets, work.partial(), moments, StoreMoments<X>{moments});
  apply_to_all(work, apply);
}

/// A sum per set.
struct StoreSum {
  float *sums;
  __device__ void operator()(const Place &set, const Pair &sum) const {
    sums[set[1]] = float(sum.a);
  }
};

/// Elements, or their squares around the mean of their set.
template <class X, bool kSquares> struct Plain : One<X> {
  const float *mean;

  __device__ float own(const Place &set) const {
    return kSquares ? mean[set[1]] : 0.0f;
  }
  template <class Elements>
  __device__ AddPairs::Part of(const Elements &elements, int k,
                               float own) const {
    const float value = float(elements[k]);
    if (!kSquares)
      return {value, 0};
    const float above = value - own;
    return {above * above, 0};
  }
};

template <bool kSquares>
void sum(const NormalizeWork &work, const Tensor &x, float *to) {
  with_float(x.type, [&](auto *type) {
    using X = std::remove_pointer_t<decltype(type)>;
    sum_up(work.sets, work.partial(),
           Plain<X, kSquares>{{Operand<X>(x)}, work.of_sets().mean},
           StoreSum{to});
  });
}

} // namespace

void NormalizeForward::operator()(Tensors in, Tensors out) {
  with_data(
      [&](auto *x, auto *y) {
        using X = std::remove_pointer_t<decltype(x)>;
        using Y = std::remove_pointer_t<decltype(y)>;
        forward<X, Y>(*work,
                      {{Operand<X>(at(in, 0))},
                       geometry->count,
                       geometry->epsilon,
                       data(out, 1),
                       data(out, 2),
                       work->of_sets()},
                      {Operand<X>(at(in, 0)), data(in, 1), data(in, 2),
                       Operand<Any>(at(in, 3)), Result<Y>(at(out, 0)),
                       geometry->clip, work->all.step(2)});
      },
      at(in, 0), at(out, 0));
}

void NormalizeSum::operator()(Tensors in, Tensors out) {
  sum<false>(*work, at(in, 0), data(out, 0));
}

void NormalizeSquares::operator()(Tensors in, Tensors out) {
  const float *sums = data(in, 1);
  float *mean = work->of_sets().mean;
  const double count = geometry->count;
  cuda::for_elements(
      work->statistics,
      FFRT_LAMBDA(int64_t s) { mean[s] = float(sums[s] / count); });
  sum<true>(*work, at(in, 0), data(out, 0));
}

void NormalizeApply::operator()(Tensors in, Tensors out) {
  const float *sums = data(in, 1), *squares = data(in, 2);
  float *mean = data(out, 1), *var = data(out, 2);
  const Statistics statistics = work->of_sets();
  const double count = geometry->count, epsilon = geometry->epsilon;
  cuda::for_elements(
      work->statistics, FFRT_LAMBDA(int64_t s) {
        const double middle = sums[s] / count, spread = squares[s] / count;
        statistics.mean[s] = float(middle);
        statistics.inverse[s] = inverse_of(spread, epsilon);
        if (mean)
          mean[s] = float(middle);
        if (var)
          var[s] = float(spread);
      });
  with_data(
      [&](auto *x, auto *y) {
        using X = std::remove_pointer_t<decltype(x)>;
        using Y = std::remove_pointer_t<decltype(y)>;
        apply_to_all<X, Y>(*work,
                           {Operand<X>(at(in, 0)), data(in, 3), data(in, 4),
                            Operand<Any>(at(in, 5)), Result<Y>(at(out, 0)),
                            geometry->clip, work->all.step(2)});
      },
      at(in, 0), at(out, 0));
}

} // namespace ffrt
