//===- normalize_backward.cu - gradients of normalisations ----------------===//
#include "ffrt/normalize.h"

#include "cuda/normalize/normalize_slopes.h"

namespace ffrt {

using namespace normalization;

namespace {

/// What becomes of the sums of a set.
struct StoreSums {
  const float *scale; ///< of the set; null: in the sums already, or none
  double count;
  Pair *plain;           ///< sums without scale, or null
  float *first, *second; ///< with it; may be null
  float *dscale, *dbias; ///< of the set's own parameter; may be null
  Statistics statistics;

  /// Sums of g and g * h.
  __device__ Pair scaled(const Place &set, const Pair &sum) const {
    const double factor = scale ? double(scale[set[2]]) : 1.0;
    return {sum.a * factor, sum.b * statistics.inverse[set[1]] * factor};
  }
  __device__ void operator()(const Place &set, const Pair &sum) const {
    const int64_t s = set[1];
    const Pair all = scaled(set, sum);
    const double product = sum.b * statistics.inverse[s];
    if (plain)
      plain[s] = {sum.a, product};
    if (dscale)
      dscale[set[2]] = float(product);
    if (dbias)
      dbias[set[2]] = float(sum.a);
    if (first)
      first[s] = float(all.a);
    if (second)
      second[s] = float(all.b);
    statistics.g[s] = float(all.a / count);
    statistics.gh[s] = float(all.b / count);
  }
};

/// The statistic of all elements of a span.
struct Same {
  Statistic<float> own;
  __device__ const Statistic<float> &operator[](int) const { return own; }
};

/// Those of elements that need not have one in common.
struct Along {
  Statistic<cuda::Group<float>> of;

