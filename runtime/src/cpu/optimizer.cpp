//===- optimizer.cpp - parameter updates ----------------------------------===//
#include "ffrt/optimizer.h"

#include "common/check.h"
#include "ffrt/parallel.h"

namespace ffrt {

SgdUpdate::SgdUpdate(Context &cx, Tensors in, Tensors out, double momentum,
                     int64_t nesterov)
    : cx(cx), momentum(float(momentum)), nesterov(nesterov != 0) {
  const char *kernel = "sgd update";
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor &w = in.begin()[0], &g = in.begin()[1], &v = in.begin()[2];
  expect_type(kernel, "w", w, DType::f32);
  expect_type(kernel, "g", g, DType::f32);
  expect_same_shape(kernel, "g", g, w);
  expect_same_order(kernel, "g", g, w);
  if (v.data) {
    expect_type(kernel, "v", v, DType::f32);
    expect_same_shape(kernel, "v", v, w);
    expect_same_order(kernel, "v", v, w);
  }
  expect(kernel, out.begin()[0].data == w.data && out.begin()[1].data == v.data,
         "expected the results in place of w and v, found other buffers");
}

void SgdUpdate::operator()(Tensors in, Tensors) {
  float *w = in.begin()[0].as<float>();
  const float *g = in.begin()[1].as<float>();
  float *v = in.begin()[2].as<float>();
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  const float mu = momentum;
  const bool ahead = nesterov;
  const int64_t n = in.begin()[0].elements();
  if (!v) {
    parallel_for(n, 16384, [=](int64_t begin, int64_t end) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i)
        w[i] -= rate * (g[i] + decay * w[i]);
    });
    return;
  }
  parallel_for(n, 16384, [=](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      float slope = g[i] + decay * w[i];
      float speed = mu * v[i] + slope;
      v[i] = speed;
      w[i] -= rate * (ahead ? slope + mu * speed : speed);
    }
  });
}

} // namespace ffrt
