//===- cudnn_graph.h - operations of cuDNN ----------------------*- C++ -*-===//
//
// The part of cuDNN's backend interface that we use: descriptors of tensors and
// operations, the engines that are proposed for them, and a plan that one of
// these runs.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_CUDNN_GRAPH_H
#define FFRT_CUDA_CUDNN_GRAPH_H

#include "ffrt/kernel.h"

#include <cudnn.h>

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
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
  void set(cudnnBackendAttributeName_t name, double value);
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  void set(cudnnBackendAttributeName_t name, cudnnConvolutionMode_t value);
  void set(cudnnBackendAttributeName_t name, cudnnPointwiseMode_t value);
  void set(cudnnBackendAttributeName_t name, cudnnReduceTensorOp_t value);
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

/// A tensor is given to a plan in memory of the device or, if it is one number,
/// of the host; or it is between two operations.
enum class CudnnPlace { device, host, between };

/// A tensor that a plan knows as number `id`.
CudnnDescriptor cudnn_tensor(cudnnDataType_t type, const Ints &shape,
                             const Ints &strides, int64_t id, CudnnPlace place);
/// One of f32, bf16 or f16 as a kernel has it.
CudnnDescriptor cudnn_tensor(const Tensor &t, int64_t id, bool between = false);
/// f32, bf16 or f16.
cudnnDataType_t cudnn_type(DType type);

/// What operands are multiplied as; low: the bf16 or f16 that they are.
enum class CudnnPrecision { f32, tf32, low };

/// An engine with its settings.
struct CudnnProposal {
  CudnnDescriptor configuration;
  std::string name; ///< the same in every run
  bool tensor_cores = false;
  bool compiles = false; ///< when a plan is made
};

/// Operations that are run together.
class CudnnGraph {
public:
  /// What operations refer to; lives as long as the graph.
  const CudnnDescriptor &keep(CudnnDescriptor &&part);
  void add(CudnnDescriptor &&operation);

  /// The engines that cuDNN proposes, best guess first. All give the same bits
  /// in every run, and round operands to nothing less. The graph must outlive
  /// them. They may fail to make a plan. Throws Error when there are none.
  std::vector<CudnnProposal> proposals(CudnnPrecision precision);

private:
  std::deque<CudnnDescriptor> parts;
  std::vector<CudnnDescriptor> operations;
  std::optional<CudnnDescriptor> whole;
};

/// How cuDNN runs a graph on its tensors.
class CudnnPlan {
public:
  /// By number; null where there is none.
  using Tensors = std::array<void *, 16>;

  /// Throws Error when the engine does not serve. `problem` names the graph,
  /// with the forms of its tensors: what was made for a problem and a proposal
  /// is not made again in this process. That saves compiling, and engines that
  /// cuDNN compiles fail when they are compiled once more (seen on an H100 with
  /// cuDNN 9.19: CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED).
  CudnnPlan(const std::string &problem, const CudnnProposal &proposal);

  /// Bytes that a call takes.
  std::size_t workspace() const { return bytes; }
  void operator()(const Tensors &tensors, void *workspace);

private:
  std::shared_ptr<const CudnnDescriptor> plan;
  std::size_t bytes = 0;
  /// What the last call was given; most calls are given the same.
  std::optional<CudnnDescriptor> pack;
  Tensors packed{};
  void *packed_workspace = nullptr;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CUDNN_GRAPH_H
