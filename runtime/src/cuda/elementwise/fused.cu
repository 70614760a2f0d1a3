//===- fused.cu - where the elements of operands that broadcast lie -------===//
#include "ffrt/cuda/fused_kernel.h"

#include "common/elementwise/check_elementwise.h"
#include "common/kernels/nest.h"

#include <algorithm>

namespace ffrt {

cuda::MapNest::MapNest(Tensors in, const Tensor &result) {
  const Tensor y = as_walked(result);
  // The result comes first: the nest has its order.
  std::array<Index, kMaxFused + 1> strides;
  strides[0] = y.strides();
  std::size_t operands = 0;
  for (const Tensor &x : in)
    strides[++operands] = broadcast_strides(as_walked(x), y.rank);
  const Nest<kMaxFused + 1> nest(y.rank, y.shape, strides);
  rank = nest.rank;
  for (int d = 0; d < rank; ++d) {
    extent[d] = nest.extent[d];
    for (std::size_t k = 0; k < kMaxFused; ++k)
      stride[d][k] = k < operands ? nest.stride[d][k + 1] : 0;
  }
}

bool cuda::MapNest::is_line(int operands) const {
  return rank == 1 && (extent[0] == 1 ||
                       std::all_of(stride[0], stride[0] + operands,
                                   [](int64_t step) { return step == 1; }));
}

bool cuda::MapNest::has_groups(const bool *begin, int operands) const {
  // Groups go on from row to row, but a row does not end within one.
  const bool has_rows = rank > 1;
  if (has_rows && extent[rank - 1] % kGroup != 0)
    return false;
  for (int k = 0; k < operands; ++k) {
    if (stride[rank - 1][k] != 1)
      continue; // read one by one
    if (!begin[k])
      return false;
    for (int d = 0; d + 1 < rank; ++d)
      if (stride[d][k] % kGroup != 0)
        return false;
  }
  return true;
}

FusedWalk::FusedWalk(Tensors in, Tensors out, DTypes operands, DTypes results)
    : MapNest((check_fused(in, out, operands, results), in), out.begin()[0]) {}

} // namespace ffrt
