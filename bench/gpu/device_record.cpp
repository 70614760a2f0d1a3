//===- device_record.cpp - what cuDNN knows of the GPU --------------------===//
//
// Prints the record by which cuDNN plans for this GPU on machines without one
// (test/cudnn/h200.json).
//
//===----------------------------------------------------------------------===//
#include "measure.h"

#include <cudnn.h>
#include <string>

int main() {
  CHECK(cudaSetDevice(0));
  cudnnHandle_t handle = nullptr;
  CHECK(cudnnCreate(&handle));
  cudnnBackendDescriptor_t properties = nullptr;
  CHECK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                                     &properties));
  CHECK(cudnnBackendSetAttribute(properties, CUDNN_ATTR_DEVICEPROP_HANDLE,
                                 CUDNN_TYPE_HANDLE, 1, &handle));
  CHECK(cudnnBackendFinalize(properties));
  int64_t size = 0;
  CHECK(cudnnBackendGetAttribute(properties,
                                 CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                 CUDNN_TYPE_CHAR, 0, &size, nullptr));
  std::string text(std::size_t(size), '\0');
  CHECK(cudnnBackendGetAttribute(properties,
                                 CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                 CUDNN_TYPE_CHAR, size, &size, text.data()));
  std::puts(text.c_str());
  cudnnBackendDestroyDescriptor(properties);
  cudnnDestroy(handle);
  return 0;
}
