//===- dropout.cpp - dropout ----------------------------------------------===//
#include "ffrt/dropout.h"

#include "common/random.h"

namespace ffrt {

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
