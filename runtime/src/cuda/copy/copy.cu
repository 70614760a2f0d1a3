//===- copy.cu - loops of copies between buffers --------------------------===//
#include "common/copy/move.h"
#include "cuda/kernels/walk.h"
#include "ffrt/bfloat16.h"
#include "ffrt/cuda/map_queue.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"
#include "ffrt/function.h"

#include <string>

namespace ffrt {

namespace {

/// Elements that lie side by side in both.
bool is_flat(const Nest<2> &nest) {
  return nest.rank == 1 && (nest.extent[0] == 1 ||
                            (nest.stride[0][0] == 1 && nest.stride[0][1] == 1));
}

struct Same {
  __device__ float operator()(float x) const { return x; }
};

/// Copies bytes, short arrays together with others.
void copy_line(void *dst, const void *src, int64_t bytes) {
  constexpr int64_t kWord = sizeof(float);
  const auto is_word = [](const void *data) {
    return reinterpret_cast<uintptr_t>(data) % uintptr_t(kWord) == 0;
  };
  if (bytes == 0 || bytes > cuda::kSmallMap * kWord || bytes % kWord != 0 ||
      !is_word(dst) || !is_word(src))
    return cuda::check(cudaMemcpyAsync(dst, src, std::size_t(bytes),
                                       cudaMemcpyDeviceToDevice,
                                       cuda::device().stream()),
                       "cudaMemcpyAsync");
  cuda::MapData<From<float>, float> data;
  data.x[0] = static_cast<const float *>(src);
  data.y[0] = dst;
  cuda::map_later<Same>(data, bytes / kWord);
}

/// 16 bytes.
struct alignas(16) Words {
  uint64_t at[2];
};

/// The longest words, of `size` bytes or more, that rows are made of.
int64_t longest_word(const Nest<2> &nest, int64_t size, const void *dst,
                     const void *src) {
  int64_t word = sizeof(Words);
  const auto divides = [&](int64_t bytes) { return bytes % word == 0; };
  const auto fits = [&] {
    bool all = nest.inner_stride()[0] == 1 && nest.inner_stride()[1] == 1 &&
               divides(nest.inner() * size) &&
               divides(int64_t(reinterpret_cast<uintptr_t>(dst))) &&
               divides(int64_t(reinterpret_cast<uintptr_t>(src)));
    for (int d = 0; d + 1 < nest.rank; ++d)
      all &= divides(nest.stride[d][0] * size) &&
             divides(nest.stride[d][1] * size);
    return all;
  };
  while (word > size && !fits())
    word /= 2;
  return word;
}

/// The nest over longer words, `factor` elements each.
Nest<2> lengthened(Nest<2> nest, int64_t factor) {
  nest.extent[nest.rank - 1] /= factor;
  for (int d = 0; d + 1 < nest.rank; ++d)
    for (int64_t &stride : nest.stride[d])
      stride /= factor;
  return nest;
}

template <class T> void move(const Nest<2> &nest, void *dst, const void *src) {
  const cuda::Walk<2> walk(nest);
  T *to = static_cast<T *>(dst);
  const T *from = static_cast<const T *>(src);
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        to[at[0]] = from[at[1]];
      });
}

/// Are rows groups of both operands?
template <class T>
bool is_grouped(const Nest<2> &nest, const T *to, const T *from) {
  bool grouped = nest.inner_stride()[0] == 1 && nest.inner_stride()[1] == 1 &&
                 cuda::begins_group(to) && cuda::begins_group(from) &&
                 nest.inner() % cuda::kGroup == 0;
  for (int d = 0; d + 1 < nest.rank; ++d)
    for (int64_t stride : nest.stride[d])
      grouped &= stride % cuda::kGroup == 0;
  return grouped;
}

