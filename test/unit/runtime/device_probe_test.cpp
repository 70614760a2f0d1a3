//===- device_probe_test.cpp - work that always takes the same ------------===//
#include "common/program/device_probe.h"

#include <gtest/gtest.h>

using namespace ffrt;

namespace {

TEST(DeviceProbe, StaysInItsMemory) {
  Context cx;
  for (int64_t bytes : {8, 4096, 40000}) {
    GuardedMemory memory(bytes);
    DeviceProbe probe(cx, {memory.data(), bytes});
    for (int i = 0; i < 3; ++i)
      EXPECT_GT(probe.run(), 0);
    EXPECT_TRUE(memory.intact());
  }
}

} // namespace
