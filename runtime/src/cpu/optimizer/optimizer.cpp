//===- optimizer.cpp - parameter updates ----------------------------------===//
#include "ffrt/optimizer.h"

#include "common/elementwise/cast.h"
#include "common/optimizer/update_rules.h"
#include "ffrt/bfloat16.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ffrt {

using rules::Scale;

namespace {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// What the elements of w need of the step.
template <class R>
typename R::Step step_of(const R &rule, const Context &cx, const Tensor &w,
                         const Real *skipped) {
  typename R::Step step =
      rule.step({double(cx.step + 1) - double(rules::value_or(skipped, 0.0f)),
                 Real(cx.learning_rate), Real(cx.clip_value)});
  if (R::kHasRates)
    step.of(rules::OwnRates(cx.rates_of(w.data)));
  return step;
}

/// Writes w rounded where that is a result.
void write_rounded(Tensors in, Tensors out) {
  if (has_rounded(in, out))
    cast_elements(in.begin()[0], out.begin()[out.size() - 1]);
}

/// Calls f(i) for all elements; vectorised.
template <class F> void for_elements(int64_t n, F &&f) {
  parallel_for(n, 16384, [=](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i)
      f(i);
  });
}

/// Calls f(T()), T being what the slots, of which there are so many, consist
/// of.
template <int Slots, class F> void with_slots(Tensors in, F &&f) {
  if constexpr (kHasLowPrecision && Slots > 0)
    if (in.begin()[3].type == DType::bf16)
      return f(BFloat16());
  f(Real());
}

/// Operands w, g, what R::scale() takes, and slots of type T; results as
/// ffrt/optimizer.h says. S: the slots from 0 on.
template <class T, class R, std::size_t... S>
void update(const R &rule, const Context &cx, Tensors in, Tensors out,
            const Real *skipped, std::index_sequence<S...>) {
  const Real scale = R::scale(in.begin()[2].as<Real>());
  if (R::skips(scale))
    return;
  Real *const w = in.begin()[0].as<Real>();
  const Real *g = in.begin()[1].as<Real>();
  // There may be none.
  T *const slots[sizeof...(S) + 1] = {in.begin()[3 + S].template as<T>()...};
  for_elements(in.begin()->elements(),
               [=, by = step_of(rule, cx, in.begin()[0], skipped)](int64_t i) {
                 Real here[] = {w[i], Real(slots[S][i])...};
                 rule(by, scale, g[i], here[0], here[1 + S]...);
                 w[i] = here[0];
                 ((slots[S][i] = T(here[1 + S])), ...);
               });
  write_rounded(in, out);
}

template <class R>
void update(const R &rule, const Context &cx, Tensors in, Tensors out,
            const Real *skipped = nullptr) {
  with_slots<R::kSlots>(in, [&](auto type) {
    update<decltype(type)>(rule, cx, in, out, skipped,
                           std::make_index_sequence<R::kSlots>());
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// partial[width * block] on: what f(begin, end, sums) finds for the elements
/// of a block; returns nothing until they are added up in order.
template <class F>
void for_blocks(int64_t n, int width, double *partial, F &&f) {
  parallel_for(sum_blocks(n), 2, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block)
      f(block * kSumBlock, std::min(n, (block + 1) * kSumBlock),
        partial + block * width);
  });
}

double total(const double *partial, int64_t n, int width, int which) {
  double sum = 0;
  for (int64_t block = 0; block < sum_blocks(n); ++block)
    sum += partial[block * width + which];
  return sum;
}

} // namespace

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

void SgdUpdate::operator()(Tensors in, Tensors out) {
  if (in.size() == 3)
    update(rules::Sgd(), cx, in, out);
  else
    update(rules::Momentum(momentum, nesterov), cx, in, out);
}

void AdamUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Adam(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void AdamwUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Adamw(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void HfAdamwUpdate::operator()(Tensors in, Tensors out) {
  update(rules::HfAdamw(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void LionUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Lion(beta1, beta2), cx, in, out);
}

void EmaUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Ema(decay), cx, in, out);
}

void AdagradUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Adagrad(epsilon), cx, in, out);
}

void RmspropUpdate::operator()(Tensors in, Tensors out) {
  const rules::RmspropNumbers by{alpha, epsilon, momentum};
  if (in.size() == 4)
    update(rules::Rmsprop(by), cx, in, out);
  else
    update(rules::RmspropMomentum(by), cx, in, out);
}

void LambDirection::operator()(Tensors in, Tensors out) {
  const Real *w = in.begin()[0].as<Real>(), *g = in.begin()[1].as<Real>();
  Real *r = out.begin()[2].as<Real>();
  const int64_t n = in.begin()->elements();
  const Scale operand(in.begin()[2]);
  const rules::LambDirection rule(numbers);
  const Real scale = rule.scale(operand.factor);
  const bool skipped = rule.skips(scale);
  double *const sums_of = static_cast<double *>(partial.get());
  with_slots<2>(in, [&](auto type) {
    using T = decltype(type);
    T *m = in.begin()[3].template as<T>(), *v = in.begin()[4].template as<T>();
    for_blocks(n, 2, sums_of,
               [=, by = step_of(rule, cx, in.begin()[0], operand.skipped)](
                   int64_t begin, int64_t end, double *sums) {
                 if (skipped) {
                   std::fill(r + begin, r + end, 0.0f);
                 } else {
#pragma GCC ivdep
                   for (int64_t i = begin; i < end; ++i) {
                     Real first(m[i]), second(v[i]);
                     r[i] = rule(by, scale, g[i], w[i], first, second);
                     m[i] = T(first);
                     v[i] = T(second);
                   }
                 }
                 double of_w = 0, of_r = 0;
                 for (int64_t i = begin; i < end; ++i) {
                   of_w += double(w[i]) * double(w[i]);
                   of_r += double(r[i]) * double(r[i]);
                 }
                 sums[0] = of_w;
                 sums[1] = of_r;
               });
  });
  Real *norms = out.begin()[3].as<Real>();
  norms[0] = Real(total(sums_of, n, 2, 0));
  norms[1] = Real(total(sums_of, n, 2, 1));
}

void LambUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Lamb(), cx, in, out);
}

//===----------------------------------------------------------------------===//
// What decides about a step
//===----------------------------------------------------------------------===//

void SquareSum::operator()(Tensors in, Tensors out) {
  const Real *x = in.begin()->as<Real>();
  const int64_t n = in.begin()->elements();
  double *const sums_of = static_cast<double *>(partial.get());
  for_blocks(n, 1, sums_of, [x](int64_t begin, int64_t end, double *sums) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i)
      sum += double(x[i]) * double(x[i]);
    *sums = sum;
  });
  *out.begin()->as<Real>() = Real(total(sums_of, n, 1, 0));
}

static double total(const Tensor *begin, const Tensor *end) {
  double sum = 0;
  for (const Tensor *one = begin; one != end; ++one)
    sum += double(*one->as<Real>());
  return sum;
}

void ClipScale::operator()(Tensors in, Tensors out) {
  const double norm = std::sqrt(total(in.begin(), in.end()));
  *out.begin()->as<Real>() = Real(clip_by(norm, max_norm));
}

void LossScale::operator()(Tensors in, Tensors out) {
  const ScaleOfLoss state(in, out, interval, least, max_norm, most);
  state.decide(total(in.begin() + 3, in.end()));
}

} // namespace ffrt
