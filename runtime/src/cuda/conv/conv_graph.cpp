//===- conv_graph.cpp - a convolution as operations of cuDNN --------------===//
#include "cuda/conv/conv_graph.h"

#include <utility>

namespace ffrt::cuda {

namespace {

using Kind = ConvShape::Kind;

/// Attributes of an operation by kind.
struct Names {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t alpha, beta, convolution, x, w, y;
};

Names names_of(Kind kind) {
  switch (kind) {
  case Kind::forward:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
  case Kind::image_gradient:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
  default:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
  }
}

/// Names of the tensors; those from kSums on are between operations.
enum : int64_t { kX, kW, kY, kBias, kSums, kBiased };

CudnnDescriptor convolution_of(const ConvShape &s) {
  CudnnDescriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  result.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  result.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  result.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(s.strides.size()));
  result.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, s.strides);
  result.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, s.dilations);
  result.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, s.pads);
  result.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, s.pads);
  result.finalize();
  return result;
}

/// A function of f32; a rectifier has bounds.
CudnnDescriptor function_of(cudnnPointwiseMode_t mode,
                            const fn::Clip *clip = nullptr) {
  CudnnDescriptor result(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_POINTWISE_MODE, mode);
  result.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  if (clip) {
    result.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, double(clip->alpha));
    if (clip->beta != HUGE_VALF)
      result.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, double(clip->beta));
  }
  result.finalize();
  return result;
}

/// to = function(from), or function(from, second).
CudnnDescriptor apply(const CudnnDescriptor &function,
                      const CudnnDescriptor &from,
                      const CudnnDescriptor *second,
                      const CudnnDescriptor &to) {
  CudnnDescriptor result(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from);
  if (second)
    result.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *second);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
  result.finalize();
  return result;
}

/// In f32, as operations compute.
Tensor wide(Tensor t) {
  t.type = DType::f32;
  return t;
}

Tensor bias_of(const Tensor &y) {
  Tensor bias = wide(y);
  for (int d = 0; d < y.rank; ++d)
    bias.shape[d] = d == 1 ? y.shape[1] : 1;
  return bias;
}

} // namespace

bool can_finish(const ConvShape &s) {
  const bool clips = s.clip.alpha != -HUGE_VALF || s.clip.beta != HUGE_VALF;
  return !s.is_finished() && (!clips || s.clip.alpha == 0.0f);
}

CudnnGraph conv_graph(const ConvShape &s, bool finishes) {
  const bool widens = s.operand_type() != s.result().type,
             adds = finishes && s.bias,
             clips = finishes && s.clip.alpha != -HUGE_VALF;

  CudnnGraph graph;
  const CudnnDescriptor &x = graph.keep(cudnn_tensor(s.x, kX)),
                        &w = graph.keep(cudnn_tensor(s.w, kW)),
                        &y = graph.keep(cudnn_tensor(s.y, kY)),
                        &out = s.kind == Kind::forward          ? y
                               : s.kind == Kind::image_gradient ? x
                                                                : w;
  // The result has the type of its operands, unless an operation follows.
  const bool follows = widens || adds || clips;
  const CudnnDescriptor &sums =
      follows ? graph.keep(cudnn_tensor(wide(s.result()), kSums, true)) : out;
  auto operand = [&](const CudnnDescriptor &t) -> const CudnnDescriptor & {
    return &t == &out ? sums : t;
  };
  const Names names = names_of(s.kind);
  CudnnDescriptor convolution(names.operation);
  convolution.set(names.alpha, 1.0f);
  convolution.set(names.beta, 0.0f);
  convolution.set(names.convolution, graph.keep(convolution_of(s)));
  convolution.set(names.x, operand(x));
  convolution.set(names.w, operand(w));
  convolution.set(names.y, operand(y));
  convolution.finalize();
  graph.add(std::move(convolution));
  auto then = [&](cudnnPointwiseMode_t mode, const CudnnDescriptor &from,
                  const CudnnDescriptor *second, const CudnnDescriptor &to) {
    const bool clip = mode == CUDNN_POINTWISE_RELU_FWD;
    graph.add(apply(graph.keep(function_of(mode, clip ? &s.clip : nullptr)),
                    from, second, to));
  };
  const CudnnDescriptor *last = &sums;
  if (adds) {
    const CudnnDescriptor &bias = graph.keep(cudnn_tensor(bias_of(s.y), kBias));
    const CudnnDescriptor &biased =
        clips ? graph.keep(cudnn_tensor(wide(s.y), kBiased, true)) : out;
    then(CUDNN_POINTWISE_ADD, *last, &bias, biased);
    last = &biased;
  }
  if (clips)
    then(CUDNN_POINTWISE_RELU_FWD, *last, nullptr, out);
  else if (follows && !adds)
    then(CUDNN_POINTWISE_IDENTITY, *last, nullptr, out);
  return graph;
}

} // namespace ffrt::cuda
