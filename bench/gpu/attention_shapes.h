//===- attention_shapes.h - the attention of examples -----------*- C++ -*-===//
#ifndef FFC_BENCH_GPU_ATTENTION_SHAPES_H
#define FFC_BENCH_GPU_ATTENTION_SHAPES_H

#include "cuda/attention/attention_library.h"

#include <string>
#include <vector>

/// A shape, going forward, and the model that has it.
struct ModelAttention {
  const char *model;
  ffrt::cuda::AttentionShape shape;

  /// The same with all gradients, of the type of y.
  ffrt::cuda::AttentionShape gradient() const;
};

/// With results in f32 and in the operands' type.
std::vector<ModelAttention> attention_shapes();

#endif // FFC_BENCH_GPU_ATTENTION_SHAPES_H
