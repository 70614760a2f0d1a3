//===- RankMemoryTest.cpp - memory, slots and results of ranks ------------===//

#include "RankEvaluatorFixture.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::rank::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

using RankMemoryTest = RankEvaluatorTest;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(RankMemoryTest, OverlappingBuffersCorruptEachOther) {
  // y overwrites the upper half of x, which z reads.
  rank::RankEvaluator ranks = load(
      classOf("0, 1", kHalves + buffer("y", "[1, 0, 4], [1, 4, 8]", 8) +
                          buffer("z", "[1, 0, 4], [1, 4, 8]", 64) +
                          kernel("test.step", "%z", "%y", "[0, 4], [4, 8]") +
                          kernel("test.twice", "%x", "%z", "[0, 4], [4, 8]") +
                          "  rank.probe \"out/z\" %z : <f32>\n"));
  ff::ReferenceContext step;
  step.step = 9;
  ASSERT_TRUE(succeeded(ranks.step(step))) << messages;
  EXPECT_THAT(ranks.outputs().at("out/z").data,
              ElementsAre(2, 4, 18, 18, 10, 12, 18, 18));
}

TEST_F(RankMemoryTest, UnwrittenMemoryIsNaN) {
  std::string text =
      classOf("0, 1", buffer("x", "[1, 0, 4], [1, 4, 8]", 0) +
                          buffer("y", "[1, 0, 4], [1, 4, 8]", 64) +
                          kernel("test.twice", "%x", "%y", "[0, 4], [4, 8]") +
                          "  rank.probe \"out/y\" %y : <f32>\n");
  expectError(text, "output 'out/y': element 0 in 'y' on rank 0 is NaN");
  EXPECT_THAT(messages, HasSubstr("the first kernel that wrote NaN is "
                                  "'test.twice' on rank 0"));
  EXPECT_TRUE(succeeded(load(text, /*poison=*/false).step({})));
}

TEST_F(RankMemoryTest, HoldsElementsOfOneAndEightBytes) {
  rank::RankEvaluator ranks = load(
      classOf("0, 1", buffer("b", "[1, 0, 3], [1, 3, 8]", 1, "i1") +
                          buffer("l", "[1, 0, 3], [1, 3, 8]", 8, "i64") +
                          buffer("c", "[1, 0, 3], [1, 3, 8]", 64, "ui8") + R"(
  rank.input "bits" %b : <i1>
  rank.input "x" %l : <i64>
  rank.kernel "test.twice"(%b) -> (%c) tile <[0, 3], [3, 8]> {} task <[0, 0, 0, 0]>
      : (!rank.buffer<i1>) -> !rank.buffer<ui8>
  rank.copy "sum" %l at <[0]> from %l at <[0]> size <[3]> task <[0, 0, 0, 0]> : <i64>, <i64>
  rank.probe "out/c" %c : <ui8>
  rank.probe "out/l" %l : <i64>
)"));
  ranks.setInput("bits", {{8}, {0, 1, 1, 0, 1, 0, 0, 1}});
  ASSERT_TRUE(succeeded(ranks.step({}))) << messages;
  EXPECT_THAT(ranks.outputs().at("out/c").data,
              ElementsAre(0, 2, 2, 0, 2, 0, 0, 2));
  EXPECT_THAT(ranks.outputs().at("out/l").data,
              ElementsAre(2, 4, 6, 8, 10, 12, 7, 8));
}

TEST_F(RankMemoryTest, TypesThatOverlapCorruptEachOther) {
  for (std::string type : {"ui8", "i64"})
    expectError(classOf("0, 1", buffer("x", "[1, 0, 8]", 0, type) +
                                    buffer("y", "[1, 4, 5]", 4) +
                                    "  rank.input \"x\" %x : <" + type + ">\n" +
                                    "  rank.input \"x\" %y : <f32>\n" +
                                    "  rank.probe \"out\" %x : <" + type +
                                    ">\n"),
                "in 'x' on rank 0 is NaN");
}

//===----------------------------------------------------------------------===//
// Slots and results
//===----------------------------------------------------------------------===//

const std::string kState = R"(
  %w = rank.buffer "w" "state" at <[16]> "row_major"
      region <[1, 0, 4], [1, 4, 8]> of [8] : <f32>
  %loss = rank.buffer "loss" "arena" at <[0]> "row_major" region <[]> of [] : <f32>
  rank.state "w" "parameter" "constant" 0.0 at 0 %w : <f32>
  rank.kernel "test.twice"(%w) -> (%w) tile <[0, 4], [4, 8]> {} task <[0, 0, 0, 0]>
      : (!rank.buffer<f32>) -> !rank.buffer<f32>
  rank.kernel "test.step"() -> (%loss) tile <[]> {} task <[0, 0, 0, 0]>
      : () -> !rank.buffer<f32>
  rank.loss %loss : <f32>
)";

