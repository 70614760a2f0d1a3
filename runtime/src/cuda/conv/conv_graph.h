//===- conv_graph.h - a convolution as operations of cuDNN ------*- C++ -*-===//
#ifndef FFRT_CUDA_CONV_GRAPH_H
#define FFRT_CUDA_CONV_GRAPH_H

#include "cuda/conv/conv_library.h"
#include "cuda/plans/cudnn_graph.h"

namespace ffrt::cuda {

/// Can bias and bounds be operations behind the convolution?
bool can_finish(const ConvShape &shape);

/// The operations of `shape`, whose tensors 0 to 2 are x, w and y in the form
/// that cuDNN is given; if `finishes`, bias and bounds too, tensor 3 being the
/// bias.
CudnnGraph conv_graph(const ConvShape &shape, bool finishes);

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CONV_GRAPH_H
