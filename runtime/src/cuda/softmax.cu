//===- softmax.cu - softmax and its logarithm -----------------------------===//
//
// A warp, or a block where there is much to it, for every set of elements that
// are normalised jointly.
//
//===----------------------------------------------------------------------===//
#include "ffrt/softmax.h"

#include "common/softmax.h"
#include "cuda/reduce_block.h"
#include "cuda/walk.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/fast_math.h"

#include <cmath>

namespace ffrt {

namespace {

/// The sets of a tensor, and the elements of a set.
struct Sets {
  cuda::Walk<2> outer, inner;

  Sets(const Tensor &x, const bool *normalised)
      : outer(softmax_nest(x, normalised, false)),
        inner(softmax_nest(x, normalised, true)) {}

  template <class F> __device__ float max_of(int64_t set, F value) const {
    float top = -HUGE_VALF;
    for (int64_t i = threadIdx.x; i < inner.elements; i += blockDim.x) {
      const float x = value(set + inner(i)[0]);
      top = x > top ? x : top;
    }
    return cuda::reduce_block(top, -HUGE_VALF, cuda::Maximum());
  }
  template <class F> __device__ double sum_of(int64_t set, F value) const {
    double sum = 0;
    for (int64_t i = threadIdx.x; i < inner.elements; i += blockDim.x)
      sum += value(set + inner(i)[0]);
    return cuda::reduce_block(sum, 0.0, cuda::Sum());
  }
  template <class F> __device__ void for_elements(int64_t set, F f) const {
    for (int64_t i = threadIdx.x; i < inner.elements; i += blockDim.x)
      f(set + inner(i)[0]);
  }
};

/// f(sets, where a set begins, its number), by the threads of a block.
template <class F> __global__ void for_sets_kernel(Sets sets, F f) {
  for (int64_t set = blockIdx.x; set < sets.outer.elements; set += gridDim.x) {
    const auto at = sets.outer(set);
    f(sets, at[0], at[1]);
  }
}

template <class F> void for_sets(const Sets &sets, F f) {
  const int threads = cuda::threads_for(sets.inner.elements);
  if (sets.outer.elements > 0)
    cuda::launch(cuda::blocks_for(sets.outer.elements, 1, threads), threads,
                 for_sets_kernel<F>, sets, f);
}

__device__ double exp_sum(const Sets &sets, const float *x, int64_t set,
                          float top) {
  return sets.sum_of(set, [=](int64_t i) { return fast_exp(x[i] - top); });
}

__device__ void apply(const Sets &sets, const float *x, float *y, int64_t set,
                      float top, double sum, bool log) {
  const auto factor = float(1.0 / sum), offset = float(std::log(sum));
  sets.for_elements(set, [=](int64_t i) {
    y[i] = log ? (x[i] - top) - offset : fast_exp(x[i] - top) * factor;
  });
}

/// Of dy * y, of dy if `log`.
__device__ double gradient_sum(const Sets &sets, const float *dy,
                               const float *y, int64_t set, bool log) {
  return sets.sum_of(set,
                     [=](int64_t i) { return log ? dy[i] : dy[i] * y[i]; });
}

__device__ void apply_gradient(const Sets &sets, const float *dy,
                               const float *y, float *dx, int64_t set,
                               float sum, bool log) {
  sets.for_elements(set, [=](int64_t i) {
    dx[i] = log ? dy[i] - fast_exp(y[i]) * sum : y[i] * (dy[i] - sum);
  });
}

const float *data(Tensors tensors, int i) {
  return tensors.begin()[i].as<float>();
}
float *result(Tensors tensors) { return tensors.begin()->as<float>(); }

} // namespace

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

void SoftmaxForward::operator()(Tensors in, Tensors out) {
  const float *x = data(in, 0);
  float *y = result(out);
  const bool is_log = log;
  for_sets(
      Sets(in.begin()[0], normalised),
      FFRT_LAMBDA(const Sets &sets, int64_t set, int64_t) {
        const float top = sets.max_of(set, [=](int64_t i) { return x[i]; });
        apply(sets, x, y, set, top, exp_sum(sets, x, set, top), is_log);
      });
}

void SoftmaxMax::operator()(Tensors in, Tensors out) {
  const float *x = data(in, 0);
  float *y = result(out);
  for_sets(
      Sets(in.begin()[0], normalised),
      FFRT_LAMBDA(const Sets &sets, int64_t set, int64_t s) {
        const float top = sets.max_of(set, [=](int64_t i) { return x[i]; });
        if (threadIdx.x == 0)
          y[s] = top;
      });
}

void SoftmaxSum::operator()(Tensors in, Tensors out) {
  const float *x = data(in, 0), *top = data(in, 1);
  float *y = result(out);
  for_sets(
      Sets(in.begin()[0], normalised),
      FFRT_LAMBDA(const Sets &sets, int64_t set, int64_t s) {
        const double sum = exp_sum(sets, x, set, top[s]);
        if (threadIdx.x == 0)
          y[s] = float(sum);
      });
}

void SoftmaxApply::operator()(Tensors in, Tensors out) {
  const float *x = data(in, 0), *top = data(in, 1), *sum = data(in, 2);
  float *y = result(out);
  const bool is_log = log;
  for_sets(
      Sets(in.begin()[0], normalised),
      FFRT_LAMBDA(const Sets &sets, int64_t set, int64_t s) {
        apply(sets, x, y, set, top[s], sum[s], is_log);
      });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

void SoftmaxBackward::operator()(Tensors in, Tensors out) {
  const float *dy = data(in, 0), *y = data(in, 1);
  float *dx = result(out);
  const bool is_log = log;
  for_sets(
      Sets(in.begin()[0], normalised),
      FFRT_LAMBDA(const Sets &sets, int64_t set, int64_t) {
        const auto sum = float(gradient_sum(sets, dy, y, set, is_log));
        apply_gradient(sets, dy, y, dx, set, sum, is_log);
      });
}

void SoftmaxBackwardSum::operator()(Tensors in, Tensors out) {
  const float *dy = data(in, 0), *y = data(in, 1);
  float *sums = result(out);
  const bool is_log = log;
  for_sets(
      Sets(in.begin()[0], normalised),
      FFRT_LAMBDA(const Sets &sets, int64_t set, int64_t s) {
        const double sum = gradient_sum(sets, dy, y, set, is_log);
        if (threadIdx.x == 0)
          sums[s] = float(sum);
      });
}

void SoftmaxBackwardApply::operator()(Tensors in, Tensors out) {
  const float *dy = data(in, 0), *y = data(in, 1), *sum = data(in, 2);
  float *dx = result(out);
  const bool is_log = log;
  for_sets(
      Sets(in.begin()[0], normalised),
      FFRT_LAMBDA(const Sets &sets, int64_t set, int64_t s) {
        apply_gradient(sets, dy, y, dx, set, sum[s], is_log);
      });
}

} // namespace ffrt
