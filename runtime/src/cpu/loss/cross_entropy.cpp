//===- cross_entropy.cpp - losses of classes ------------------------------===//
#include "ffrt/cross_entropy.h"

#include "common/elementwise/cast.h"
#include "common/loss/cross_entropy.h"
#include "common/loss/loss.h"
#include "cpu/loss/exponentials.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <type_traits>

namespace ffrt {

namespace {

/// One sample, and the classes that a tile has of it, of logits of type X.
template <class X> struct Sample {
  int64_t place;    ///< in the target, in maxima and in sums
  int64_t label;    ///< from the tile's first class
  const X *x;       ///< logit of the tile's first class
  int64_t gradient; ///< offset of that class
};

/// What is known of all classes of a sample.
struct Distribution {
  Real top;
  double sum; ///< of exp(logit - top)

  /// If this is the logit of the sample's target.
  double loss(double logit) const {
    return std::log(sum) + double(top) - logit;
  }

  /// Stores probabilities times a share: those of n logits x, `s` apart, to y,
  /// `t` apart.
  template <class X, class S, class T>
  void store(const X *x, int64_t n, S s, double share, Real *y, T t) const {
    const auto scale = Real(share / sum);
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c)
      y[c * t] = fast_exp(x[c * s] - top) * scale;
  }
};

/// The samples of a tile, with the elements x of its logits.
template <class X> class Samples {
public:
  Samples(const X *x, const Tensor &logits, const Tensor &target,
          const Tensor &gradient, int axis, double smoothing)
      : nest(samples_of(logits, target, gradient, axis)), logits(x),
        target(target.as<int32_t>()), classes(logits.shape[axis]),
        first(logits.lo[axis]), all_classes(logits.global[axis]),
        stride(logits.strides()[axis]),
        gradient_stride(gradient.strides()[axis]), of_label(1.0 - smoothing),
        of_each(smoothing / double(logits.global[axis])) {}

  /// Calls f(sample) for all samples, on threads.
  template <class F> void each(F &&f) const {
    parallel_for(count(), 1 + kGrain / classes,
                 [&](int64_t begin, int64_t end) { each(begin, end, f); });
  }

  /// The sum of f(sample), in an order that does not depend on threads.
  template <class F> double sum(F &&f) const {
    constexpr int64_t kParts = 256;
    double parts[kParts] = {};
    const int64_t n = count();
    parallel_for(kParts, 1 + kParts * kGrain / (n * classes + 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t p = begin; p < end; ++p)
                     each(n * p / kParts, n * (p + 1) / kParts,
                          [&](const Sample<X> &s) { parts[p] += f(s); });
                 });
    return std::accumulate(parts, parts + kParts, 0.0);
  }

  /// Calls f(x, n, distance of classes in x, the same in the gradient).
  template <class F> auto with_classes(const Sample<X> &sample, F &&f) const {
    return with_stride(stride, [&](auto s) {
      return with_stride(gradient_stride,
                         [&](auto t) { return f(sample.x, classes, s, t); });
    });
  }

  /// Calls f(sample, x, n, distance, gradient, distance), which stores
  /// probabilities times `share` in the gradient of the sample's classes, takes
  /// the share of the target from it, and returns the sum of the losses.
  template <class F>
  double store_gradient(Real *gradient, double share, F &&f) const {
    return sum([&](const Sample<X> &sample) {
      // The gradient may lie in the logits' memory.
      const double logit = logit_of_target(sample);
      Real *const to = gradient + sample.gradient;
      const Distribution of =
          with_classes(sample, [&](const X *x, int64_t n, auto s, auto t) {
            const Distribution found = f(sample, x, n, s, to, t);
            const auto each = Real(share * of_each);
            for (int64_t c = 0; each != 0 && c < n; ++c)
              to[c * t] -= each;
            return found;
          });
      if (has_label(sample))
        to[sample.label * gradient_stride] -= Real(share * of_label);
      return loss(sample, of, logit);
    });
  }

  /// The same in bf16 or f16, of the distribution that f(sample, x, n,
  /// distance) returns. A part of the classes at a time is finished in f32, so
  /// that every element is rounded once.
  template <class T, class F>
  double store_rounded(T *gradient, double share, F &&f) const {
    constexpr int64_t kPart = 1024;
    const std::integral_constant<int64_t, 1> dense;
    return sum([&](const Sample<X> &sample) {
      const double logit = logit_of_target(sample);
      return with_classes(sample, [&](const X *x, int64_t n, auto s, auto t) {
        const Distribution of = f(sample, x, n, s);
        for (int64_t begin = 0; begin < n; begin += kPart) {
          const int64_t count = std::min(kPart, n - begin),
                        label = sample.label - begin;
          Real part[kPart];
          of.store(x + begin * s, count, s, share, part, dense);
          const auto each = Real(share * of_each);
          for (int64_t c = 0; each != 0 && c < count; ++c)
            part[c] -= each;
          if (label >= 0 && label < count)
            part[label] -= Real(share * of_label);
          T *to = gradient + sample.gradient + begin * t;
          for (int64_t c = 0; c < count; ++c)
            to[c * t] = T(part[c]);
        }
        return loss(sample, of, logit);
      });
    });
  }

  bool has_label(const Sample<X> &sample) const {
    return sample.label >= 0 && sample.label < classes;
  }
  /// The logits that the tile has of a sample, each times its share of the
  /// target.
  double logit_of_target(const Sample<X> &sample) const {
    double logit = has_label(sample)
                       ? of_label * double(sample.x[sample.label * stride])
                       : 0.0;
    if (of_each != 0)
      logit += of_each *
               with_classes(sample, [](const X *x, int64_t n, auto s, auto) {
                 return sum_over(n, [=](int64_t i) { return Real(x[i * s]); });
               });
    return logit;
  }
  /// What a tile with this part of the target's logit has of a sample's loss.
  double loss(const Sample<X> &sample, const Distribution &of,
              double logit) const {
    return has_label(sample) ? of.loss(logit) : -logit;
  }

