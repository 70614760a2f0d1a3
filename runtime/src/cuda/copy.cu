//===- copy.cu - loops of copies between buffers --------------------------===//
#include "common/move.h"
#include "cuda/walk.h"
#include "ffrt/bfloat16.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/error.h"

#include <string>

namespace ffrt {

namespace {

/// Elements that lie side by side in both.
bool is_flat(const Nest<2> &nest) {
  return nest.rank == 1 && nest.stride[0][0] == 1 && nest.stride[0][1] == 1;
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

template <class T>
void combine_typed(const Nest<2> &nest, void *dst, const void *src,
                   ReduceOp op) {
  const cuda::Walk<2> walk(nest);
  const bool sums = op == ReduceOp::sum;
  T *to = static_cast<T *>(dst);
  const T *from = static_cast<const T *>(src);
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        const T a = to[at[0]], b = from[at[1]];
        to[at[0]] = sums ? T(a + b) : a > b ? a : b;
      });
}

template <class T>
void accumulate_typed(const Nest<2> &nest, void *dst, const void *src,
                      bool first, T factor) {
  const cuda::Walk<2> walk(nest);
  T *to = static_cast<T *>(dst);
  const T *from = static_cast<const T *>(src);
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        const T more = factor * from[at[1]];
        to[at[0]] = first ? more : to[at[0]] + more;
      });
}

template <class T> void fill_as(void *dst, int64_t n, T value) {
  T *to = static_cast<T *>(dst);
  cuda::for_elements(
      n, FFRT_LAMBDA(int64_t i) { to[i] = value; });
}

} // namespace

void move_strided(DType type, const Nest<2> &nest, void *dst, const void *src) {
  if (is_flat(nest))
    return cuda::check(
        cudaMemcpyAsync(dst, src, std::size_t(nest.extent[0]) * size_of(type),
                        cudaMemcpyDeviceToDevice, cuda::device().stream()),
        "cudaMemcpyAsync");
  with_word(type, [&](auto word) { move<decltype(word)>(nest, dst, src); });
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
  if (type == DType::f32)
    return fill_as(dst, n, float(value));
  if (type == DType::i32)
    return fill_as(dst, n, int32_t(value));
  throw Error("fill: expected f32 or i32, found another type");
}

} // namespace ffrt
