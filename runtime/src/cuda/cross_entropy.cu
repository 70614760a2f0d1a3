//===- cross_entropy.cu - losses of classes -------------------------------===//
#include "ffrt/cross_entropy.h"

#include "common/cast.h"
#include "common/cross_entropy.h"
#include "common/loss.h"
#include "cuda/log_sum.h"
#include "cuda/sum.h"
#include "cuda/walk.h"
#include "ffrt/cuda/group.h"

#include <type_traits>

namespace ffrt {

namespace {

/// The classes that a tile has of a sample.
struct Classes {
  int64_t count, stride, gradient_stride;
  int64_t first, all; ///< in the global tensor
};

/// The logits of a sample.
template <class X> __device__ auto row_of(const X *x, const Classes &classes) {
  const auto logit = [x, stride = classes.stride](int64_t c) {
    return float(x[c * stride]);
  };
  return cuda::Row<decltype(logit)>(classes.count, logit);
}

/// partial[block] = the sum of the losses of a block's samples.
template <class X>
__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_kernel(cuda::Walk<3> samples, Classes classes,
                         const X *logits, const int32_t *target,
                         double *partial, cuda::Problem *problem,
                         const char *what) {
  double loss = 0;
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const X *x = logits + at[1];
    const cuda::LogSum all = cuda::log_sum_of(row_of(x, classes));
    const int64_t label = target[at[0]];
    if (threadIdx.x == 0 &&
        cuda::expect_below(problem, what, label, classes.count))
      loss += log(all.sum) + double(all.top) -
              double(float(x[label * classes.stride]));
  }
  // Of all rows of a block.
  __shared__ double rows[cuda::kThreads / 32];
  if (threadIdx.x == 0)
    rows[threadIdx.y] = loss;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    for (unsigned y = 1; y < blockDim.y; ++y)
      loss += rows[y];
    partial[blockIdx.x] = loss;
  }
}

/// Where the gradient of a sample goes, as f32, bf16 or f16.
template <class T> struct Gradient {
  T *to;
  int64_t stride, label;
  float share;

  __device__ Gradient(T *to, const Classes &classes, int64_t label, float share)
      : to(to), stride(classes.gradient_stride), label(label - classes.first),
        share(share) {}

  /// `probability` is times the share.
  __device__ T of(int64_t c, float probability) const {
    return T(probability - (c == label ? share : 0.0f));
  }
  __device__ void store(int64_t c, float probability) const {
    to[c * stride] = of(c, probability);
  }
};

/// Stores the gradient of the classes of a sample from `first` on, in groups
/// where these begin at the same class in logits and gradient.
template <class X, class T>
__device__ void store_from(int64_t first, const Classes &classes, const X *x,
                           const Gradient<T> &result, float top, float scale) {
  const auto probability = [=](float x) { return fast_exp(x - top) * scale; };
  int64_t begin = first, groups = 0;
  if (classes.stride == 1 && result.stride == 1) {
    const int before = cuda::before_group(x + first);
    if (before == cuda::before_group(result.to + first)) {
      begin = first + before;
      groups = (classes.count - begin) / cuda::kGroup;
    }
  }
  // Counted in groups: from spans of elements that are shifted, nvcc makes
  // groups for reads only.
  const auto *from = reinterpret_cast<const cuda::Group<X> *>(x + begin);
  auto *to = reinterpret_cast<cuda::Group<T> *>(result.to + begin);
  for (int64_t g = threadIdx.x; g < groups; g += blockDim.x) {
    const cuda::Group<X> logits = from[g];
    cuda::Group<T> gradient;
    FFRT_UNROLL
    for (int k = 0; k < cuda::kGroup; ++k)
      gradient[k] = result.of(begin + g * cuda::kGroup + k,
                              probability(float(logits[k])));
    to[g] = gradient;
  }
  // Before the groups, and behind them.
  const int64_t grouped = groups * cuda::kGroup,
                others = classes.count - first - grouped;
  for (int64_t i = threadIdx.x; i < others; i += blockDim.x) {
    const int64_t c = first + i < begin ? first + i : first + i + grouped;
    result.store(c, probability(float(x[c * classes.stride])));
  }
}

template <class X, class T>
__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_gradient_kernel(cuda::Walk<3> samples, Classes classes,
                                  const X *logits, const int32_t *target,
                                  T *gradient, float share) {
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const Gradient<T> result(gradient + at[2], classes, target[at[0]], share);
    const X *x = logits + at[1];
    const auto row = row_of(x, classes);
    if (row.is_kept()) {
      // Exponentials are taken once.
      const float top = cuda::max_of(row);
      const auto e = row.mapped([=](float x) { return fast_exp(x - top); });
      const double sum = cuda::sum_of(e, [](float x) { return x; });
      const auto scale = float(double(share) / sum);
      e.for_each([&](int64_t c, float x) { result.store(c, x * scale); });
    } else {
      const cuda::LogSum all = cuda::log_sum_of(row);
      const auto scale = float(double(share) / all.sum);
      row.for_each_kept([&](int64_t c, float x) {
        result.store(c, fast_exp(x - all.top) * scale);
      });
      store_from(row.first_read_again(), classes, x, result, all.top, scale);
    }
  }
}