/// to = f(to, from) along a nest; where `starts`, f does not use what was
/// there.
template <class T, class F>
void update(const Nest<2> &nest, T *to, const T *from, bool starts, F f) {
  if (is_grouped(nest, to, from)) {
    const cuda::Walk<2> walk(nest, cuda::kGroup);
    cuda::for_elements(
        walk.elements, FFRT_LAMBDA(int64_t i) {
          const auto at = walk(i);
          const cuda::Span whole{0, cuda::kGroup, true};
          const cuda::Group<T> more = cuda::read(from + at[1], whole);
          cuda::Group<T> value{};
          if (!starts)
            value = cuda::read(to + at[0], whole);
          FFRT_UNROLL
          for (int k = 0; k < cuda::kGroup; ++k)
            value[k] = f(value[k], more[k]);
          cuda::write(to + at[0], whole, value);
        });
    return;
  }
  const cuda::Walk<2> walk(nest);
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        to[at[0]] = f(starts ? T(0) : to[at[0]], from[at[1]]);
      });
}

template <class T> struct Combine {
  bool sums;
  __device__ T operator()(T a, T b) const {
    return sums ? T(a + b) : larger(a, b);
  }
};

template <class T>
void combine_typed(const Nest<2> &nest, void *dst, const void *src,
                   ReduceOp op) {
  update(nest, static_cast<T *>(dst), static_cast<const T *>(src), false,
         Combine<T>{op == ReduceOp::sum});
}

template <class T> struct Accumulate {
  bool first;
  T factor;
  __device__ T operator()(T so_far, T more) const {
    return first ? factor * more : so_far + factor * more;
  }
};

template <class T>
void accumulate_typed(const Nest<2> &nest, void *dst, const void *src,
                      bool first, T factor) {
  update(nest, static_cast<T *>(dst), static_cast<const T *>(src), first,
         Accumulate<T>{first, factor});
}

template <class T> void fill_as(void *dst, int64_t n, T value) {
  T *to = static_cast<T *>(dst);
  const cuda::Group<T> values{{value, value, value, value}};
  cuda::for_spans(
      n, cuda::begins_group(to),
      FFRT_LAMBDA(const cuda::Span &span) { cuda::write(to, span, values); });
}

} // namespace

void move_strided(DType type, const Nest<2> &nest, void *dst, const void *src) {
  if (is_flat(nest))
    return copy_line(dst, src, nest.extent[0] * int64_t(size_of(type)));
  const int64_t size = int64_t(size_of(type)),
                word = longest_word(nest, size, dst, src);
  const Nest<2> words = lengthened(nest, word / size);
  if (word == sizeof(Words))
    return move<Words>(words, dst, src);
  with_word_of(word, [&](auto w) { move<decltype(w)>(words, dst, src); });
}

void combine_strided(DType type, const Nest<2> &nest, void *dst,
                     const void *src, ReduceOp op) {
  switch (type) {
  case DType::f32:
    return combine_typed<float>(nest, dst, src, op);
  case DType::f64:
    return combine_typed<double>(nest, dst, src, op);
  case DType::i32:
    return combine_typed<int32_t>(nest, dst, src, op);
  case DType::i64:
    return combine_typed<int64_t>(nest, dst, src, op);
  case DType::bf16:
    return combine_typed<BFloat16>(nest, dst, src, op);
  case DType::f16:
    return combine_typed<Float16>(nest, dst, src, op);
  default:
    throw Error("combine: expected a type of 2 bytes or more, found one of 1");
  }
}

void accumulate_strided(DType type, const Nest<2> &nest, void *dst,
                        const void *src, bool first, double factor) {
  switch (type) {
  case DType::f32:
    return accumulate_typed(nest, dst, src, first, float(factor));
  case DType::f64:
    return accumulate_typed(nest, dst, src, first, factor);
  default:
    throw Error("accumulate: expected f32 or f64, found another type");
  }
}

void fill_elements(DType type, void *dst, int64_t n, double value) {
  switch (type) {
  case DType::f32:
    return fill_as(dst, n, float(value));
  case DType::bf16:
    return fill_as(dst, n, BFloat16(float(value)));
  case DType::f16:
    return fill_as(dst, n, Float16(float(value)));
  case DType::i32:
    return fill_as(dst, n, int32_t(value));
  default:
    throw Error("fill: expected f32, bf16, f16 or i32, found another type");
  }
}

} // namespace ffrt
