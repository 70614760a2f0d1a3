//===- reverse_sequence.cu - sequences from last to first step ------------===//
#include "ffrt/reverse_sequence.h"

#include "cuda/kernels/reduce_block.h"
#include "ffrt/cuda/launch.h"

namespace ffrt {

namespace {

template <class T>
__global__ void __launch_bounds__(cuda::kRowThreads)
    reverse_kernel(ReverseSequence::Steps where, int64_t rows, const float *x,
                   const T *lengths, float *y, cuda::Problem *problem) {
  for (int64_t row = cuda::first_row(); row < rows; row += cuda::row_step()) {
    const int64_t i = row * where.inner, length = lengths[where.sequence_of(i)];
    if (!cuda::expect_below(problem, "reverse sequence: expected lengths",
                            length, where.steps + 1))
      continue;
    const float *from = x + where.source_of(i, length);
    for (int64_t c = threadIdx.x; c < where.inner; c += blockDim.x)
      y[i + c] = from[c];
  }
}

template <class T>
void reverse(const ReverseSequence::Steps &where, const Tensor &x,
             const T *lengths, float *y) {
  const int64_t rows = x.elements() / where.inner;
  const dim3 block = cuda::row_block(where.inner, 4);
  cuda::launch(cuda::blocks_for_rows(rows, block), block, reverse_kernel<T>,
               where, rows, x.as<float>(), lengths, y,
               cuda::device().problem());
}

} // namespace

void ReverseSequence::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &lengths = in.begin()[1];
  float *y = out.begin()->as<float>();
  if (lengths.type == DType::i32)
    reverse(where, x, lengths.as<int32_t>(), y);
  else
    reverse(where, x, lengths.as<int64_t>(), y);
}

} // namespace ffrt
