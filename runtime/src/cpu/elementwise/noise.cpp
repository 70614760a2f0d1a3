//===- noise.cpp - random numbers -----------------------------------------===//
#include "ffrt/noise.h"

#include "common/kernels/random.h"
#include "ffrt/real.h"

namespace ffrt {

void Noise::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0];
  const Real *from = in.begin()->as<Real>();
  Real *to = y.as<Real>();
  const uint64_t mixed = cx.seed ^ key, step = uint64_t(cx.micro_batch);
  if (!is_normal)
    return for_random_words(
        y, mixed, step,
        [=](int64_t at, int64_t stride, const uint32_t *words, int64_t n) {
          for (int64_t i = 0; i < n; ++i)
            to[at + i * stride] =
                from[at + i * stride] + Real(unit_interval(words[i]));
        });
  const int64_t origin = first_number(y);
  const Nest<2> nest = numbered_elements(y);
  const Nest<2>::Offsets s = nest.inner_stride();
  nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = at[0] + i * s[0];
      to[k] =
          from[k] +
          Real(random_normal(mixed, uint64_t(origin + at[1] + i * s[1]), step));
    }
  });
}

} // namespace ffrt
