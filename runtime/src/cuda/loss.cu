//===- loss.cu - loss functions -------------------------------------------===//
#include "ffrt/loss.h"

#include "common/loss.h"
#include "cuda/log_sum.h"
#include "cuda/sum.h"
#include "cuda/walk.h"

namespace ffrt {

namespace {

/// The classes of one element of the target.
struct Classes {
  int64_t count, stride, gradient_stride;
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

__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_gradient_kernel(cuda::Walk<3> samples, Classes classes,
                                  const float *logits, const int32_t *target,
                                  float *gradient, float share) {
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const int64_t label = target[at[0]];
    float *g = gradient + at[2];
    const auto store = [&](int64_t c, float probability) {
      g[c * classes.gradient_stride] =
          probability - (c == label ? share : 0.0f);
    };
    const auto row = row_of(logits + at[1], classes);
    if (row.is_kept()) {
      // Exponentials are taken once.
      const float top = cuda::max_of(row);
      const auto e = row.mapped([=](float x) { return fast_exp(x - top); });
      const double sum = cuda::sum_of(e, [](float x) { return x; });
      const auto scale = float(double(share) / sum);
      e.for_each([&](int64_t c, float x) { store(c, x * scale); });
    } else {
      const cuda::LogSum all = cuda::log_sum_of(row);
      const auto scale = float(double(share) / all.sum);
      row.for_each(
          [&](int64_t c, float x) { store(c, fast_exp(x - all.top) * scale); });
    }
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
  const Tensor &logits = in.begin()[0], &target = in.begin()[1],
               &gradient = out.begin()[0];
  const cuda::Walk<3> samples(loss_samples(logits, target, gradient, axis));
  const Classes classes = classes_of(logits, gradient, axis);
  const dim3 block = cuda::row_block(classes.count);
  cuda::launch(cuda::blocks_for_rows(samples.elements, block), block,
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
