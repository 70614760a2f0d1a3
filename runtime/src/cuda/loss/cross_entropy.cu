//===- cross_entropy.cu - losses of classes -------------------------------===//
#include "ffrt/cross_entropy.h"

#include "common/elementwise/cast.h"
#include "common/loss/cross_entropy.h"
#include "common/loss/loss.h"
#include "cuda/kernels/walk.h"
#include "cuda/loss/log_sum.h"
#include "cuda/reduce/sum.h"
#include "ffrt/cuda/group.h"

#include <type_traits>

namespace ffrt {

namespace {

/// The classes that a tile has of a sample.
struct Classes {
  int64_t count, stride, gradient_stride;
  int64_t first, all;      ///< in the global tensor
  float of_label, of_each; ///< what of a target is its class; every class
};

/// The logits of a sample.
template <class X> __device__ auto row_of(const X *x, const Classes &classes) {
  const auto logit = [x, stride = classes.stride](int64_t c) {
    return float(x[c * stride]);
  };
  return cuda::Row<decltype(logit)>(classes.count, logit);
}

/// partial[block] = the sum of `loss` over the rows of a block, of which the
/// first threads have it.
__device__ void store_losses(double loss, double *partial) {
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

/// `logit`: the target's.
__device__ double loss_of(const cuda::LogSum &all, double logit) {
  return log(all.sum) + double(all.top) - logit;
}

/// The mean of all logits of a sample in the target, in the first thread of its
/// row; all threads must ask.
template <class X>
__device__ double smoothed_logit(const X *x, const Classes &classes) {
  return classes.of_each == 0.0f
             ? 0.0
             : double(classes.of_each) *
                   cuda::sum_of(row_of(x, classes), [](float x) { return x; });
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
    const double smoothed = smoothed_logit(x, classes);
    const int64_t label = target[at[0]];
    if (threadIdx.x == 0 &&
        cuda::expect_below(problem, what, label, classes.count))
      loss +=
          loss_of(all, smoothed + double(classes.of_label) *
                                      double(float(x[label * classes.stride])));
  }
  store_losses(loss, partial);
}

/// Where the gradient of a sample goes, as f32, bf16 or f16.
template <class T> struct Gradient {
  T *to;
  int64_t stride, label;
  float of_label, of_each;

  __device__ Gradient(T *to, const Classes &classes, int64_t label, float share)
      : to(to), stride(classes.gradient_stride), label(label - classes.first),
        of_label(share * (classes.of_label + classes.of_each)),
        of_each(share * classes.of_each) {}

  /// `probability` is times the share.
  __device__ T of(int64_t c, float probability) const {
    return T(probability - (c == label ? of_label : of_each));
  }
  __device__ void store(int64_t c, float probability) const {
    to[c * stride] = of(c, probability);
  }
};

/// What a sample has of the gradient, times the slope if there is one.
struct Share {
  float of_sample;
  const float *slope;

  Share(const Tensor &target, const Tensor &slope)
      : of_sample(float(1.0 / global_elements(target))),
        slope(slope.as<float>()) {}
  __device__ float operator()() const {
    return slope ? of_sample * *slope : of_sample;
  }
};

/// Groups of neighbours among the classes of a sample, where these lie side by
/// side and a group begins at the same class in logits and gradient.
struct Groups {
  int64_t before = 0, count = 0; ///< classes before the first; groups

  template <class X, class T>
  __device__ Groups(const Classes &classes, const X *x,
                    const Gradient<T> &result) {
    const int shift = cuda::before_group(x);
    if (classes.stride != 1 || result.stride != 1 ||
        shift != cuda::before_group(result.to))
      return;
    before = shift;
    count = (classes.count - before) / cuda::kGroup;
  }

