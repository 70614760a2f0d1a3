//===- described_device.cpp - cuDNN plans for a device that is not there --===//
//
// FFRT_CUDNN_DEVICE names a record of its properties, as cuDNN writes them.
//
//===----------------------------------------------------------------------===//
#include "cuda/plans/cudnn_device.h"
#include "ffrt/error.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace ffrt::cuda {

static const CudnnDescriptor &properties() {
  static const CudnnDescriptor made = [] {
    const char *path = std::getenv("FFRT_CUDNN_DEVICE");
    std::ifstream file(path ? path : "");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    CudnnDescriptor result(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    check(cudnnBackendSetAttribute(
              result.get(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
              CUDNN_TYPE_CHAR, int64_t(text.size()) + 1, text.c_str()),
          "FFRT_CUDNN_DEVICE");
    result.finalize();
    return result;
  }();
  return made;
}

void set_graph_device(CudnnDescriptor &) {}

void set_heuristics_device(CudnnDescriptor &heuristics) {
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, properties());
}

void set_plan_device(CudnnDescriptor &plan) {
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, properties());
}

cudnnHandle_t cudnn_handle() {
  throw Error("expected a GPU to run plans, found a description");
}

} // namespace ffrt::cuda
