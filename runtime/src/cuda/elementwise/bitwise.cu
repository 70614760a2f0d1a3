//===- bitwise.cu - functions of bits -------------------------------------===//
#include "ffrt/bitwise.h"

#include "common/elementwise/check_elementwise.h"
#include "cuda/kernels/walk.h"
#include "ffrt/cuda/group.h"

namespace ffrt {

template <class T>
static void compute(BitFunction f, const cuda::Walk<3> &walk, T *y, const T *a,
                    const T *b) {
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        y[at[0]] = bit_function(f, a[at[1]], b[at[2]]);
      });
}

void Bitwise::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0], &a = in.begin()[0], &b = in.begin()[1];
  const cuda::Walk<3> walk(Nest<3>(y.rank, y.shape,
                                   {y.strides(), broadcast_strides(a, y.rank),
                                    broadcast_strides(b, y.rank)}));
  if (y.type == DType::u8)
    compute(kind, walk, y.as<uint8_t>(), a.as<uint8_t>(), b.as<uint8_t>());
  else if (y.type == DType::i32)
    compute(kind, walk, y.as<int32_t>(), a.as<int32_t>(), b.as<int32_t>());
  else
    compute(kind, walk, y.as<int64_t>(), a.as<int64_t>(), b.as<int64_t>());
}

} // namespace ffrt
