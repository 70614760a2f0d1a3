//===- cross_entropy.cu - losses of classes -------------------------------===//
#include "ffrt/cross_entropy.h"

#include "common/cast.h"
#include "common/cross_entropy.h"
#include "common/loss.h"
#include "cuda/log_sum.h"
#include "cuda/sum.h"
#include "cuda/walk.h"

#include <type_traits>

namespace ffrt {

namespace {

/// The classes that a tile has of a sample.
struct Classes {
  int64_t count, stride, gradient_stride;
  int64_t first, all; ///< in the global tensor
};

/// The logits of a sample.
__device__ auto row_of(const float *x, const Classes &classes) {
  const auto logit = [x, stride = classes.stride](int64_t c) {
    return x[c * stride];
  };
  return cuda::Row<decltype(logit)>(classes.count, logit);
}

/// partial[block] = the sum of the losses of a block's samples.
__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_kernel(cuda::Walk<3> samples, Classes classes,
                         const float *logits, const int32_t *target,
                         double *partial, cuda::Problem *problem,
                         const char *what) {
  double loss = 0;
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const float *x = logits + at[1];
    const cuda::LogSum all = cuda::log_sum_of(row_of(x, classes));
    const int64_t label = target[at[0]];
    if (threadIdx.x == 0 &&
        cuda::expect_below(problem, what, label, classes.count))
      loss +=
          log(all.sum) + double(all.top) - double(x[label * classes.stride]);
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
  __device__ void store(int64_t c, float probability) const {
    to[c * stride] = T(probability - (c == label ? share : 0.0f));
  }
};

template <class T>
__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_gradient_kernel(cuda::Walk<3> samples, Classes classes,
                                  const float *logits, const int32_t *target,
                                  T *gradient, float share) {
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const Gradient<T> result(gradient + at[2], classes, target[at[0]], share);
    const auto row = row_of(logits + at[1], classes);
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
      row.for_each([&](int64_t c, float x) {
        result.store(c, fast_exp(x - all.top) * scale);
      });
    }
  }
}

/// The same where maxima and sums are known.
template <class T>
__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_gradient_apply_kernel(cuda::Walk<3> samples, Classes classes,
                                        const float *logits,
                                        const int32_t *target, T *gradient,
                                        float share, const float *max,
                                        const float *sum) {
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const Gradient<T> result(gradient + at[2], classes, target[at[0]], share);
    const float *x = logits + at[1], top = max[at[0]];
    const auto scale = float(double(share) / double(sum[at[0]]));
    for (int64_t c = threadIdx.x; c < classes.count; c += blockDim.x)
      result.store(c, fast_exp(x[c * classes.stride] - top) * scale);
  }
}

Classes classes_of(const Tensor &logits, const Tensor &gradient, int axis) {
  return {logits.shape[axis], logits.strides()[axis], gradient.strides()[axis],
          logits.lo[axis], logits.global[axis]};
}

/// Starts a kernel that stores gradients as T; it may need `more`.
template <class T, class Kernel, class... More>
void store_gradient(Tensors in, Tensors out, int axis, Kernel kernel,
                    More... more) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1],
               &gradient = out.begin()[0];
  const cuda::Walk<3> samples(samples_of(logits, target, gradient, axis));
  const Classes classes = classes_of(logits, gradient, axis);
  const dim3 block = cuda::row_block(classes.count);
  cuda::launch(cuda::blocks_for_rows(samples.elements, block), block, kernel,
               samples, classes, logits.as<float>(), target.as<int32_t>(),
               gradient.as<T>(), float(1.0 / global_elements(target)), more...);
}

} // namespace

void CrossEntropyForward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const cuda::Walk<3> samples(samples_of(logits, target, logits, axis));
  const Classes classes = classes_of(logits, logits, axis);
  const dim3 block = cuda::row_block(classes.count);
  const unsigned blocks = cuda::blocks_for_rows(samples.elements, block);
  double *partial = cuda::device().scratch<double>();
  cuda::launch(blocks, block, cross_entropy_kernel, samples, classes,
               logits.as<float>(), target.as<int32_t>(), partial,
               cuda::device().problem(),
               "cross entropy forward: expected targets");
  cuda::launch(1, cuda::kThreads, cuda::sum_up_kernel, partial, int(blocks),
               1.0 / global_elements(target), out.begin()->as<float>());
}

void CrossEntropyBackward::operator()(Tensors in, Tensors out) {
  with_factor(out.begin()->type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    store_gradient<T>(in, out, axis, cross_entropy_gradient_kernel<T>);
  });
}

void CrossEntropyApply::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const cuda::Walk<3> samples(samples_of(logits, target, logits, axis));
  const Classes classes = classes_of(logits, logits, axis);
  const float *x = logits.as<float>(), *max = in.begin()[2].as<float>(),
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
               double(x[at[1] + c * classes.stride]);
      },
      1.0 / global_elements(target), out.begin()->as<float>());
}

void CrossEntropyBackwardApply::operator()(Tensors in, Tensors out) {
  with_factor(out.begin()->type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    store_gradient<T>(in, out, axis, cross_entropy_gradient_apply_kernel<T>,
                      in.begin()[2].as<float>(), in.begin()[3].as<float>());
  });
}

} // namespace ffrt