TEST_F(RankMemoryTest, CarriesStateFromStepToStep) {
  rank::RankEvaluator ranks = load(classOf("0, 1", kState));
  ASSERT_TRUE(succeeded(ranks.setState("w", counting({8}))));
  for (int64_t i : {1, 2, 3}) {
    ff::ReferenceContext context;
    context.step = i;
    ASSERT_TRUE(succeeded(ranks.step(context))) << messages;
  }
  FailureOr<rank::RankRun> run = ranks.result();
  ASSERT_TRUE(succeeded(run)) << messages;
  EXPECT_THAT(run->losses, ElementsAre(1, 2, 3));
  EXPECT_THAT(run->states.at("w").data,
              ElementsAre(8, 16, 24, 32, 40, 48, 56, 64));
}

/// Rows of a table that nobody reads or trains.
TEST_F(RankMemoryTest, WhatNobodyHoldsIsAsItWasSet) {
  const std::string text =
      "  %w = rank.buffer \"w\" \"state\" at <[16]> \"row_major\"\n"
      "      region <[1, 0, 4], [1, 0, 4]> of [8] : <f32>\n"
      "  rank.state \"w\" \"parameter\" \"constant\" 0.0 at 0 %w : <f32>\n";
  rank::RankEvaluator ranks = load(classOf("0, 1", text));
  ranks.fillConstants();
  EXPECT_TRUE(failed(ranks.state("w")));
  EXPECT_THAT(messages, HasSubstr("state 'w': no rank holds element 4"));
  ASSERT_TRUE(succeeded(ranks.setState("w", counting({8}))));
  FailureOr<ff::TensorValue> value = ranks.state("w");
  ASSERT_TRUE(succeeded(value)) << messages;
  EXPECT_EQ(value->data, counting({8}).data);
}

TEST_F(RankMemoryTest, ChecksStates) {
  rank::RankEvaluator ranks = load(classOf("0, 1", kState));
  EXPECT_TRUE(failed(ranks.setState("w", counting({4, 2}))));
  EXPECT_THAT(messages, HasSubstr("expected a value of shape [8] for 'w', "
                                  "found [4, 2]"));
  EXPECT_TRUE(failed(ranks.state("w")));
  EXPECT_THAT(messages, HasSubstr("state 'w': element 0 in 'w' on rank 0 is "
                                  "NaN"));
  EXPECT_TRUE(failed(ranks.state("v")));
  EXPECT_THAT(messages, HasSubstr("no rank holds the state 'v'"));
}

TEST_F(RankMemoryTest, ChecksInputsAndKernels) {
  std::string text = kHalves + buffer("y", "[1, 0, 4]", 64);
  expectError(classOf("0, 1", text + kernel("test.none", "%x", "%y", "[0, 4]")),
              "kernel 'test.none' has no reference implementation");
  text.replace(text.find("input \"x\""), 9, "input \"z\"");
  expectError(classOf("0, 1", text), "input 'z' has no value");
}

TEST_F(RankMemoryTest, ChecksReplicas) {
  // Both ranks call their half of x the first half of y.
  expectError(
      classOf("0, 1", kHalves + buffer("y", "[1, 0, 4]", 64) +
                          "  rank.copy \"none\" %y at <[0]> from %x at <[0]> "
                          "size <[4]>" +
                          kTask +
                          ": <f32>, <f32>\n  rank.probe \"out\" %y : <f32>\n"),
      "output 'out': replicas differ: element 0 is 1.00 on rank 0 and 5.00 in "
      "'y' on rank 1");
}

TEST_F(RankMemoryTest, ChecksReplicasOfTheLoss) {
  // Each rank calls the first element of its half the loss.
  expectError(classOf("0, 1", kHalves + R"(
  %loss = rank.buffer "loss" "arena" at <[64]> "row_major" region <[1, 0, 1]> of [1] : <f32>
  rank.copy "none" %loss at <[0]> from %x at <[0]> size <[1]> task <[0, 0, 0, 0]> : <f32>, <f32>
  rank.loss %loss : <f32>
)"),
              "loss: replicas differ: element 0 is 1.00 on rank 0 and 5.00 in "
              "'loss' on rank 1");
}

TEST_F(RankMemoryTest, ChecksCoverage) {
  std::string text = kHalves + "  rank.probe \"out\" %x : <f32>\n";
  text.replace(text.find("[1, 4, 8]"), 9, "[1, 5, 8]");
  expectError(classOf("0, 1", text), "output 'out': no rank offers element 4");
}

} // namespace
