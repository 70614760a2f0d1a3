//===- input_buffers_test.cpp - the way of inputs to the device -----------===//
#include "common/device/input_buffers.h"

#include "common/device/host_tensor.h"
#include "common/device/target.h"
#include "common/program/together.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace ffrt;

namespace {

class Slots {
public:
  Slots() : memory(allocate(3 * sizeof(float))) {
    tensors = {flat(memory.get(), DType::f32, 3), flat(nullptr, DType::i32, 4)};
  }

  std::vector<float> values() const {
    const HostTensor here(tensors[0], HostTensor::Contents::copied);
    const float *v = here.tensor().as<float>();
    return {v, v + 3};
  }

  std::shared_ptr<void> memory;
  std::vector<Tensor> tensors;
};

void fill(const InputBuffers &buffers, float value) {
  const Tensor &t = buffers.host()[0];
  std::fill(t.as<float>(), t.as<float>() + 3, value);
}

TEST(InputBuffers, SendsBatchAfterBatch) {
  const Slots slots;
  InputBuffers buffers(slots.tensors);
  EXPECT_EQ(buffers.host()[1].data, nullptr);
  for (float value : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f}) {
    fill(buffers, value);
    buffers.send();
    // The next batch is written while this one is on its way.
    fill(buffers, -value);
    EXPECT_EQ(slots.values(), std::vector<float>(3, value));
  }
}

TEST(InputBuffers, SendsAgain) {
  const Slots slots;
  InputBuffers buffers(slots.tensors);
  fill(buffers, 7);
  buffers.send();
  const std::vector<float> other(3, 1);
  for (int i = 0; i < 3; ++i) {
    write_target(slots.tensors[0].data, other.data(), sizeof(float) * 3);
    buffers.send_again();
    EXPECT_EQ(slots.values(), std::vector<float>(3, 7.0f));
  }
}

} // namespace
