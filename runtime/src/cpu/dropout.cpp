//===- dropout.cpp - dropout ----------------------------------------------===//
#include "ffrt/dropout.h"

#include "common/cast.h"
#include "common/random.h"

namespace ffrt {

/// x and y of one order, where words are those of y's elements.
template <class X, class Y>
static void drop(const X *from, const Tensor &y, Y *to, uint64_t key,
                 uint64_t pass, float ratio) {
  const float scale = 1.0f / (1.0f - ratio);
  for_random_words(
      y, key, pass,
      [=](int64_t at, int64_t stride, const uint32_t *words, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          int64_t k = at + i * stride;
          to[k] = Y(is_kept(words[i], ratio) ? from[k] * scale : 0.0f);
        }
      });
}

void Dropout::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        drop(from, y, to, cx.seed ^ key, uint64_t(cx.pass), ratio);
      },
      x, y);
}

} // namespace ffrt
