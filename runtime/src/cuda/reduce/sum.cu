//===- sum.cu - sums over all elements ------------------------------------===//
#include "cuda/reduce/sum.h"

namespace ffrt::cuda {

__global__ void sum_up_kernel(const double *partial, int count, double factor,
                              float *result) {
  double sum = 0;
  for (int i = int(threadIdx.x); i < count; i += int(blockDim.x))
    sum += partial[i];
  sum = reduce_block(sum, 0.0, Sum());
  if (threadIdx.x == 0)
    *result = float(factor * sum);
}

} // namespace ffrt::cuda
