//===- attention_shapes.cpp - the attention of examples -------------------===//
#include "attention_shapes.h"

#include <cmath>

using namespace ffrt;
using ffrt::cuda::AttentionShape;
using Mask = AttentionShape::Mask;

AttentionShape ModelAttention::gradient() const {
  AttentionShape gradient = shape;
  gradient.backward = true;
  gradient.gradients.fill(shape.y);
  return gradient;
}

std::vector<ModelAttention> attention_shapes() {
  std::vector<ModelAttention> shapes;
  for (DType operand_type : {DType::bf16, DType::f16})
    for (DType results : {DType::f32, operand_type}) {
      auto add = [&](const char *model, int64_t samples, int64_t positions,
                     int64_t heads, int64_t width, Mask mask) {
        AttentionShape s;
        s.samples = samples;
        s.heads = heads;
        s.rows = s.keys = positions;
        s.width = s.values = width;
        s.operand_type = operand_type;
        s.y = results;
        s.mask = mask;
        if (mask == Mask::added)
          s.added = {samples, 1, 1, positions};
        s.scale = 1.0f / std::sqrt(float(width));
        shapes.push_back({model, s});
      };
      add("gpt2", 8, 1024, 12, 64, Mask::causal);
      // In both types most things are alike.
      if (operand_type == DType::f16)
        continue;
      add("bert_base", 32, 128, 12, 64, Mask::added);
      add("vit", 64, 197, 12, 64, Mask::none);
      add("wide heads", 2, 4096, 16, 128, Mask::causal);
    }
  return shapes;
}
