//===- attention_graph.h - attention as operations of cuDNN -----*- C++ -*-===//
//
// What ff.attention computes without dropout, as the graphs that cuDNN has
// fused engines for. Tensors lie in memory as those of our kernels do.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_ATTENTION_GRAPH_H
#define FFRT_CUDA_ATTENTION_GRAPH_H

#include "cuda/attention/attention_library.h"
#include "cuda/plans/cudnn_graph.h"

namespace ffrt::cuda {

/// What the tensors of the graphs have as numbers. `product` is memory of
/// cuDNN's own, [N, H, T] as lse. From `scale` on they are numbers of the host,
/// in f32.
namespace attention_tensor {
enum { q, k, v, y, lse, dy, dq, dk, dv, mask, product, scale, one, hidden };
}

/// {q, k, v, mask, scale, hidden} -> {y, lse}, or {q, k, v, y, lse, dy, mask,
/// scale, one, hidden} -> {dq, dk, dv, product}; `mask` if it is added,
/// `hidden` if it is causal.
CudnnGraph attention_graph(const AttentionShape &shape);

} // namespace ffrt::cuda

#endif // FFRT_CUDA_ATTENTION_GRAPH_H
