//===- noise.cu - random numbers ------------------------------------------===//
#include "ffrt/noise.h"

#include "common/kernels/random.h"
#include "cuda/kernels/walk.h"
#include "ffrt/cuda/group.h"

namespace ffrt {

void Noise::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0];
  const float *from = in.begin()->as<float>();
  float *to = y.as<float>();
  const cuda::Walk<2> walk(numbered_elements(y));
  const int64_t first = first_number(y);
  const cuda::Scalars *now = cuda::device().scalars(cx);
  const uint64_t name = key;
  const bool normal = is_normal;
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        const auto number = uint64_t(first + at[1]);
        const uint64_t mixed = now->seed ^ name, step(now->micro_batch);
        to[at[0]] = from[at[0]] +
                    (normal ? random_normal(mixed, number, step)
                            : unit_interval(philox_word(mixed, number, step)));
      });
}

} // namespace ffrt
