//===- PhiloxTest.cpp - the random numbers of the evaluators --------------===//

#include "../../../lib/Reference/Philox.h"

#include "gtest/gtest.h"

using namespace ffc::ff;

using Words = std::array<uint32_t, 4>;

namespace {

/// Known answers published with the algorithm (Random123, kat_vectors).
TEST(PhiloxTest, GivesThePublishedAnswers) {
  EXPECT_EQ(philox(0, 0, 0),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ull, ~0ull, ~0ull),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, NumbersElementsInBlocksOfFour) {
  for (uint64_t element : {0, 1, 2, 3, 4, 9})
    EXPECT_EQ(philoxWord(7, element, 5),
              philox(7, element / 4, 5)[element % 4]);
}

TEST(PhiloxTest, StaysBelowOne) {
  EXPECT_EQ(unitInterval(0), 0.0f);
  EXPECT_LT(unitInterval(~0u), 1.0f);
}

} // namespace
