//===- conv_library.cpp - convolutions in a library -----------------------===//
#include "cuda/conv/conv_library.h"

#include "common/kernels/check.h"

#include <cstdio>

namespace ffrt::cuda {

namespace {

std::string text_of(const Tensor &t) {
  std::string text;
  for (int d = 0; d < t.rank; ++d)
    text += (d ? "x" : "") + std::to_string(t.shape[d]);
  return text + " " + name_of(t.type) +
         (t.order == Order::channels_last ? " last" : "");
}

std::string text_of(const Ints &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : "x") + std::to_string(number);
  return text;
}

/// All of its digits: plans are kept by these texts, and bounds are part of
/// plans.
std::string text_of(float number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", double(number));
  return text;
}

} // namespace

std::string text_of(const ConvShape &s) {
  using Kind = ConvShape::Kind;
  std::string text = s.kind == Kind::forward          ? "convolution"
                     : s.kind == Kind::image_gradient ? "image gradient"
                                                      : "weight gradient";
  text += (s.tf32 ? " tf32 " : " ") + text_of(s.x) + ", " + text_of(s.w) +
          ", " + text_of(s.y) + ", strides " + text_of(s.strides) +
          " dilations " + text_of(s.dilations) + " pads " + text_of(s.pads);
  if (s.bias)
    text += " + bias";
  if (s.clip.alpha != -HUGE_VALF)
    text += " from " + text_of(s.clip.alpha);
  if (s.clip.beta != HUGE_VALF)
    text += " to " + text_of(s.clip.beta);
  return text;
}

} // namespace ffrt::cuda
