//===- memory_test.cpp - guarded memory -----------------------------------===//
#include "common/device/memory.h"
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

/// The symmetric part comes from elsewhere if there is such memory.
TEST(Memory, SectionsHaveTwoParts) {
  std::size_t asked = 0;
  const Allocate elsewhere = [&](std::size_t bytes) {
    asked += bytes;
    return allocate(bytes);
  };
  SectionMemory apart(1000, 192, elsewhere);
  EXPECT_EQ(asked, 192u + 2 * 4096);
  const Section section = apart.section();
  EXPECT_EQ(section + 128, section.symmetric + 128);
  EXPECT_EQ(section + 192, section.rest);
  EXPECT_EQ(section + 999, section.rest + 807);
  EXPECT_TRUE(apart.intact());
  section.symmetric[192] = std::byte{1};
  EXPECT_FALSE(apart.intact());

  SectionMemory whole(1000, 192, nullptr);
  EXPECT_EQ(whole.section() + 128, whole.section().rest + 128);
  EXPECT_EQ(whole.section() + 999, whole.section().rest + 999);
  whole.section().rest[1000] = std::byte{1};
  EXPECT_FALSE(whole.intact());

  SectionMemory without(64, 0, elsewhere);
  EXPECT_EQ(asked, 192u + 2 * 4096);
  EXPECT_TRUE(without.intact());
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
