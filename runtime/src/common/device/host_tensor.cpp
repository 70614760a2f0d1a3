//===- host_tensor.cpp - tensors where the host can read them -------------===//
#include "common/device/host_tensor.h"

#include "common/device/target.h"

namespace ffrt {

int64_t bytes_of(const Tensor &t) {
  return t.span() * int64_t(size_of(t.type));
}

HostTensor::HostTensor(const Tensor &on_device, Contents contents)
    : there(on_device), here(on_device) {
  if (target_is_host() || !there.data)
    return;
  memory.resize(std::size_t(bytes_of(there)));
  here.data = memory.data();
  if (contents == Contents::copied)
    read_target(memory.data(), there.data, memory.size());
}

void HostTensor::write_back() const {
  if (!memory.empty())
    write_target(there.data, memory.data(), memory.size());
}

} // namespace ffrt
