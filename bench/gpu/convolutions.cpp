//===- convolutions.cpp - convolutions of ResNet-50 in cuDNN --------------===//
//
// The fastest algorithm of each, as the library finds them by trying, for
// channels-last images.
//
//===----------------------------------------------------------------------===//
#include "measure.h"

#include <cudnn.h>

namespace {

constexpr int kBatch = 64;
/// Bytes: 64 images of 256 channels of 56x56 in f32 have 196 MiB.
constexpr std::size_t kTensor = std::size_t(256) << 20;
constexpr std::size_t kWorkspace = std::size_t(512) << 20;

struct Shape {
  int channels, size, filters, window, stride;
};
constexpr Shape kShapes[] = {
    {3, 224, 64, 7, 2},   {4, 224, 64, 7, 2},    {64, 56, 64, 1, 1},
    {64, 56, 64, 3, 1},   {64, 56, 256, 1, 1},   {256, 56, 64, 1, 1},
    {128, 56, 128, 3, 2}, {128, 28, 128, 3, 1},  {256, 56, 512, 1, 2},
    {256, 14, 256, 3, 1}, {1024, 14, 256, 1, 1}, {512, 7, 512, 3, 1},
    {2048, 7, 512, 1, 1},
};

struct Type {
  const char *name;
  cudnnDataType_t data;
  cudnnMathType_t math;
};
constexpr Type kTypes[] = {
    {"f32", CUDNN_DATA_FLOAT, CUDNN_FMA_MATH},
    {"tf32", CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH},
    {"bf16", CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_OP_MATH},
    {"fp16", CUDNN_DATA_HALF, CUDNN_TENSOR_OP_MATH},
};

void report(const Shape &s, const Type &type, const char *direction,
            int algorithm, double ms, std::size_t workspace) {
  const double out = double(s.size) / s.stride;
  const double flops =
      2.0 * kBatch * out * out * s.filters * s.channels * s.window * s.window;
  std::printf("{\"what\": \"convolution\", \"type\": \"%s\", \"direction\": "
              "\"%s\", \"shape\": \"%d x %dx%dx%d, %d of %dx%d, stride %d\", "
              "\"algorithm\": %d, \"ms\": %.5f, \"tflop_per_s\": %.1f, "
              "\"workspace_mb\": %.1f}\n",
              type.name, direction, kBatch, s.channels, s.size, s.size,
              s.filters, s.window, s.window, s.stride, algorithm, ms,
              flops / ms / 1e9, double(workspace) / 1e6);
}

/// `find` fills the array and its count, fastest first.
template <class Perf, class F>
void direction(const Shape &s, const Type &type, const char *name, F &&find) {
  constexpr int kMost = 8;
  Perf found[kMost];
  int count = 0;
  if (find(kMost, &count, found) == CUDNN_STATUS_SUCCESS && count > 0 &&
      found[0].status == CUDNN_STATUS_SUCCESS)
    report(s, type, name, int(found[0].algo), double(found[0].time),
           found[0].memory);
  else
    std::printf("{\"what\": \"convolution\", \"type\": \"%s\", "
                "\"direction\": \"%s\", \"shape\": \"%d channels of %d, %d of "
                "%dx%d\", \"ms\": null}\n",
                type.name, name, s.channels, s.size, s.filters, s.window,
                s.window);
}

/// Enough for the tensors of every shape: how fast a convolution is depends on
/// its numbers.
struct Memory {
  Buffer images{kTensor}, weights{kTensor}, gradients{kTensor}, result{kTensor},
      workspace{kWorkspace};
};

void convolution(cudnnHandle_t handle, const Shape &s, const Type &type,
                 const Memory &m) {
  const int out = (s.size - 1) / s.stride + 1;
  cudnnTensorDescriptor_t x, y;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t conv;
  CHECK(cudnnCreateTensorDescriptor(&x));
  CHECK(cudnnCreateTensorDescriptor(&y));
  CHECK(cudnnCreateFilterDescriptor(&w));
  CHECK(cudnnCreateConvolutionDescriptor(&conv));
  CHECK(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NHWC, type.data, kBatch,
                                   s.channels, s.size, s.size));
  CHECK(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NHWC, type.data, kBatch,
                                   s.filters, out, out));
  CHECK(cudnnSetFilter4dDescriptor(w, type.data, CUDNN_TENSOR_NHWC, s.filters,
                                   s.channels, s.window, s.window));
  CHECK(cudnnSetConvolution2dDescriptor(
      conv, s.window / 2, s.window / 2, s.stride, s.stride, 1, 1,
      CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  CHECK(cudnnSetConvolutionMathType(conv, type.math));
  direction<cudnnConvolutionFwdAlgoPerf_t>(
      s, type, "forward", [&](int most, int *count, auto *found) {
        return cudnnFindConvolutionForwardAlgorithmEx(
            handle, x, m.images.as<void>(), w, m.weights.as<void>(), conv, y,
            m.result.as<void>(), most, count, found, m.workspace.as<void>(),
            kWorkspace);
      });
  direction<cudnnConvolutionBwdDataAlgoPerf_t>(
      s, type, "by data", [&](int most, int *count, auto *found) {
        return cudnnFindConvolutionBackwardDataAlgorithmEx(
            handle, w, m.weights.as<void>(), y, m.images.as<void>(), conv, x,
            m.result.as<void>(), most, count, found, m.workspace.as<void>(),
            kWorkspace);
      });
  direction<cudnnConvolutionBwdFilterAlgoPerf_t>(
      s, type, "by weights", [&](int most, int *count, auto *found) {
        return cudnnFindConvolutionBackwardFilterAlgorithmEx(
            handle, x, m.images.as<void>(), y, m.gradients.as<void>(), conv, w,
            m.result.as<void>(), most, count, found, m.workspace.as<void>(),
            kWorkspace);
      });
  cudnnDestroyConvolutionDescriptor(conv);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyTensorDescriptor(y);
  cudnnDestroyTensorDescriptor(x);
}

} // namespace

int main() {
  cudnnHandle_t handle = nullptr;
  CHECK(cudnnCreate(&handle));
  {
    const Memory memory;
    for (const Type &type : kTypes)
      for (const Shape &shape : kShapes)
        convolution(handle, shape, type, memory);
  }
  cudnnDestroy(handle);
  return 0;
}