  /// Calls many(c, group) for the classes of this thread in groups from c on,
  /// one(c, logit) for others. So many groups are read before any is used.
  template <class X, class One, class Many>
  __device__ void for_each(const Classes &classes, const X *x, const One &one,
                           const Many &many) const {
    constexpr int kAtOnce = 4;
    const int64_t step = blockDim.x;
    const X *from = x + before;
    for (int64_t g = threadIdx.x; g < count; g += kAtOnce * step) {
      cuda::Group<X> read[kAtOnce];
      FFRT_UNROLL
      for (int k = 0; k < kAtOnce; ++k)
        if (g + k * step < count)
          read[k] = cuda::read_group(from + (g + k * step) * cuda::kGroup);
      FFRT_UNROLL
      for (int k = 0; k < kAtOnce; ++k)
        if (g + k * step < count)
          many(before + (g + k * step) * cuda::kGroup, read[k]);
    }
    const int64_t grouped = count * cuda::kGroup,
                  others = classes.count - grouped;
    for (int64_t i = threadIdx.x; i < others; i += step) {
      const int64_t c = i < before ? i : i + grouped;
      one(c, float(x[c * classes.stride]));
    }
  }
};

/// Stores the gradient of a sample.
template <class X, class T>
__device__ void store_gradient(const Groups &groups, const Classes &classes,
                               const X *x, const Gradient<T> &result, float top,
                               float scale) {
  groups.for_each(
      classes, x,
      [&](int64_t c, float logit) {
        result.store(c, softmax_exp(logit - top) * scale);
      },
      [&](int64_t first, const cuda::Group<X> &logits) {
        cuda::Group<T> gradient;
        FFRT_UNROLL
        for (int k = 0; k < cuda::kGroup; ++k)
          gradient[k] =
              result.of(first + k, softmax_exp(float(logits[k]) - top) * scale);
        *reinterpret_cast<cuda::Group<T> *>(result.to + first) = gradient;
      });
}

/// Gradients of rows that are kept, whose exponentials are taken once.
struct KeptRows {
  /// Stores that of a sample and returns what its loss is made of.
  template <class X, class T>
  __device__ cuda::LogSum operator()(const Classes &classes, const X *x,
                                     const Gradient<T> &result,
                                     float share) const {
    const auto row = row_of(x, classes);
    const float top = cuda::max_of(row);
    const auto e = row.mapped([=](float x) { return softmax_exp(x - top); });
    const double sum = cuda::sum_of(e, [](float x) { return x; });
    const auto scale = float(double(share) / sum);
    e.for_each([&](int64_t c, float x) { result.store(c, x * scale); });
    return {sum, top, 0};
  }
};

/// The same of longer rows, which are read twice.
struct LongRows {
  template <class X, class T>
  __device__ cuda::LogSum operator()(const Classes &classes, const X *x,
                                     const Gradient<T> &result,
                                     float share) const {
    const Groups groups(classes, x, result);
    const cuda::LogSum none{0, -HUGE_VALF, 0};
    cuda::LogSum all = none;
    groups.for_each(
        classes, x, [&](int64_t, float logit) { all.add(logit); },
        [&](int64_t, const cuda::Group<X> &logits) {
          float numbers[cuda::kGroup];
          FFRT_UNROLL
          for (int k = 0; k < cuda::kGroup; ++k)
            numbers[k] = float(logits[k]);
          all.add(numbers);
        });
    all = cuda::reduce_row(all, none, cuda::JoinLogSums());
    store_gradient(groups, classes, x, result, all.top,
                   float(double(share) / all.sum));
    return all;
  }
};

/// The gradient of the samples, and as cross_entropy_kernel their losses.
template <class Rows, class X, class T>
__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_gradient_kernel(cuda::Walk<3> samples, Classes classes,
                                  const X *logits, const int32_t *target,
                                  T *gradient, Share part, double *partial,
                                  cuda::Problem *problem, const char *what) {
  const float share = part();
  double loss = 0;
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const int64_t label = target[at[0]];
    const X *x = logits + at[1];
    // Before anything is stored, which may be in the same place.
    const bool has_loss =
        threadIdx.x == 0 &&
        cuda::expect_below(problem, what, label, classes.count);
    double logit = smoothed_logit(x, classes);
    if (has_loss)
      logit +=
          double(classes.of_label) * double(float(x[label * classes.stride]));
    __syncwarp();
    const cuda::LogSum all =
        Rows()(classes, x, Gradient<T>(gradient + at[2], classes, label, share),
               share);
    if (has_loss)
      loss += loss_of(all, logit);
  }
  store_losses(loss, partial);
}

/// The gradient where maxima and sums are known.
template <class X, class T>
__global__ void __launch_bounds__(cuda::kRowThreads)
    cross_entropy_gradient_apply_kernel(cuda::Walk<3> samples, Classes classes,
                                        const X *logits, const int32_t *target,
                                        T *gradient, Share part,
                                        const float *max, const float *sum) {
  const float share = part();
  for (int64_t i = cuda::first_row(); i < samples.elements;
       i += cuda::row_step()) {
    const auto at = samples(i);
    const X *x = logits + at[1];
    const Gradient<T> result(gradient + at[2], classes, target[at[0]], share);
    store_gradient(Groups(classes, x, result), classes, x, result, max[at[0]],
                   float(double(share) / double(sum[at[0]])));
  }
}

Classes classes_of(const Tensor &logits, const Tensor &gradient, int axis,
                   double smoothing) {
  return {logits.shape[axis],
          logits.strides()[axis],
          gradient.strides()[axis],
          logits.lo[axis],
          logits.global[axis],
          float(1.0 - smoothing),
          float(smoothing / double(logits.global[axis]))};
}

/// The loss of the samples whose label the tile has, and of others what all
/// classes have of it.
template <class X>
void sum_losses(Tensors in, const X *x, Tensors out, int axis, double smoothing,
                const char *what) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const cuda::Walk<3> samples(samples_of(logits, target, logits, axis));
  const Classes classes = classes_of(logits, logits, axis, smoothing);
  const float *max = in.begin()[2].as<float>(),
              *sum = in.begin()[3].as<float>();
  const int32_t *labels = target.as<int32_t>();
  cuda::Problem *problem = cuda::device().problem();
  cuda::sum_elements(
      samples.elements,
      FFRT_LAMBDA(int64_t i) {
        const auto at = samples(i);
        const int64_t label = labels[at[0]], c = label - classes.first;
        const X *own = x + at[1];
        double smoothed = 0;
        for (int64_t k = 0; classes.of_each != 0.0f && k < classes.count; ++k)
          smoothed += double(float(own[k * classes.stride]));
        smoothed *= double(classes.of_each);
        if (!cuda::expect_below(problem, what, label, classes.all) || c < 0 ||
            c >= classes.count)
          return -smoothed;
        return log(double(sum[at[0]])) + double(max[at[0]]) - smoothed -
               double(classes.of_label) *
                   double(float(own[c * classes.stride]));
      },
      1.0 / global_elements(target), out.begin()->as<float>());
}