  __device__ Along(const Statistics &statistics, const Place &at, int64_t next,
                   const cuda::Span &span)
      : of{read_along(statistics.mean, at[1], next, span),
           read_along(statistics.inverse, at[1], next, span),
           read_along(statistics.g, at[1], next, span),
           read_along(statistics.gh, at[1], next, span),
           read_along(statistics.a, at[1], next, span, 0.0f),
           read_along(statistics.b, at[1], next, span, 0.0f)} {}
  __device__ Statistic<float> operator[](int k) const {
    return {of.mean[k], of.inverse[k], of.g[k], of.gh[k], of.a[k], of.b[k]};
  }
};

/// dx, stored as Dx.
template <class Dy, class X, class Dx> struct Data {
  Both<Dy, X> both;
  const float *scale;
  int64_t next_parameter; ///< from an element of a span to the next
  Operand<Any> addend;
  Result<Dx> dx;

  bool begin_groups() const {
    return both.begin_groups() && cuda::begins_group(scale) &&
           normalization::begin_groups(addend, dx);
  }
  __device__ cuda::Group<float> factors(const Place &at,
                                        const cuda::Span &span) const {
    return read_along(scale, at[2], next_parameter, span, 1.0f);
  }
  /// Of a span of elements.
  template <class Own>
  __device__ void operator()(const Place &at, const cuda::Span &span,
                             const Elements<Dy, X> &elements,
                             const Own &statistics) const {
    write(at, span, elements, read_if_there(addend, at[0], span), statistics,
          factors(at, span));
  }
  template <class Own>
  __device__ void write(const Place &at, const cuda::Span &span,
                        const Elements<Dy, X> &elements,
                        const cuda::Group<float> &more, const Own &statistics,
                        const cuda::Group<float> &factor) const {
    cuda::Group<float> to{};
    FFRT_UNROLL
    for (int k = 0; k < cuda::kGroup; ++k)
      if (k < span.count) {
        const Element<Dy, X> e = elements[k];
        const Statistic<float> own = statistics[k];
        const float slope =
            both.cut(e.dy, e.x, own.mean, own.a, own.b) * factor[k];
        to[k] = own.inverse * (slope - own.g -
                               (e.x - own.mean) * (own.inverse * own.gh)) +
                more[k];
      }
    dx.write(at[0], span, to);
  }
};

template <class Dy, class X, class Dx>
Data(Both<Dy, X>, const float *, int64_t, Operand<Any>, Result<Dx>)
    -> Data<Dy, X, Dx>;

/// The same by columns that have one statistic and one parameter each.
template <class Dy, class X, class Dx> struct DataOfColumns {
  Data<Dy, X, Dx> data;
  Statistics statistics;
  int64_t next_set; ///< from a column to the next

  struct Own {
    Along statistics;
    cuda::Group<float> factor;
  };
  struct Read {
    Elements<Dy, X> elements;
    cuda::Group<float> more;
  };
  bool begin_groups() const { return data.begin_groups(); }
  __device__ Own own(const Place &at, const cuda::Span &span) const {
    return {Along(statistics, at, next_set, span), data.factors(at, span)};
  }
  __device__ Read read(const Place &at, const cuda::Span &span) const {
    return {data.both.read(at, span), read_if_there(data.addend, at[0], span)};
  }
  __device__ void write(const Place &at, const cuda::Span &span,
                        const Read &read, const Own &own) const {
    data.write(at, span, read.elements, read.more, own.statistics, own.factor);
  }
};

/// The sums of sets, and dx.
template <bool kGrouped, class Dy, class X, class Dx>
__global__ void __launch_bounds__(cuda::kRowThreads)
    backward_rows_kernel(Reduction sets, StoreSums store,
                         Data<Dy, X, Dx> data) {
  using Part = RowPart<kGrouped>;
  constexpr cuda::Span kSpan{0, Part::kWide, kGrouped};
  const int64_t parts = sets.reduced.elements / Part::kWide;
  for (int64_t s = cuda::first_row(); s < sets.kept.elements;
       s += cuda::row_step()) {
    const Place set = sets.kept(s);
    const auto part = [&](int64_t i) {
      return data.both.read(sets.element<kGrouped>(set, i), kSpan);
    };
    const cuda::Row<decltype(part), Part::kKept> row(parts, part);
    Statistic<float> own = store.statistics.before_sums(set[1]);
    const AddPairs add;
    Pair sum = add.neutral();
    row.for_each([&](int64_t i, const Elements<Dy, X> &elements) {
      const cuda::Group<float> scale = read_along(
          store.scale ? nullptr : data.scale, sets.element<kGrouped>(set, i)[2],
          data.next_parameter, kSpan, 1.0f);
      float slopes = 0, products = 0;
      FFRT_UNROLL
      for (int k = 0; k < Part::kWide; ++k) {
        const Element<Dy, X> e = elements[k];
        const float g =
            data.both.cut(e.dy, e.x, own.mean, own.a, own.b) * scale[k];
        slopes += g;
        products += g * (float(e.x) - own.mean);
      }
      sum = add(sum, AddPairs::Part{slopes, products});
    });
    sum = cuda::reduce_row(sum, add.neutral(), add);
    const Pair all = store.scaled(set, sum);
    own.g = float(all.a / store.count);
    own.gh = float(all.b / store.count);
    if (threadIdx.x == 0)
      store(set, sum);
    row.for_each([&](int64_t i, const Elements<Dy, X> &elements) {
      data(sets.element<kGrouped>(set, i), kSpan, elements, Same{own});
    });
  }
}

template <class Dy, class X, class Dx>
void data_of_all(const NormalizeWork &work, const Data<Dy, X, Dx> &data) {
  if (!data.dx.data)
    return;
  const Statistics statistics = work.of_sets();
  if (work.by_columns())
    return cuda::for_columns(
        work.sets,
        DataOfColumns<Dy, X, Dx>{data, statistics, work.sets.neighbour(1)});
  const int64_t next_set = work.all.step(1);
  for_groups(
      work, data.begin_groups(),
      FFRT_LAMBDA(const Place &at, const cuda::Span &span) {
        data(at, span, data.both.read(at, span),
             Along(statistics, at, next_set, span));
      });
}

/// Statistics and parameters that are given: for every statistic, what elements
/// need of it.
Cut use(const NormalizeGeometry &geometry, const NormalizeWork &work,
        Tensors in) {
  const float *mean = data(in, 2), *var = data(in, 3), *scale = data(in, 4),
              *bias = data(in, 5);
  const double epsilon = geometry.epsilon;
  const Statistics statistics = work.of_sets();
  const Places sets = work.sets.kept;
  cuda::for_elements(
      sets.elements, FFRT_LAMBDA(int64_t i) {
        const Place set = sets(i);
        const int64_t s = set[1];
        const float inverse = inverse_of(var[s], epsilon);
        statistics.mean[s] = mean[s];
        statistics.inverse[s] = inverse;
        statistics.g[s] = 0;
        statistics.gh[s] = 0;
        if (!statistics.a)
          return;
        // As the forward operator computes it.
        statistics.a[s] = inverse * (scale ? scale[set[2]] : 1.0f);
        statistics.b[s] = bias ? bias[set[2]] : 0.0f;
      });
  return {geometry.cuts, {geometry.clip.alpha, geometry.clip.beta}};
}

struct StoreParameters {
  float *dscale, *dbias; ///< may be null
  __device__ void operator()(const Place &parameter, const Pair &sum) const {
    if (dscale)
      dscale[parameter[2]] = float(sum.b);
    if (dbias)
      dbias[parameter[2]] = float(sum.a);
  }
};

/// What elements add to the gradients of parameters: g, and g * h. Their
/// statistics have several parameters, so nothing was cut.
template <class Dy, class X> struct ParameterSlopes {
  Both<Dy, X> both;
  Statistics statistics;
  int64_t next_set; ///< from an element of a span to the next

  struct Read {
    Elements<Dy, X> elements;
    cuda::Group<float> mean, inverse;
  };
  bool begin_groups() const { return both.begin_groups(); }
  __device__ cuda::Nothing own(const Place &) const { return {}; }
  __device__ Read read(const Place &at, const cuda::Span &span) const {
    return {both.read(at, span),
            read_along(statistics.mean, at[1], next_set, span),
            read_along(statistics.inverse, at[1], next_set, span)};
  }
  __device__ AddPairs::Part of(const Read &read, int k, cuda::Nothing) const {
    const Element<Dy, X> e = read.elements[k];
    const float g = float(e.dy);
    return {g, g * ((float(e.x) - read.mean[k]) * read.inverse[k])};
  }
};

/// The same of statistics whose elements have been added up.
struct KnownSums {
  const Pair *sums;

