//===- softmax.cu - softmax and its logarithm -----------------------------===//
//
// A warp, or a block where there is much to it, for every set of elements that
// are normalised jointly.
//
//===----------------------------------------------------------------------===//
#include "ffrt/softmax.h"

#include "common/elementwise/cast.h"
#include "common/loss/softmax.h"
#include "cuda/kernels/walk.h"
#include "cuda/loss/log_sum.h"

namespace ffrt {

namespace {

/// The sets of a tensor, and the elements of a set.
struct Sets {
  cuda::Walk<2> outer, inner;

  Sets(const Tensor &x, const bool *normalised)
      : outer(softmax_nest(x, normalised, false)),
        inner(softmax_nest(x, normalised, true)) {}
};

/// The set that the threads of a row work on.
struct Set {
  const cuda::Walk<2> &elements;
  int64_t at, number;

  __device__ int64_t place(int64_t i) const { return at + elements(i)[0]; }
  template <class Load> __device__ auto row(const Load &load) const {
    const auto element = [load, set = *this](int64_t i) {
      return load(set.place(i));
    };
    return cuda::Row<decltype(element)>(elements.elements, element);
  }
  template <class X> __device__ auto row(const X *x) const {
    return row([x](int64_t i) { return float(x[i]); });
  }
};

/// f(set), by the threads of a row.
template <class F>
__global__ void __launch_bounds__(cuda::kRowThreads)
    for_sets_kernel(const __grid_constant__ Sets sets, F f) {
  for (int64_t set = cuda::first_row(); set < sets.outer.elements;
       set += cuda::row_step()) {
    const auto at = sets.outer(set);
    f(Set{sets.inner, at[0], at[1]});
  }
}

template <class F> void for_sets(const Sets &sets, F f) {
  const dim3 block = cuda::row_block(sets.inner.elements);
  if (sets.outer.elements > 0)
    cuda::launch(cuda::blocks_for_rows(sets.outer.elements, block), block,
                 for_sets_kernel<F>, sets, f);
}

/// y = softmax of a row, or its logarithm.
template <class Row>
__device__ void apply(const Set &set, const Row &x, float top, double sum,
                      bool log, float *y) {
  const auto factor = float(1.0 / sum), offset = float(std::log(sum));
  x.for_each([&](int64_t i, float value) {
    y[set.place(i)] =
        log ? (value - top) - offset : softmax_exp(value - top) * factor;
  });
}

/// What a gradient is made of.
struct Slope {
  float dy, y;
};

__device__ auto slopes(const Set &set, const float *dy, const float *y) {
  return set.row([=](int64_t i) { return Slope{dy[i], y[i]}; });
}

/// Of dy * y, of dy if `log`.
template <class Row>
__device__ double gradient_sum(const Row &slopes, bool log) {
  return cuda::sum_of(slopes,
                      [=](const Slope &s) { return log ? s.dy : s.dy * s.y; });
}

template <class Row>
__device__ void apply_gradient(const Set &set, const Row &slopes, float sum,
                               bool log, float *dx) {
  slopes.for_each([&](int64_t i, const Slope &s) {
    dx[set.place(i)] = log ? s.dy - fast_exp(s.y) * sum : s.y * (s.dy - sum);
  });
}

/// y = the largest of every set.
template <class X> void find_largest(const Sets &sets, const X *x, float *y) {
  for_sets(
      sets, FFRT_LAMBDA(const Set &set) {
        const float top = cuda::max_of(set.row(x));
        if (threadIdx.x == 0)
          y[set.number] = top;
      });
}

/// y = the sums of exponentials relative to `top`.
template <class X>
void add_up(const Sets &sets, const X *x, const float *top, float *y) {
  for_sets(
      sets, FFRT_LAMBDA(const Set &set) {
        const float most = top[set.number];
        const double sum = cuda::sum_of(
            set.row(x), [=](float value) { return softmax_exp(value - most); });
        if (threadIdx.x == 0)
          y[set.number] = float(sum);
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
      Sets(in.begin()[0], normalised), FFRT_LAMBDA(const Set &set) {
        const auto row = set.row(x);
        if (row.is_kept() && !is_log) {
          // Exponentials are taken once.
          const float top = cuda::max_of(row);
          const auto e =
              row.mapped([=](float value) { return softmax_exp(value - top); });
          const auto factor =
              float(1.0 / cuda::sum_of(e, [](float value) { return value; }));
          e.for_each([&](int64_t i, float value) {
            y[set.place(i)] = value * factor;
          });
        } else {
          const cuda::LogSum all = cuda::log_sum_of(row);
          apply(set, row, all.top, all.sum, is_log, y);
        }
      });
}

void SoftmaxMax::operator()(Tensors in, Tensors out) {
  with_data(
      [&](const auto *x) {
        find_largest(Sets(*in.begin(), normalised), x, result(out));
      },
      *in.begin());
}

void SoftmaxSum::operator()(Tensors in, Tensors out) {
  with_data(
      [&](const auto *x) {
        add_up(Sets(*in.begin(), normalised), x, data(in, 1), result(out));
      },
      *in.begin());
}

void SoftmaxApply::operator()(Tensors in, Tensors out) {
  const float *x = data(in, 0), *top = data(in, 1), *sum = data(in, 2);
  float *y = result(out);
  const bool is_log = log;
  for_sets(
      Sets(in.begin()[0], normalised), FFRT_LAMBDA(const Set &set) {
        apply(set, set.row(x), top[set.number], sum[set.number], is_log, y);
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
      Sets(in.begin()[0], normalised), FFRT_LAMBDA(const Set &set) {
        const auto row = slopes(set, dy, y);
        const auto sum = float(gradient_sum(row, is_log));
        apply_gradient(set, row, sum, is_log, dx);
      });
}

void SoftmaxBackwardSum::operator()(Tensors in, Tensors out) {
  const float *dy = data(in, 0), *y = data(in, 1);
  float *sums = result(out);
  const bool is_log = log;
  for_sets(
      Sets(in.begin()[0], normalised), FFRT_LAMBDA(const Set &set) {
        const double sum = gradient_sum(slopes(set, dy, y), is_log);
        if (threadIdx.x == 0)
          sums[set.number] = float(sum);
      });
}

void SoftmaxBackwardApply::operator()(Tensors in, Tensors out) {
  const float *dy = data(in, 0), *y = data(in, 1), *sum = data(in, 2);
  float *dx = result(out);
  const bool is_log = log;
  for_sets(
      Sets(in.begin()[0], normalised), FFRT_LAMBDA(const Set &set) {
        apply_gradient(set, slopes(set, dy, y), sum[set.number], is_log, dx);
      });
}

} // namespace ffrt
