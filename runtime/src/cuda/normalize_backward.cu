//===- normalize_backward.cu - gradients of normalisations ----------------===//
#include "ffrt/normalize.h"

#include "cuda/normalize_operand.h"
#include "cuda/normalize_work.h"

namespace ffrt {

using namespace normalization;

namespace {

/// As it was read: narrow elements are widened where they are used, so that a
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

/// Which slopes count: those of what was not cut.
struct Cut {
  const Line *lines; ///< of statistics; null: all count
  fn::ClipGradient slope;

  __device__ float operator()(float dy, float x, float mean, int64_t s) const {
    if (!lines)
      return dy;
    return slope(dy, (x - mean) * lines[s].a + lines[s].b);
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
template <class Dy, class X> struct Slopes : Both<Dy, X> {
  const float *scale;
  const SetStatistics *statistics;

  __device__ Pair of(const Elements<Dy, X> &elements, int k, const Place &at,
                     const Place &set) const {
    return of(elements[k], at[2], statistics[set[1]].mean, set[1]);
  }
  /// What an element adds to the sums of its statistic.
  __device__ Pair of(const Element<Dy, X> &e, int64_t parameter, float mean,
                     int64_t statistic) const {
    const double dy = this->cut(e.dy, e.x, mean, statistic),
                 g = scale ? dy * scale[parameter] : dy;
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
template <class Dy, class X, class Dx> struct Data {
  Operand<Dy> dy;
  Operand<X> x;
  Cut cut;
  const float *scale;
  Operand<Any> addend;
  Result<Dx> dx;

  bool begin_groups() const {
    return normalization::begin_groups(dy, x, addend, dx);
  }
  __device__ Elements<Dy, X> read(const Place &at,
                                  const cuda::Span &span) const {
    return {dy.read(at[0], span), x.read(at[0], span)};
  }
  /// `more` is the addend's element, or 0; without a scale it is 1.
  __device__ float operator()(const Element<Dy, X> &e, int64_t statistic,
                              const SetStatistics &set, float scale,
                              float more) const {
    const float slope = cut(e.dy, e.x, set.mean, statistic) * scale;
    return set.inverse *
               (slope - set.g - (e.x - set.mean) * (set.inverse * set.gh)) +
           more;
  }
};

template <class Dy, class X, class Dx>
Data(Operand<Dy>, Operand<X>, Cut, const float *, Operand<Any>, Result<Dx>)
    -> Data<Dy, X, Dx>;

/// The sums of sets, and dx.
template <bool kGrouped, class Dy, class X, class Dx>
__global__ void __launch_bounds__(cuda::kRowThreads)
    backward_rows_kernel(Reduction sets, StoreSums store,
                         Data<Dy, X, Dx> data) {
  using Part = RowPart<kGrouped>;
  constexpr cuda::Span kSpan{0, Part::kWide, kGrouped};
  const int64_t parts = sets.reduced.elements / Part::kWide,
                next_parameter = sets.reduced.step(2);
  for (int64_t s = cuda::first_row(); s < sets.kept.elements;
       s += cuda::row_step()) {
    const Place set = sets.kept(s);
    const auto part = [&](int64_t i) {
      return data.read(sets.in_row<kGrouped>(set, i), kSpan);
    };
    const auto scale_of = [&](const Place &at) {
      cuda::Group<float> scale;
      FFRT_UNROLL
      for (int k = 0; k < Part::kWide; ++k)
        scale[k] = 1;
      if (data.scale)
        scale = read_parameters(data.scale, at[2], next_parameter, kSpan);
      return scale;
    };
    const cuda::Row<decltype(part), Part::kKept> row(parts, part);
    SetStatistics own = store.statistics[set[1]];
    const AddPairs add;
    Pair sum = add.neutral();
    row.for_each([&](int64_t i, const Elements<Dy, X> &elements) {
      const cuda::Group<float> scale = scale_of(sets.in_row<kGrouped>(set, i));
      float slopes = 0, products = 0;
      FFRT_UNROLL
      for (int k = 0; k < Part::kWide; ++k) {
        const Element<Dy, X> e = elements[k];
        const float above = float(e.x) - own.mean,
                    g = data.cut(e.dy, e.x, own.mean, set[1]) *
                        (store.scale ? 1.0f : scale[k]);
        slopes += g;
        products += g * above;
      }
      sum = add(sum, {slopes, products});
    });
    sum = cuda::reduce_row(sum, add.neutral(), add);
    const Pair all = store.scaled(set, sum);
    own.g = float(all.a / store.count);
    own.gh = float(all.b / store.count);
    if (threadIdx.x == 0)
      store(set, sum);
    row.for_each([&](int64_t i, const Elements<Dy, X> &elements) {
      const Place at = sets.in_row<kGrouped>(set, i);
      const cuda::Group<float> scale = scale_of(at);
      cuda::Group<float> more{}, dx;
      if (data.addend.data)
        more = data.addend.read(at[0], kSpan);
      FFRT_UNROLL
      for (int k = 0; k < Part::kWide; ++k)
        dx[k] = data(elements[k], set[1], own, scale[k], more[k]);
      data.dx.write(at[0], kSpan, dx);
    });
  }
}

template <class Dy, class X, class Dx>
void data_of_all(const NormalizeWork &work, const Data<Dy, X, Dx> &data) {
  if (!data.dx.data)
    return;
  const SetStatistics *statistics = work.of_sets();
  const int64_t next_set = work.all.step(1), next_parameter = work.all.step(2);
  for_groups(
      work, data.begin_groups(),
      FFRT_LAMBDA(const Place &at, const cuda::Span &span) {
        const Elements<Dy, X> elements = data.read(at, span);
        cuda::Group<float> more{}, dx{};
        if (data.addend.data)
          more = data.addend.read(at[0], span);
        FFRT_UNROLL
        for (int k = 0; k < cuda::kGroup; ++k)
          if (k < span.count) {
            const int64_t statistic = at[1] + k * next_set;
            dx[k] =
                data(elements[k], statistic, statistics[statistic],
                     data.scale ? data.scale[at[2] + k * next_parameter] : 1.0f,
                     more[k]);
          }
        data.dx.write(at[0], span, dx);
      });
}

/// Statistics and parameters that are given: for every statistic, what elements
/// need of it.
Cut use(const NormalizeGeometry &geometry, const NormalizeWork &work,
        Tensors in) {
  const float *mean = data(in, 2), *var = data(in, 3), *scale = data(in, 4),
              *bias = data(in, 5);
  const double epsilon = geometry.epsilon;
  SetStatistics *statistics = work.of_sets();
  Line *const lines = geometry.cuts ? work.lines() : nullptr;
  const Places sets = work.sets.kept;
  cuda::for_elements(
      sets.elements, FFRT_LAMBDA(int64_t i) {
        const Place set = sets(i);
        const int64_t s = set[1];
        const float inverse = inverse_of(var[s], epsilon);
        statistics[s] = {mean[s], inverse, 0, 0};
        // As the forward operator computes it.
        if (lines)
          lines[s] = {scale ? inverse * scale[set[2]] : inverse,
                      bias ? bias[set[2]] : 0.0f};
      });
  return {lines, {geometry.clip.alpha, geometry.clip.beta}};
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

/// What elements add to the gradients of parameters: g, and g * h.
template <class Dy, class X> struct ParameterSlopes : Both<Dy, X> {
  const SetStatistics *statistics;
  int64_t next_set; ///< from one statistic of a group to the next: 0, or not

  struct Read {
    Elements<Dy, X> elements;
    SetStatistics set; ///< of the first
  };
  __device__ Read read(const Place &at, const cuda::Span &span) const {
    return {Both<Dy, X>::read(at, span), statistics[at[1]]};
  }
  __device__ Pair of(const Read &read, int k, const Place &at,
                     const Place &) const {
    const Element<Dy, X> e = read.elements[k];
    const SetStatistics set = next_set == 0 ? read.set : statistics[at[1]];
    const double g = this->cut(e.dy, e.x, set.mean, at[1]);
    return {g, g * ((e.x - set.mean) * set.inverse)};
  }
};

/// The same of statistics whose elements have been added up.
struct KnownSums {
  const Pair *sums;

  bool begin_groups() const { return false; }
  __device__ Pair read(const Place &at, const cuda::Span &) const {
    return sums[at[1]];
  }
  __device__ Pair of(const Pair &sum, int, const Place &, const Place &) const {
    return sum;
  }
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
/// where these are one, or dy is narrow, or dy and dx; else of type Any.
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
  const bool constant = geometry.constant;
  const Slopes<Dy, X> slopes{both, constant ? nullptr : of.scale,
                             work.of_sets()};
  const StoreSums store{constant ? of.scale : nullptr,
                        geometry.count,
                        constant ? work.sums() : nullptr,
                        of.first,
                        of.second,
                        work.of_sets()};
  const Data data{both.dy, both.x, both.cut, of.scale, addend, dx};
  if (dx.data && work.by_rows()) {
    if (work.sets.groups && data.begin_groups() &&
        cuda::begins_group(data.scale))
      work.launch_rows(cuda::kGroup, backward_rows_kernel<true, Dy, X, Dx>,
                       store, data);
    else
      work.launch_rows(1, backward_rows_kernel<false, Dy, X, Dx>, store, data);
  } else {
    sum_up(work.sets, work.partial(), slopes, store);
    data_of_all(work, data);
  }
  parameter_gradients(geometry, work, both, of.dscale, of.dbias);
}

/// dx from the sums of g and g * h, to be multiplied by the scale of their set
/// where `scale` is not null.
void gradient_data(const NormalizeGeometry &geometry, const NormalizeWork &work,
                   Tensors in, const float *scale, const Tensor &dx) {
  const Operand<Any> addend(at(in, 8));
  const Cut cut = use(geometry, work, in);
  const float *first = data(in, 6), *second = data(in, 7);
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
  const float *slopes = data(in, 4);
  with_gradients(
      [&](const auto &dy, const auto &x, const auto &to) {
        data_of_all(work, Data{dy, x, cut, slopes, addend, to});
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
