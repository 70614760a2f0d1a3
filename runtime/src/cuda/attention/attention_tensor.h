//===- attention_tensor.h - attention by tensor cores -----------*- C++ -*-===//
//
// In place of the kernels of attention_forward.cu and attention_backward.cu
// where heads are not too wide: the same phases, masks and dropout. Operands
// are bf16, f16, f32 that may be rounded to TF32, or f32 in two terms of it,
// and so are probabilities and gradients of scores, but in two terms with bf16
// and f16 too.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_ATTENTION_TENSOR_H
#define FFRT_CUDA_ATTENTION_TENSOR_H

#include "cuda/attention/attention_tile.h"

namespace ffrt::attention {

/// Bytes of scratch memory that they take, beside Differentiated::product.
std::size_t tensor_scratch(const AttentionGeometry &g, const Tensor &mask);

/// Of scores and positions: everything, the largest of each row, or sums
/// relative to these.
enum class Part { all, largest, sums };

// False, and nothing is done, where heads are too wide.

bool tensor_attend(Part part, const AttentionHeads &heads,
                   const Attended<BFloat16> &of);
bool tensor_attend(Part part, const AttentionHeads &heads,
                   const Attended<Float16> &of);
bool tensor_attend(Part part, const AttentionHeads &heads,
                   const Attended<float> &of);

/// `of.product` is given, and followed by scratch memory.
bool tensor_differentiate(const AttentionHeads &heads,
                          const Differentiated<BFloat16> &of);
bool tensor_differentiate(const AttentionHeads &heads,
                          const Differentiated<Float16> &of);
bool tensor_differentiate(const AttentionHeads &heads,
                          const Differentiated<float> &of);

} // namespace ffrt::attention

#endif // FFRT_CUDA_ATTENTION_TENSOR_H
