//===- memory_test.cpp - guarded memory -----------------------------------===//
#include "common/memory.h"
#include "ffrt/error.h"

#include <gtest/gtest.h>

using namespace ffrt;

namespace {

TEST(Memory, GuardsBothEnds) {
  for (int64_t bytes : {0, 1, 64, 100000}) {
    GuardedMemory memory(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 64, 0u);
    for (int64_t i = 0; i < bytes; ++i) {
      EXPECT_EQ(memory.data()[i], std::byte{0});
      memory.data()[i] = std::byte{1};
    }
    EXPECT_TRUE(memory.intact());
    memory.data()[bytes] = std::byte{1};
    EXPECT_FALSE(memory.intact());
    GuardedMemory other(bytes);
    other.data()[-1] = std::byte{1};
    EXPECT_FALSE(other.intact());
  }
}

TEST(Memory, TooMuch) {
  try {
    GuardedMemory memory(int64_t(1) << 60);
    FAIL();
  } catch (const Error &e) {
    // With the guard zones.
    EXPECT_STREQ(e.what(), "cannot allocate 1152921504606855168 bytes");
  }
}

} // namespace
