//===- dropout.cu - dropout -----------------------------------------------===//
#include "ffrt/dropout.h"

#include "common/elementwise/cast.h"
#include "common/kernels/random.h"
#include "cuda/kernels/walk.h"
#include "ffrt/cuda/group.h"

namespace ffrt {

namespace {

/// What is kept, and what becomes of it.
struct Mask {
  const cuda::Scalars *now;
  uint64_t name;
  float ratio, scale;

  __device__ uint64_t key() const { return now->seed ^ name; }
  __device__ uint64_t micro_batch() const { return uint64_t(now->micro_batch); }
  __device__ float operator()(uint32_t word, float x) const {
    return is_kept(word, ratio) ? x * scale : 0.0f;
  }
};

/// x, or what is added to it at i.
template <class A> __device__ float plus(float x, const A *added, int64_t i) {
  return added ? x + float(added[i]) : x;
}

/// Elements whose numbers are `first` and the ones after: the four of a counter
/// are drawn at once, and where they are a group, read and written at once.
/// `added` may be null.
template <class X, class A, class Y>
void drop_run(const Mask &mask, const X *x, const A *added, Y *y, int64_t n,
              int64_t first) {
  static_assert(cuda::kGroup == 4);
  if (first % 4 == 0)
    return cuda::for_spans(
        n,
        cuda::begins_group(x) && cuda::begins_group(added) &&
            cuda::begins_group(y),
        FFRT_LAMBDA(const cuda::Span &span) {
          const auto words =
              philox(mask.key(), uint64_t((first + span.first) / 4),
                     mask.micro_batch());
          const cuda::Group<X> values = cuda::read(x, span);
          const auto more = added ? cuda::read(added, span) : cuda::Group<A>();
          cuda::Group<Y> results;
          FFRT_UNROLL
          for (int k = 0; k < 4; ++k) {
            const float kept = mask(words[k], values[k]);
            results[k] = Y(added ? kept + float(more[k]) : kept);
          }
          cuda::write(y, span, results);
        });
  const int64_t block = first / 4, blocks = (first + n + 3) / 4 - block;
  cuda::for_elements(
      blocks, FFRT_LAMBDA(int64_t b) {
        const auto words =
            philox(mask.key(), uint64_t(block + b), mask.micro_batch());
        for (int k = 0; k < 4; ++k)
          if (const int64_t i = (block + b) * 4 + k - first; i >= 0 && i < n)
            y[i] = Y(plus(mask(words[k], x[i]), added, i));
      });
}

template <class X, class A, class Y>
void drop(const Mask &mask, const X *x, const A *added, Y *y,
          const cuda::Walk<2> &walk, int64_t first) {
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        const uint32_t word = philox_word(mask.key(), uint64_t(first + at[1]),
                                          mask.micro_batch());
        y[at[0]] = Y(plus(mask(word, x[at[0]]), added, at[0]));
      });
}

} // namespace

void Dropout::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0];
  const Nest<2> nest = numbered_elements(y);
  const Mask mask{cuda::device().scalars(cx), key, ratio,
                  1.0f / (1.0f - ratio)};
  const bool run =
      nest.rank == 1 && nest.stride[0][0] == 1 && nest.stride[0][1] == 1;
  with_data(
      [&](const auto *from, const auto *added, auto *to) {
        if (run)
          drop_run(mask, from, added, to, nest.extent[0], first_number(y));
        else
          drop(mask, from, added, to, cuda::Walk<2>(nest), first_number(y));
      },
      in.begin()[0], in.size() > 1 ? in.begin()[1] : Tensor(), y);
}

} // namespace ffrt
