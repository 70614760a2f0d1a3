//===- dropout.cpp - dropout ----------------------------------------------===//
#include "ffrt/dropout.h"

#include "common/check.h"
#include "common/random.h"

namespace ffrt {

Dropout::Dropout(Context &cx, Tensors in, Tensors out, int64_t key,
                 double ratio)
    : cx(cx), key(uint64_t(key)), ratio(float(ratio)) {
  const char *kernel = "dropout";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_type(kernel, "operand", x, DType::f32);
  expect_type(kernel, "result", y, DType::f32);
  expect_same_shape(kernel, "operand", x, y);
  expect_same_order(kernel, "operand", x, y);
  expect(kernel, ratio >= 0.0 && ratio < 1.0,
         "ratio: expected a number in [0, 1), found " + std::to_string(ratio));
}

void Dropout::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const float *from = x.as<float>();
  float *to = y.as<float>();
  const float drop = ratio, scale = 1.0f / (1.0f - ratio);
  for_random_words(
      y, cx.seed ^ key, uint64_t(cx.pass),
      [=](int64_t at, int64_t stride, const uint32_t *words, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          int64_t k = at + i * stride;
          to[k] = is_kept(words[i], drop) ? from[k] * scale : 0.0f;
        }
      });
}

} // namespace ffrt
