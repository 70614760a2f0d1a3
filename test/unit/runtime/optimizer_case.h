//===- optimizer_case.h - what tests of updates share ----------*- C++ -*-===//
#ifndef FFRT_TEST_OPTIMIZER_CASE_H
#define FFRT_TEST_OPTIMIZER_CASE_H

#include "ffrt/optimizer.h"

#include "common/device/target.h"
#include "geometry.h"

#include <algorithm>
#include <cmath>
#include <omp.h>

namespace ffrt_test {

using namespace ffrt;

inline constexpr int64_t kSteps = 4;
inline constexpr double kRate = 0.05, kDecay = 0.1;

/// w, gradients of all steps, and slots, all of one shape; zeros as slots.
struct Training {
  Value w;
  std::vector<Value> gradients, slots;
  double scale = 1;
  int64_t skipped = 0;        ///< steps before the first
  DType rounded = DType::f32; ///< of w besides; f32: none
  double clip = HUGE_VAL;     ///< of scaled gradients
  double share = 1;           ///< of the learning rate
  bool is_own = false;        ///< rate and decay are the parameter's own

  Training(int64_t n, size_t slots, double scale, std::mt19937 &random)
      : w(random_value({n}, random)), slots(slots, Value({n})), scale(scale) {
    for (int64_t i = 0; i < kSteps; ++i)
      gradients.push_back(random_value({n}, random));
  }
};

/// One element of all: the gradient, the weight, the slots, the step from 1 on.
using Formula = void (*)(double g, double &w, double **s, double t);

inline Training expected(Training run, Formula formula) {
  for (int64_t step = 0; step < kSteps; ++step)
    for (size_t i = 0; i < run.w.data.size(); ++i) {
      double *slots[2] = {};
      for (size_t s = 0; s < run.slots.size(); ++s)
        slots[s] = &run.slots[s].data[i];
      const double g = run.scale * run.gradients[step].data[i];
      formula(std::clamp(g, -run.clip, run.clip), run.w.data[i], slots,
              double(step + 1));
    }
  return run;
}

/// Restores the number of threads when it goes.
class Threads {
public:
  explicit Threads(int count) : before(omp_get_max_threads()) {
    omp_set_num_threads(count);
  }
  ~Threads() { omp_set_num_threads(before); }

private:
  int before;
};

inline Value value_of(const Tile &tile, const Value &like) {
  Value value(like.shape);
  add_tile(value, tile, like.whole());
  return value;
}

/// Calls a kernel that may wait for more of its kind.
template <class Kernel> void perform(Kernel &&kernel, Tensors in, Tensors out) {
  kernel(in, out);
  finish_target();
}

/// All steps by a kernel, whose numbers come last.
template <class Kernel, class... Numbers>
Training found(const Training &run, int threads, Numbers... numbers) {
  const Threads scope(threads);
  Context cx;
  Tile w(run.w, run.w.whole()), g(run.w, run.w.whole());
  cx.learning_rate = run.is_own ? kRate : run.share * kRate;
  cx.weight_decay = run.is_own ? 7 : kDecay;
  cx.clip_value = run.clip;
  if (run.is_own)
    cx.own_rates[w.tensor.data] = {run.share, kDecay};
  std::vector<Tile> slots;
  for (const Value &slot : run.slots)
    slots.emplace_back(slot, slot.whole());
  Value factor(run.skipped == 0 ? Shape() : Shape{2}, run.scale);
  if (run.skipped != 0)
    factor.data[1] = double(run.skipped);
  Tile scale(factor, factor.whole());
  const Tensor s = run.scale == 1 ? absent({}) : scale.tensor;
  const Tile c =
      blank(run.w.shape, run.w.whole(), Order::row_major, run.rounded);
  for (int64_t step = 0; step < kSteps; ++step) {
    cx.step = run.skipped + step;
    const Value &gradient = run.gradients[size_t(step)];
    Tile now(gradient, gradient.whole());
    auto call = [&](Tensors in, Tensors out, Tensors with_rounded) {
      if (run.rounded != DType::f32)
        out = with_rounded;
      perform(Kernel(cx, in, out, numbers...), in, out);
    };
    if (slots.empty())
      call({w, now, s}, {w}, {w, c});
    else if (slots.size() == 1)
      call({w, now, s, slots[0]}, {w, slots[0]}, {w, slots[0], c});
    else
      call({w, now, s, slots[0], slots[1]}, {w, slots[0], slots[1]},
           {w, slots[0], slots[1], c});
    if (run.rounded != DType::f32)
      expect_rounded(c, w, run.w.whole());
  }
  Training result = run;
  result.w = value_of(w, run.w);
  for (size_t i = 0; i < slots.size(); ++i)
    result.slots[i] = value_of(slots[i], run.w);
  return result;
}

/// The direction of Adam's family; changes the moments.
inline double direction(double g, double **s, double t) {
  *s[0] = 0.75 * *s[0] + 0.25 * g;
  *s[1] = 0.875 * *s[1] + 0.125 * g * g;
  return *s[0] / (1 - std::pow(0.75, t)) /
         (std::sqrt(*s[1] / (1 - std::pow(0.875, t))) + 0.01);
}

} // namespace ffrt_test

#endif // FFRT_TEST_OPTIMIZER_CASE_H
