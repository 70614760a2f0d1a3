//===- dropout.cpp - dropout ----------------------------------------------===//
#include "ffrt/dropout.h"

#include "common/elementwise/cast.h"
#include "common/kernels/random.h"

namespace ffrt {

/// Tensors of one order, where words are those of y's elements; `added` may be
/// null.
template <class X, class A, class Y>
static void drop(const X *from, const A *added, const Tensor &y, Y *to,
                 uint64_t key, uint64_t micro_batch, Real ratio) {
  const Real scale = 1.0f / (1.0f - ratio);
  for_random_words(
      y, key, micro_batch,
      [=](int64_t at, int64_t stride, const uint32_t *words, int64_t n) {
        const auto kept = [=](int64_t i, int64_t k) {
          return is_kept(words[i], ratio) ? from[k] * scale : 0.0f;
        };
        for (int64_t i = 0; !added && i < n; ++i)
          to[at + i * stride] = Y(kept(i, at + i * stride));
        for (int64_t i = 0; added && i < n; ++i) {
          const int64_t k = at + i * stride;
          to[k] = Y(kept(i, k) + Real(added[k]));
        }
      });
}

void Dropout::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0];
  with_data(
      [&](const auto *from, const auto *added, auto *to) {
        drop(from, added, y, to, cx.seed ^ key, uint64_t(cx.micro_batch),
             ratio);
      },
      in.begin()[0], in.size() > 1 ? in.begin()[1] : Tensor(), y);
}

} // namespace ffrt
