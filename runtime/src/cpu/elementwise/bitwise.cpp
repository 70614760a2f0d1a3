//===- bitwise.cpp - functions of bits ------------------------------------===//
#include "ffrt/bitwise.h"

#include "common/elementwise/check_elementwise.h"
#include "common/kernels/nest.h"

namespace ffrt {

template <class T>
static void compute(BitFunction f, const Nest<3> &nest, T *y, const T *a,
                    const T *b) {
  const Nest<3>::Offsets s = nest.inner_stride();
  nest.run([&](const Nest<3>::Offsets &at, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      y[at[0] + i * s[0]] =
          bit_function(f, a[at[1] + i * s[1]], b[at[2] + i * s[2]]);
  });
}

void Bitwise::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0], &a = in.begin()[0], &b = in.begin()[1];
  const Nest<3> nest(y.rank, y.shape,
                     {y.strides(), broadcast_strides(a, y.rank),
                      broadcast_strides(b, y.rank)});
  if (y.type == DType::u8)
    compute(kind, nest, y.as<uint8_t>(), a.as<uint8_t>(), b.as<uint8_t>());
  else if (y.type == DType::i32)
    compute(kind, nest, y.as<int32_t>(), a.as<int32_t>(), b.as<int32_t>());
  else
    compute(kind, nest, y.as<int64_t>(), a.as<int64_t>(), b.as<int64_t>());
}

} // namespace ffrt
