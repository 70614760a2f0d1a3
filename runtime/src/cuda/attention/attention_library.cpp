//===- attention_library.cpp - attention in a library ---------------------===//
#include "cuda/attention/attention_library.h"

#include "common/kernels/check.h"

namespace ffrt::cuda {

std::string text_of(const AttentionShape &s) {
  const auto by = [](auto... extents) {
    std::string text;
    ((text += (text.empty() ? "" : "x") + std::to_string(extents)), ...);
    return text;
  };
  std::string text =
      std::string(s.backward ? "attention gradient " : "attention ") +
      by(s.samples, s.heads, s.rows, s.width) + ", " + by(s.keys, s.values) +
      (s.mask == AttentionShape::Mask::causal ? " causal" : "");
  if (s.mask == AttentionShape::Mask::added)
    text += " + " + by(s.added[0], s.added[1], s.added[2], s.added[3]);
  text += std::string(", ") + name_of(s.operand_type) + " to " + name_of(s.y);
  if (s.backward)
    for (DType type : s.gradients)
      text += std::string(" ") + name_of(type);
  return text;
}

} // namespace ffrt::cuda