  bool begin_groups() const { return false; }
  __device__ cuda::Nothing own(const Place &) const { return {}; }
  __device__ Pair read(const Place &at, const cuda::Span &) const {
    return sums[at[1]];
  }
  __device__ Pair of(const Pair &sum, int, cuda::Nothing) const { return sum; }
};

/// Sums over what has a parameter in common.
template <class Dy, class X>
void parameter_gradients(const NormalizeGeometry &geometry,
                         const NormalizeWork &work, const Both<Dy, X> &both,
                         float *dscale, float *dbias) {
  if (!dscale && !dbias)
    return;
  const StoreParameters store{dscale, dbias};
  if (geometry.constant)
    sum_up(work.parameters, work.partial(), KnownSums{work.sums()}, store);
  else
    sum_up(work.parameters, work.partial(),
           ParameterSlopes<Dy, X>{both, work.of_sets(),
                                  work.parameters.neighbour(1)},
           store);
}

/// Sums, and gradients of parameters, all of which may be absent; `scale`, if
/// the sums are multiplied by it.
struct Gradient {
  const float *scale;
  float *first, *second, *dscale, *dbias;
};

/// Calls f(dy, x, dx) with operands and result of the types of three tensors
/// where these are one, or dy is bf16 or f16, or dy and dx; else of type Any.
template <class F>
void with_gradients(const F &f, const Tensor &dy, const Tensor &x,
                    const Tensor &dx) {
  with_data(
      [&](auto *a, auto *b, auto *c) {
        using Dy = std::remove_pointer_t<decltype(a)>;
        using X = std::remove_pointer_t<decltype(b)>;
        using Dx = std::remove_pointer_t<decltype(c)>;
        constexpr bool kIsUsual =
            std::is_same_v<X, float>
                ? std::is_same_v<Dx, Dy> || std::is_same_v<Dx, float>
                : std::is_same_v<X, Dy> && std::is_same_v<X, Dx>;
        if constexpr (kIsUsual)
          f(Operand<Dy>(dy), Operand<X>(x), Result<Dx>(dx));
        else
          f(Operand<Any>(dy), Operand<Any>(x), Result<Any>(dx));
      },
      dy, x, dx.data ? dx : x);
}

template <class Dy, class X, class Dx>
void gradient(const NormalizeGeometry &geometry, const NormalizeWork &work,
              const Gradient &of, const Both<Dy, X> &both,
              const Operand<Any> &addend, const Result<Dx> &dx) {
  const bool constant = geometry.constant,
             // Its sums are the gradients of its parameter.
      owns = constant && work.parameters.reduced.elements == 1;
  const StoreSums store{constant ? of.scale : nullptr,
                        geometry.count,
                        constant && !owns ? work.sums() : nullptr,
                        of.first,
                        of.second,
                        owns ? of.dscale : nullptr,
                        owns ? of.dbias : nullptr,
                        work.of_sets()};
  const Data data{both, of.scale, work.all.step(2), addend, dx};
  if (dx.data && work.by_rows()) {
    if (work.sets.groups && data.begin_groups())
      work.launch_rows(cuda::kGroup, backward_rows_kernel<true, Dy, X, Dx>,
                       store, data);
    else
      work.launch_rows(1, backward_rows_kernel<false, Dy, X, Dx>, store, data);
  } else {
    sum_up(work.sets, work.partial(),
           Slopes<Dy, X>{both, constant ? nullptr : of.scale,
                         work.sets.neighbour(2), work.of_sets()},
           store);
    data_of_all(work, data);
  }
  if (!owns)
    parameter_gradients(geometry, work, both, of.dscale, of.dbias);
}

/// dx from the sums of g and g * h, to be multiplied by the scale of their set
/// where `scale` is not null.
void gradient_data(const NormalizeGeometry &geometry, const NormalizeWork &work,
                   Tensors in, const float *scale, const Tensor &dx) {
  const Operand<Any> addend(at(in, 8));
  const Cut cut = use(geometry, work, in);
  const float *first = data(in, 6), *second = data(in, 7);
  const Statistics statistics = work.of_sets();
  const Places sets = work.sets.kept;
  const double count = geometry.count;
  cuda::for_elements(
      sets.elements, FFRT_LAMBDA(int64_t i) {
        const Place set = sets(i);
        const int64_t s = set[1];
        const double factor = scale ? scale[set[2]] / count : 1.0 / count;
        statistics.g[s] = float(first[s] * factor);
        statistics.gh[s] = float(second[s] * factor);
      });
  const float *slopes = data(in, 4);
  with_gradients(
      [&](const auto &dy, const auto &x, const auto &to) {
        data_of_all(
            work, Data{Both{dy, x, cut}, slopes, work.all.step(2), addend, to});
      },
      at(in, 0), at(in, 1), dx);
}

/// The rest of kernels that sum up.
void gradient(const NormalizeGeometry &geometry, const NormalizeWork &work,
              const Gradient &of, Tensors in, const Tensor &addend,
              const Tensor &dx) {
  const Cut cut = use(geometry, work, in);
  with_gradients(
      [&](const auto &dy, const auto &x, const auto &to) {
        gradient(geometry, work, of, Both{dy, x, cut}, Operand<Any>(addend),
                 to);
      },
      at(in, 0), at(in, 1), dx);
}

} // namespace

void NormalizeBackward::operator()(Tensors in, Tensors out) {
  gradient(*geometry, *work,
           {data(in, 4), nullptr, nullptr, data(out, 1), data(out, 2)}, in,
           at(in, 6), at(out, 0));
}

void NormalizeBackwardSums::operator()(Tensors in, Tensors out) {
  gradient(
      *geometry, *work,
      {data(in, 4), data(out, 0), data(out, 1), data(out, 2), data(out, 3)}, in,
      {}, {});
}

void NormalizeBackwardData::operator()(Tensors in, Tensors out) {
  gradient_data(*geometry, *work, in, nullptr, at(out, 0));
}

//===----------------------------------------------------------------------===//
// Backward, one scale per statistic
//===----------------------------------------------------------------------===//

void NormalizeChannelSums::operator()(Tensors in, Tensors out) {
  gradient(*geometry, *work,
           {nullptr, data(out, 0), data(out, 1), nullptr, nullptr}, in, {}, {});
}

void NormalizeChannelData::operator()(Tensors in, Tensors out) {
  const float *first = data(in, 6), *second = data(in, 7);
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
