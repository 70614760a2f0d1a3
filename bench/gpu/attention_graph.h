//===- attention_graph.h - attention as operations of cuDNN -----*- C++ -*-===//
//
// What ff.attention computes without dropout, as the graphs that cuDNN has
// fused engines for (docs/decisions/0033-attention-stays-ours.md). Tensors lie
// in memory as those of our kernels do.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_BENCH_GPU_ATTENTION_GRAPH_H
#define FFC_BENCH_GPU_ATTENTION_GRAPH_H

#include "cuda/cudnn_graph.h"

#include <string>
#include <vector>

struct AttentionShape {
  /// Later positions are hidden, or [N, 1, 1, S] is added to the scores.
  enum class Mask { none, causal, added };

  const char *model; ///< that has it
  int64_t samples, positions, heads, width;
  Mask mask;
  ffrt::DType factors; ///< of q, k, v and dy
  ffrt::DType results; ///< of y, dq, dk and dv
};

/// "8 x 1024x12x64 causal, bf16 to f32"
std::string text_of(const AttentionShape &shape);

/// Of examples, each with results as our kernels have them and as narrow as
/// factors.
std::vector<AttentionShape> attention_shapes();

/// What the tensors of both graphs have as numbers. `product` is memory of
/// cuDNN's own, [N, H, T] as lse. From `scale` on they are numbers of the host.
namespace attention_tensor {
enum { q, k, v, y, lse, dy, dq, dk, dv, mask, product, scale, one, hidden };
}

/// {q, k, v, mask, scale, hidden} -> {y, lse}
ffrt::cuda::CudnnGraph attention_forward_graph(const AttentionShape &shape);
/// {q, k, v, y, lse, dy, mask, scale, one, hidden} -> {dq, dk, dv, product}
ffrt::cuda::CudnnGraph attention_backward_graph(const AttentionShape &shape);

#endif // FFC_BENCH_GPU_ATTENTION_GRAPH_H
