//===- fused.cu - where the elements of fused kernels lie -----------------===//
#include "ffrt/cuda/fused_kernel.h"

#include "common/check_elementwise.h"
#include "common/nest.h"

namespace ffrt {

FusedWalk::FusedWalk(Tensors in, Tensors out, int operands, int results) {
  check_fused(in, out, operands, results);
  const Tensor &y = out.begin()[0];
  // The results come first, so that the nest goes through them from one end to
  // the other.
  std::array<Index, kMaxFused + 1> strides;
  strides[0] = y.strides();
  for (int k = 0; k < operands; ++k)
    strides[std::size_t(k) + 1] = broadcast_strides(in.begin()[k], y.rank);
  const Nest<kMaxFused + 1> nest(y.rank, y.shape, strides);
  rank = nest.rank;
  for (int d = 0; d < rank; ++d) {
    extent[d] = nest.extent[d];
    for (int k = 0; k < operands; ++k) {
      stride[k][d] = nest.stride[d][std::size_t(k) + 1];
      flat &= stride[k][d] == nest.stride[d][0];
    }
  }
}

} // namespace ffrt
