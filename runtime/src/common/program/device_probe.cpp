//===- device_probe.cpp - work that always takes the same -----------------===//
#include "common/program/device_probe.h"

#include "common/program/together.h"
#include "ffrt/trace.h"

#include <algorithm>

namespace ffrt {

namespace {

/// Of each tensor.
constexpr int64_t kNumbers = int64_t(1) << 22;
/// Together some 50 us of an H200, by its arithmetic.
constexpr int kRepeats = 2;
constexpr int64_t kKey = 1, kNormal = 1;

Tensor half_of(IdleMemory memory, int which) {
  constexpr auto kSize = int64_t(sizeof(float));
  const int64_t numbers = std::min(kNumbers, memory.bytes / 2 / kSize);
  return flat(static_cast<float *>(memory.data) + which * numbers, DType::f32,
              numbers);
}

} // namespace

DeviceProbe::DeviceProbe(Context &cx, IdleMemory memory)
    : from(half_of(memory, 0)), to(half_of(memory, 1)),
      noise(cx, {from}, {to}, kKey, kNormal), timestamps(Trace::now) {
  timestamps.reserve(2);
}

double DeviceProbe::run() {
  timestamps.restart(0);
  timestamps.record();
  for (int i = 0; i < kRepeats; ++i)
    noise({from}, {to});
  timestamps.record();
  const auto &times = timestamps.times();
  return double(times[1] - times[0]) * 1e-9;
}

} // namespace ffrt
