//===- cudnn_device.cpp - this process's GPU for cuDNN --------------------===//
#include "cuda/plans/cudnn_device.h"

#include "ffrt/cuda/device.h"

namespace ffrt::cuda {

cudnnHandle_t cudnn_handle() {
  static const cudnnHandle_t handle = [] {
    cudnnHandle_t made = nullptr;
    check(cudnnCreate(&made), "cudnnCreate");
    check(cudnnSetStream(made, device().stream()), "cudnnSetStream");
    return made;
  }();
  // It has the stream once and for all.
  device().start_deferred();
  return handle;
}

void set_graph_device(CudnnDescriptor &graph) {
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, cudnn_handle());
}

/// That of the graph.
void set_heuristics_device(CudnnDescriptor &) {}

void set_plan_device(CudnnDescriptor &plan) {
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, cudnn_handle());
}

} // namespace ffrt::cuda
