//===- cudnn_device.h - the device that cuDNN plans for ---------*- C++ -*-===//
//
// This process's GPU (cudnn_device.cpp). Tests on a machine without one plan
// for a device that is described (test/cudnn).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_CUDNN_DEVICE_H
#define FFRT_CUDA_CUDNN_DEVICE_H

#include "cuda/plans/cudnn_graph.h"

namespace ffrt::cuda {

/// Throws Error unless `status` is success.
void check(cudnnStatus_t status, const char *what);

/// Say the device of an operation graph, of heuristics and of an execution
/// plan.
void set_graph_device(CudnnDescriptor &graph);
void set_heuristics_device(CudnnDescriptor &heuristics);
void set_plan_device(CudnnDescriptor &plan);
/// What runs plans.
cudnnHandle_t cudnn_handle();

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CUDNN_DEVICE_H