/// The same where maxima and sums are known.
template <class X, class T>
__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_gradient_apply_kernel(cuda::Walk<3> samples, Classes classes,
                                        const X *logits, const int32_t *target,
                                        T *gradient, float share,
                                        const float *max, const float *sum) {
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const Gradient<T> result(gradient + at[2], classes, target[at[0]], share);
    const auto scale = float(double(share) / double(sum[at[0]]));
    store_from(0, classes, logits + at[1], result, max[at[0]], scale);
  }
}

Classes classes_of(const Tensor &logits, const Tensor &gradient, int axis) {
  return {logits.shape[axis], logits.strides()[axis], gradient.strides()[axis],
          logits.lo[axis], logits.global[axis]};
}

/// Starts a kernel that stores gradients; it may need `more`.
template <class X, class T, class Kernel, class... More>
void store_gradient(Tensors in, const X *x, Tensors out, T *to, int axis,
                    Kernel kernel, More... more) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1],
               &gradient = out.begin()[0];
  const cuda::Walk<3> samples(samples_of(logits, target, gradient, axis));
  const Classes classes = classes_of(logits, gradient, axis);
  const dim3 block = cuda::row_block(classes.count);
  cuda::launch(cuda::blocks_for_rows(samples.elements, block), block, kernel,
               samples, classes, x, target.as<int32_t>(), to,
               float(1.0 / global_elements(target)), more...);
}

/// The loss of the samples whose label the tile has.
template <class X>
void sum_losses(Tensors in, const X *x, Tensors out, int axis) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const cuda::Walk<3> samples(samples_of(logits, target, logits, axis));
  const Classes classes = classes_of(logits, logits, axis);
  const float *max = in.begin()[2].as<float>(),
              *sum = in.begin()[3].as<float>();
  const int32_t *labels = target.as<int32_t>();
  cuda::Problem *problem = cuda::device().problem();
  const char *what = "cross entropy apply: expected targets";
  cuda::sum_elements(
      samples.elements,
      FFRT_LAMBDA(int64_t i) {
        const auto at = samples(i);
        const int64_t label = labels[at[0]], c = label - classes.first;
        if (!cuda::expect_below(problem, what, label, classes.all) || c < 0 ||
            c >= classes.count)
          return 0.0;
        return log(double(sum[at[0]])) + double(max[at[0]]) -
               double(float(x[at[1] + c * classes.stride]));
      },
      1.0 / global_elements(target), out.begin()->as<float>());
}

} // namespace

void CrossEntropyForward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const cuda::Walk<3> samples(samples_of(logits, target, logits, axis));
  const Classes classes = classes_of(logits, logits, axis);
  const dim3 block = cuda::row_block(classes.count);
  const unsigned blocks = cuda::blocks_for_rows(samples.elements, block);
  double *partial = cuda::device().scratch<double>();
  with_data(
      [&](auto *x) {
        using X = std::remove_pointer_t<decltype(x)>;
        cuda::launch(blocks, block, cross_entropy_kernel<X>, samples, classes,
                     x, target.as<int32_t>(), partial, cuda::device().problem(),
                     "cross entropy forward: expected targets");
      },
      logits);
  cuda::launch(1, cuda::kThreads, cuda::sum_up_kernel, partial, int(blocks),
               1.0 / global_elements(target), out.begin()->as<float>());
}

void CrossEntropyBackward::operator()(Tensors in, Tensors out) {
  with_data(
      [&](auto *x, auto *to) {
        using X = std::remove_pointer_t<decltype(x)>;
        using T = std::remove_pointer_t<decltype(to)>;
        store_gradient(in, x, out, to, axis,
                       cross_entropy_gradient_kernel<X, T>);
      },
      *in.begin(), *out.begin());
}

void CrossEntropyApply::operator()(Tensors in, Tensors out) {
  with_data([&](const auto *x) { sum_losses(in, x, out, axis); }, *in.begin());
}

void CrossEntropyBackwardApply::operator()(Tensors in, Tensors out) {
  with_data(
      [&](auto *x, auto *to) {
        using X = std::remove_pointer_t<decltype(x)>;
        using T = std::remove_pointer_t<decltype(to)>;
        store_gradient(in, x, out, to, axis,
                       cross_entropy_gradient_apply_kernel<X, T>,
                       in.begin()[2].as<float>(), in.begin()[3].as<float>());
      },
      *in.begin(), *out.begin());
}

} // namespace ffrt