/// The loss of all blocks.
void sum_up(const double *partial, unsigned blocks, const Tensor &target,
            const Tensor &loss) {
  cuda::launch(1, cuda::kThreads, cuda::sum_up_kernel, partial, int(blocks),
               1.0 / global_elements(target), loss.as<float>());
}

} // namespace

void CrossEntropyForward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const cuda::Walk<3> samples(samples_of(logits, target, logits, axis));
  const Classes classes = classes_of(logits, logits, axis, smoothing);
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
  sum_up(partial, blocks, target, *out.begin());
}

void CrossEntropyBackward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1],
               &gradient = out.begin()[1];
  const cuda::Walk<3> samples(samples_of(logits, target, gradient, axis));
  const Classes classes = classes_of(logits, gradient, axis, smoothing);
  const Share share(target, in.begin()[2]);
  const dim3 block = cuda::row_block(classes.count);
  const unsigned blocks = cuda::blocks_for_rows(samples.elements, block);
  double *partial = cuda::device().scratch<double>();
  with_data(
      [&](auto *x, auto *to) {
        using X = std::remove_pointer_t<decltype(x)>;
        using T = std::remove_pointer_t<decltype(to)>;
        const bool kept = classes.count <= int64_t(block.x) * cuda::kKept;
        cuda::launch(blocks, block,
                     kept ? cross_entropy_gradient_kernel<KeptRows, X, T>
                          : cross_entropy_gradient_kernel<LongRows, X, T>,
                     samples, classes, x, target.as<int32_t>(), to, share,
                     partial, cuda::device().problem(),
                     "cross entropy backward: expected targets");
      },
      logits, gradient);
  if (out.begin()->data)
    sum_up(partial, blocks, target, *out.begin());
}

void CrossEntropyApply::operator()(Tensors in, Tensors out) {
  with_data(
      [&](const auto *x) {
        sum_losses(in, x, out, axis, smoothing,
                   "cross entropy apply: expected targets");
      },
      *in.begin());
}

void CrossEntropyBackwardApply::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1],
               &gradient = out.begin()[1];
  const cuda::Walk<3> samples(samples_of(logits, target, gradient, axis));
  const Classes classes = classes_of(logits, gradient, axis, smoothing);
  const Share share(target, in.begin()[4]);
  const dim3 block = cuda::row_block(classes.count);
  with_data(
      [&](auto *x, auto *to) {
        using X = std::remove_pointer_t<decltype(x)>;
        using T = std::remove_pointer_t<decltype(to)>;
        // Before the gradient is stored, which may be in the same place.
        if (out.begin()->data)
          sum_losses(in, x, out, axis, smoothing,
                     "cross entropy backward apply: expected targets");
        cuda::launch(cuda::blocks_for_rows(samples.elements, block), block,
                     cross_entropy_gradient_apply_kernel<X, T>, samples,
                     classes, x, target.as<int32_t>(), to, share,
                     in.begin()[2].as<float>(), in.begin()[3].as<float>());
      },
      logits, gradient);
}

} // namespace ffrt