  /// Targets that are no input of the program are checked nowhere else.
  void check_labels(const char *kernel) const {
    each(0, count(), [&](const Sample<X> &sample) {
      const int64_t label = sample.label + first;
      if (label < 0 || label >= all_classes)
        throw Error(std::string(kernel) + ": expected targets from 0 to " +
                    std::to_string(all_classes - 1) + ", found " +
                    std::to_string(label));
    });
  }

private:
  static constexpr int64_t kGrain = 16384; ///< classes worth a thread

  int64_t count() const { return nest.rows() * nest.inner(); }

  template <class F> void each(int64_t begin, int64_t end, F &&f) const {
    const int64_t n = nest.inner();
    const Nest<3>::Offsets s = nest.inner_stride();
    for (int64_t number = begin; number < end;) {
      const int64_t row = number / n;
      nest.for_rows(row, row + 1, [&](const Nest<3>::Offsets &at) {
        for (int64_t i = number % n; i < n && number < end; ++i, ++number) {
          const int64_t place = at[0] + i * s[0];
          f(Sample<X>{place, target[place] - first, logits + at[1] + i * s[1],
                      at[2] + i * s[2]});
        }
      });
    }
  }

  Nest<3> nest;
  const X *logits;
  const int32_t *target;
  int64_t classes, first, all_classes, stride, gradient_stride;
  double of_label, of_each; ///< what of a target is its class; every class
};

/// Maxima and sums that are operands.
class Statistics {
public:
  explicit Statistics(Tensors in)
      : max(in.begin()[2].as<Real>()), sum(in.begin()[3].as<Real>()) {}

  Distribution operator()(int64_t place) const {
    return {max[place], double(sum[place])};
  }

private:
  const Real *max, *sum;
};

/// What a sample has of the gradient.
double share_of(const Tensor &target, const Tensor &slope) {
  return (slope.data ? double(*slope.as<Real>()) : 1.0) /
         global_elements(target);
}

/// Of the sum of the samples' losses.
void store_loss(double sum, const Tensor &target, const Tensor &loss) {
  if (loss.data)
    *loss.as<Real>() = Real(sum / global_elements(target));
}

} // namespace

void CrossEntropyForward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  with_data(
      [&](const auto *elements) {
        const Samples samples(elements, logits, target, logits, axis,
                              smoothing);
        samples.check_labels("cross entropy forward");
        const double loss = samples.sum([&](const auto &sample) {
          return samples.with_classes(
              sample, [&](const auto *x, int64_t n, auto s, auto) {
                const Real top = max_of(x, n, s, -__builtin_inff());
                return Distribution{top, sum_of_exp(x, n, s, top)}.loss(
                    samples.logit_of_target(sample));
              });
        });
        store_loss(loss, target, *out.begin());
      },
      logits);
}

void CrossEntropyBackward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1],
               &gradient = out.begin()[1];
  const double share = share_of(target, in.begin()[2]);
  with_data(
      [&](const auto *elements, auto *to) {
        const Samples samples(elements, logits, target, gradient, axis,
                              smoothing);
        samples.check_labels("cross entropy backward");
        double loss = 0;
        if constexpr (std::is_same_v<decltype(to), Real *>)
          loss = samples.store_gradient(
              to, share,
              [=](const auto &, const auto *x, int64_t n, auto s, Real *g,
                  auto t) {
                const Real top = max_of(x, n, s, -__builtin_inff());
                const double sum = store_exp(x, n, s, top, g, t);
                const auto scale = Real(share / sum);
                for (int64_t c = 0; c < n; ++c)
                  g[c * t] *= scale;
                return Distribution{top, sum};
              });
        else
          // A gradient of bf16 or f16 cannot keep exponentials: they are taken
          // twice.
          loss = samples.store_rounded(
              to, share, [=](const auto &, const auto *x, int64_t n, auto s) {
                const Real top = max_of(x, n, s, -__builtin_inff());
                return Distribution{top, sum_of_exp(x, n, s, top)};
              });
        store_loss(loss, target, *out.begin());
      },
      logits, gradient);
}

void CrossEntropyApply::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const Statistics statistics(in);
  with_data(
      [&](const auto *elements) {
        const Samples samples(elements, logits, target, logits, axis,
                              smoothing);
        samples.check_labels("cross entropy apply");
        const double loss = samples.sum([&](const auto &sample) {
          return samples.loss(sample, statistics(sample.place),
                              samples.logit_of_target(sample));
        });
        store_loss(loss, target, *out.begin());
      },
      logits);
}

void CrossEntropyBackwardApply::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1],
               &gradient = out.begin()[1];
  const Statistics statistics(in);
  const double share = share_of(target, in.begin()[4]);
  with_data(
      [&](const auto *elements, auto *to) {
        const Samples samples(elements, logits, target, gradient, axis,
                              smoothing);
        samples.check_labels("cross entropy backward apply");
        double loss = 0;
        if constexpr (std::is_same_v<decltype(to), Real *>)
          loss =
              samples.store_gradient(to, share,
                                     [=](const auto &sample, const auto *x,
                                         int64_t n, auto s, Real *g, auto t) {
                                       const Distribution of =
                                           statistics(sample.place);
                                       of.store(x, n, s, share, g, t);
                                       return of;
                                     });
        else
          loss = samples.store_rounded(
              to, share, [=](const auto &sample, const auto *, int64_t, auto) {
                return statistics(sample.place);
              });
        store_loss(loss, target, *out.begin());
      },
      logits, gradient);
}

} // namespace ffrt
