//===- loss.cu - loss functions -------------------------------------------===//
#include "ffrt/loss.h"

#include "common/loss.h"
#include "cuda/reduce_block.h"
#include "cuda/sum.h"
#include "cuda/walk.h"
#include "ffrt/fast_math.h"

#include <cmath>

namespace ffrt {

namespace {

/// The classes of one element of the target.
struct Classes {
  int64_t count, stride, gradient_stride;
};

/// The largest logit, and the sum of exp relative to it, by the threads of a
/// block.
struct LogSum {
  float top;
  double sum;
  __device__ LogSum(const float *x, const Classes &classes) {
    float largest = -HUGE_VALF;
    for (int64_t c = threadIdx.x; c < classes.count; c += blockDim.x) {
      const float value = x[c * classes.stride];
      largest = value > largest ? value : largest;
    }
    top = cuda::reduce_block(largest, -HUGE_VALF, cuda::Maximum());
    double part = 0;
    for (int64_t c = threadIdx.x; c < classes.count; c += blockDim.x)
      part += fast_exp(x[c * classes.stride] - top);
    sum = cuda::reduce_block(part, 0.0, cuda::Sum());
  }
};

/// partial[block] = the sum of the losses of a block's elements.
__global__ void cross_entropy_kernel(cuda::Walk<3> samples, Classes classes,
                                     const float *logits, const int32_t *target,
                                     double *partial, cuda::Problem *problem,
                                     const char *what) {
  double loss = 0;
  for (int64_t i = blockIdx.x; i < samples.elements; i += gridDim.x) {
    const auto at = samples(i);
    const float *x = logits + at[1];
    const LogSum all(x, classes);
    const int64_t label = target[at[0]];
    if (cuda::expect_below(problem, what, label, classes.count))
      loss +=
          log(all.sum) + double(all.top) - double(x[label * classes.stride]);
  }
  if (threadIdx.x == 0)
    partial[blockIdx.x] = loss;
}

__global__ void cross_entropy_gradient_kernel(cuda::Walk<3> samples,
                                              Classes classes,
                                              const float *logits,
                                              const int32_t *target,
                                              float *gradient, float share) {
  for (int64_t i = blockIdx.x; i < samples.elements; i += gridDim.x) {
    const auto at = samples(i);
    const float *x = logits + at[1];
    float *g = gradient + at[2];
    const LogSum all(x, classes);
    const float scale = float(double(share) / all.sum);
    const int64_t label = target[at[0]];
    for (int64_t c = threadIdx.x; c < classes.count; c += blockDim.x)
      g[c * classes.gradient_stride] =
          fast_exp(x[c * classes.stride] - all.top) * scale -
          (c == label ? share : 0.0f);
  }
}

Classes classes_of(const Tensor &logits, const Tensor &gradient, int axis) {
  return {logits.shape[axis], logits.strides()[axis], gradient.strides()[axis]};
}

/// The mean over the global target of f(a, b).
template <class F> void mean_of_pairs(Tensors in, Tensors out, F f) {
  const Tensor &a = in.begin()[0], &b = in.begin()[1];
  const cuda::Walk<2> walk(
      Nest<2>(a.rank, a.shape, {a.strides(), b.strides()}));
  const float *x = a.as<float>(), *y = b.as<float>();
  cuda::sum_elements(
      walk.elements,
      FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        return f(double(x[at[0]]), double(y[at[1]]));
      },
      1.0 / global_elements(b), out.begin()->as<float>());
}

/// result = f(a, b) for every element of the tile.
template <class F>
void map_pairs(const Tensor &result, const Tensor &a, const Tensor &b, F f) {
  const cuda::Walk<3> walk(
      Nest<3>(a.rank, a.shape, {result.strides(), a.strides(), b.strides()}));
  float *to = result.as<float>();
  const float *x = a.as<float>(), *y = b.as<float>();
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        to[at[0]] = f(x[at[1]], y[at[2]]);
      });
}

} // namespace

void CrossEntropyForward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const cuda::Walk<3> samples(loss_samples(logits, target, logits, axis));
  const Classes classes = classes_of(logits, logits, axis);
  const int threads = cuda::threads_for(classes.count);
  const unsigned blocks = cuda::blocks_for(samples.elements, 1, threads);
  double *partial = cuda::device().scratch<double>();
  cuda::launch(blocks, threads, cross_entropy_kernel, samples, classes,
               logits.as<float>(), target.as<int32_t>(), partial,
               cuda::device().problem(),
               "cross entropy forward: expected targets");
  cuda::launch(1, cuda::kThreads, cuda::sum_up_kernel, partial, int(blocks),
               1.0 / global_elements(target), out.begin()->as<float>());
}

void CrossEntropyBackward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1],
               &gradient = out.begin()[0];
  const cuda::Walk<3> samples(loss_samples(logits, target, gradient, axis));
  const Classes classes = classes_of(logits, gradient, axis);
  const int threads = cuda::threads_for(classes.count);
  cuda::launch(cuda::blocks_for(samples.elements, 1, threads), threads,
               cross_entropy_gradient_kernel, samples, classes,
               logits.as<float>(), target.as<int32_t>(), gradient.as<float>(),
               float(1.0 / global_elements(target)));
}

void MseForward::operator()(Tensors in, Tensors out) {
  mean_of_pairs(
      in, out, [] __device__(double y, double t) { return (y - t) * (y - t); });
}

void MseBackward::operator()(Tensors in, Tensors out) {
  const float scale = float(2.0 / global_elements(in.begin()[1]));
  map_pairs(out.begin()[0], in.begin()[0], in.begin()[1],
            [=] __device__(float y, float t) { return scale * (y - t); });
}

void BceForward::operator()(Tensors in, Tensors out) {
  mean_of_pairs(in, out, [] __device__(double x, double t) {
    return fmax(x, 0.0) - x * t + log1p(exp(-fabs(x)));
  });
}

void BceBackward::operator()(Tensors in, Tensors out) {
  const float scale = float(1.0 / global_elements(in.begin()[1]));
  map_pairs(out.begin()[0], in.begin()[0], in.begin()[1],
            [=] __device__(float x, float t) {
              return scale * (fast_logistic(x) - t);
            });
}

} // namespace ffrt
