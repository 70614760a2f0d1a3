//===- cudnn_graph.h - operations of cuDNN ----------------------*- C++ -*-===//
//
// The part of cuDNN's backend interface that a convolution takes: descriptors
// of tensors and operations, and a plan that an engine of its choice runs.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_CUDNN_GRAPH_H
#define FFRT_CUDA_CUDNN_GRAPH_H

#include "ffrt/kernel.h"

#include <cudnn.h>

#include <array>
#include <optional>
#include <vector>

namespace ffrt::cuda {

/// A descriptor: attributes are set, then it is finalized.
class CudnnDescriptor {
public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor &&other) noexcept;
  CudnnDescriptor &operator=(CudnnDescriptor &&) = delete;

  void set(cudnnBackendAttributeName_t name, bool value);
  void set(cudnnBackendAttributeName_t name, int64_t value);
  void set(cudnnBackendAttributeName_t name, float value);
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  void set(cudnnBackendAttributeName_t name, cudnnConvolutionMode_t value);
  void set(cudnnBackendAttributeName_t name, cudnnPointwiseMode_t value);
  void set(cudnnBackendAttributeName_t name, cudnnBackendHeurMode_t value);
  void set(cudnnBackendAttributeName_t name, cudnnHandle_t value);
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor &value);
  void set(cudnnBackendAttributeName_t name,
           const std::vector<CudnnDescriptor> &values);
  void set(cudnnBackendAttributeName_t name, const Ints &values);
  void set(cudnnBackendAttributeName_t name, void *const *values,
           std::size_t count);
  void finalize();

  cudnnBackendDescriptor_t get() const { return made; }

private:
  void put(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::size_t count, const void *values);
  cudnnBackendDescriptor_t made = nullptr;
};

/// A tensor of f32 or bf16, which a plan is given as number `id`, or which is
/// between two operations of it.
CudnnDescriptor cudnn_tensor(const Tensor &t, int64_t id, bool between = false);

/// What factors are multiplied as.
enum class CudnnFactors { f32, tf32, bf16 };

/// How cuDNN runs operations on tensors 0, 1 and 2. The same bits in every run;
/// factors are rounded to nothing less.
class CudnnPlan {
public:
  /// Throws Error when there is no engine for them.
  CudnnPlan(const std::vector<CudnnDescriptor> &operations,
            CudnnFactors factors);

  /// Bytes that a call takes.
  std::size_t workspace() const { return chosen.workspace; }
  void operator()(const std::array<void *, 3> &tensors, void *workspace);

private:
  struct Chosen {
    CudnnDescriptor plan;
    std::size_t workspace;
  };
  static Chosen choose(const std::vector<CudnnDescriptor> &operations,
                       CudnnFactors factors);

  Chosen chosen;
  /// What the last call was given; most calls are given the same.
  std::optional<CudnnDescriptor> pack;
  std::array<void *, 4> packed{};
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CUDNN_GRAPH_H
