//===- input_buffers.cpp - inputs are copied in memory --------------------===//
#include "common/device/input_buffers.h"

#include "common/device/host_tensor.h"

#include <cstring>

namespace ffrt {

struct InputBuffers::Impl {
  std::vector<Tensor> slots, staged;
  std::vector<std::vector<std::byte>> memory; ///< of `staged`
};

InputBuffers::InputBuffers(const std::vector<Tensor> &slots)
    : impl(std::make_unique<Impl>()) {
  impl->slots = slots;
  for (Tensor t : slots) {
    const int64_t bytes = t.data ? bytes_of(t) : 0;
    impl->memory.emplace_back(std::size_t(bytes));
    t.data = bytes ? impl->memory.back().data() : nullptr;
    impl->staged.push_back(t);
  }
}

InputBuffers::~InputBuffers() = default;
InputBuffers::InputBuffers(InputBuffers &&) noexcept = default;

const std::vector<Tensor> &InputBuffers::host() const { return impl->staged; }

void InputBuffers::send() { send_again(); }

void InputBuffers::send_again() {
  for (std::size_t i = 0; i < impl->slots.size(); ++i)
    if (const auto &from = impl->memory[i]; !from.empty())
      std::memcpy(impl->slots[i].data, from.data(), from.size());
}

} // namespace ffrt
