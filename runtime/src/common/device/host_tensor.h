//===- host_tensor.h - tensors where the host can read them -----*- C++ -*-===//
#ifndef FFRT_COMMON_HOST_TENSOR_H
#define FFRT_COMMON_HOST_TENSOR_H

#include "ffrt/tensor.h"

#include <cstddef>
#include <vector>

namespace ffrt {

int64_t bytes_of(const Tensor &t);

/// A tensor of the device where the host can read and write it: itself, or a
/// copy. An absent tensor stays absent.
class HostTensor {
public:
  enum class Contents { none, copied };
  HostTensor(const Tensor &on_device, Contents contents);

  const Tensor &tensor() const { return here; }
  /// Makes the device's tensor what this is.
  void write_back() const;

private:
  Tensor there, here;
  std::vector<std::byte> memory;
};

} // namespace ffrt

#endif // FFRT_COMMON_HOST_TENSOR_H
