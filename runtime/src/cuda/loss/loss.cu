//===- loss.cu - losses element by element --------------------------------===//
#include "ffrt/loss.h"

#include "common/loss/loss.h"
#include "cuda/kernels/walk.h"
#include "cuda/reduce/sum.h"
#include "ffrt/fast_math.h"

namespace ffrt {

namespace {

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
