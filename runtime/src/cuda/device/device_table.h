//===- device_table.h - tables of a kernel in device memory -----*- C++ -*-===//
#ifndef FFRT_CUDA_DEVICE_TABLE_H
#define FFRT_CUDA_DEVICE_TABLE_H

#include "common/device/target.h"
#include "ffrt/cuda/device.h"

#include <vector>

namespace ffrt::cuda {

/// A copy of what a constructor has worked out on the host.
template <class T> class DeviceTable {
public:
  explicit DeviceTable(const std::vector<T> &values)
      : memory(values.size() * sizeof(T)) {
    write_target(memory.as<void>(), values.data(), values.size() * sizeof(T));
  }
  const T *data() const { return memory.template as<T>(); }

private:
  DeviceMemory memory;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_DEVICE_TABLE_H
