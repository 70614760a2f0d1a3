//===- RankEvaluatorTest.cpp - computation and communication --------------===//

#include "RankEvaluatorFixture.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::rank::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

TEST_F(RankEvaluatorTest, ExchangesHalos) {
  std::string text =
      kHalves + buffer("left", "[1, 3, 4], [1, 4, 5]", 32) +
      buffer("right", "[1, 4, 5], [1, 3, 4]", 64) +
      buffer("wide", "[1, 0, 5], [1, 3, 8]", 96) +
      buffer("y", "[1, 0, 4], [1, 4, 8]", 128) +
      "  rank.copy \"none\" %left at <[0]> from %x at <[3], [0]> size <[1]>" +
      kTask + ": <f32>, <f32>\n" + swap("%left", "%right") +
      "  rank.copy \"none\" %wide at <[0], [1]> from %x at <[0]> size <[4]>" +
      kTask + ": <f32>, <f32>\n  rank.wait %swap\n" +
      "  rank.copy \"none\" %wide at <[4], [0]> from %right at <[0]> "
      "size <[1]>" +
      kTask + ": <f32>, <f32>\n" +
      kernel("test.stencil", "%wide", "%y", "[0, 4], [4, 8]") +
      "  rank.probe \"out/y\" %y : <f32>\n";
  rank::RankEvaluator ranks = load(classOf("0, 1", text));
  ASSERT_TRUE(succeeded(ranks.step({}))) << messages;
  EXPECT_EQ(ranks.outputs().at("out/y").shape, plan::Shape{8});
  EXPECT_THAT(ranks.outputs().at("out/y").data,
              ElementsAre(3, 6, 9, 12, 15, 18, 21, 15));
}

TEST_F(RankEvaluatorTest, ReportsAReadOutsideThePart) {
  expectError(
      classOf("0, 1", kHalves + buffer("y", "[1, 0, 4], [1, 4, 8]", 128) +
                          kernel("test.stencil", "%x", "%y", "[0, 4], [4, 8]")),
      "kernel 'test.stencil' of '' on rank 0 touches element [4] of "
      "operand 0 'x', of which it holds [0:4]");
}

TEST_F(RankEvaluatorTest, AllReduces) {
  rank::RankEvaluator ranks = load(classOf("0, 1", kHalves + R"(
  %p = rank.buffer "p" "arena" at <[32]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %m = rank.buffer "m" "arena" at <[64]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %one = rank.buffer "one" "arena" at <[96]> "row_major" region <[]> of [] : <f32>
  rank.copy "none" %p at <[0]> from %x at <[0]> size <[4]> task <[0, 0, 0, 0]> : <f32>, <f32>
  rank.copy "none" %m at <[0]> from %x at <[0]> size <[4]> task <[0, 0, 0, 0]> : <f32>, <f32>
)" + collective("all_reduce", "sum", "%p", "%p") +
                                                       R"(
  %max = rank.collective "all_reduce" "max" %m -> %m group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
  rank.wait %max
  rank.wait %event
  rank.probe "out/sum" %p : <f32>
  rank.probe "out/max" %m : <f32>
)"));
  ASSERT_TRUE(succeeded(ranks.step({}))) << messages;
  EXPECT_THAT(ranks.outputs().at("out/sum").data, ElementsAre(6, 8, 10, 12));
  EXPECT_THAT(ranks.outputs().at("out/max").data, ElementsAre(5, 6, 7, 8));
}

TEST_F(RankEvaluatorTest, GathersAndScatters) {
  rank::RankEvaluator ranks =
      load(classOf("0, 1", kHalves + buffer("all", "[1, 0, 8]", 32) +
                               buffer("part", "[1, 0, 4], [1, 4, 8]", 64) +
                               collective("all_gather", "none", "%x", "%all") +
                               R"(
  rank.wait %event
  rank.probe "out/all" %all : <f32>
  %scatter = rank.collective "reduce_scatter" "sum" %all -> %part group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
  rank.wait %scatter
  rank.probe "out/part" %part : <f32>
)"));
  ASSERT_TRUE(succeeded(ranks.step({}))) << messages;
  EXPECT_EQ(ranks.outputs().at("out/all").data, counting({8}).data);
  EXPECT_THAT(ranks.outputs().at("out/part").data,
              ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
}

TEST_F(RankEvaluatorTest, BroadcastsFromTheRoot) {
  std::string text =
      R"(
  %b = rank.buffer "b" "arena" at <[0]> "row_major" region <[1, 0, 8]> of [8] : <f32>
)" + collective("broadcast", "none", "%b", "%b", 1) +
      "  rank.wait %event\n  rank.probe \"out/b\" %b : <f32>\n";
  std::string source = text;
  source.insert(source.find("  %event"), "  rank.input \"x\" %b : <f32>\n");
  rank::RankEvaluator ranks = load(classOf("0", text) + classOf("1", source));
  ASSERT_TRUE(succeeded(ranks.step({}))) << messages;
  EXPECT_EQ(ranks.outputs().at("out/b").data, counting({8}).data);
}

/// Parts are concatenated in memory: for one channels-last image, rows.
TEST_F(RankEvaluatorTest, GathersInMemoryOrder) {
  rank::RankEvaluator ranks = load(classOf("0, 1", R"(
  %x = rank.buffer "x" "arena" at <[0]> "channels_last"
      region <[1, 0, 1, 1, 0, 2, 1, 0, 2], [1, 0, 1, 1, 0, 2, 1, 2, 4]> of [1, 2, 4] : <f32>
  %y = rank.buffer "y" "arena" at <[32]> "channels_last"
      region <[1, 0, 1, 1, 0, 2, 1, 0, 4]> of [1, 2, 4] : <f32>
  rank.input "image" %x : <f32>
)" + collective("all_gather", "none", "%x", "%y") +
                                                       R"(
  rank.wait %event
  rank.probe "out/y" %y : <f32>
)"));
  ranks.setInput("image", counting({1, 2, 4}));
  ASSERT_TRUE(succeeded(ranks.step({}))) << messages;
  EXPECT_EQ(ranks.outputs().at("out/y").data, counting({8}).data);
}

TEST_F(RankEvaluatorTest, ReportsADeadlock) {
  // Both wait for a message before they send one.
  auto half = [](const std::string &peer) {
    return R"(
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [8] : <f32>
  %r = rank.exchange send() to <[]> receive(%x) from <[)" +
           peer + R"(]> tag 7 task <[0, 0, 0, 0]> : () -> !rank.buffer<f32>
  rank.wait %r
  %s = rank.exchange send(%x) to <[)" +
           peer + R"(]> receive() from <[]> tag 7 task <[0, 0, 0, 0]>
      : (!rank.buffer<f32>) -> ()
  rank.wait %s
)";
  };
  std::string text = classOf("0", half("1")) + classOf("1", half("0"));
  expectError(text, "deadlock: no rank can continue");
  EXPECT_THAT(messages, HasSubstr("rank 0 waits for an exchange with tag 7, "
                                  "'x' from rank 1\n"));
  EXPECT_THAT(messages, HasSubstr("rank 1 waits for an exchange with tag 7, "
                                  "'x' from rank 0\n"));
}

TEST_F(RankEvaluatorTest, ReportsASendThatNobodyReceives) {
  std::string sender = R"(
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [8] : <f32>
  %s = rank.exchange send(%x) to <[1]> receive() from <[]> tag 7 task <[0, 0, 0, 0]>
      : (!rank.buffer<f32>) -> ()
  rank.wait %s
)";
  expectError(classOf("0", sender) + classOf("1", ""),
              "rank 0 waits for an exchange with tag 7, a receive by rank 1");
}

TEST_F(RankEvaluatorTest, ReportsACollectiveThatLacksAMember) {
  std::string text = kHalves + collective("all_reduce", "sum", "%x", "%x");
  std::string half = text;
  half.replace(half.find(", [1, 4, 8]"), 11, "");
  expectError(classOf("0", half + "  rank.wait %event\n") + classOf("1", ""),
              "rank 0 waits for all_reduce on group 0, which lacks ranks 1");
}

TEST_F(RankEvaluatorTest, ReportsMismatchedCollectives) {
  auto reduce = [](int count, const std::string &reduce) {
    return buffer("b", "[1, 0, " + std::to_string(count) + "]", 0) +
           collective("all_reduce", reduce, "%b", "%b") +
           "  rank.wait %event\n";
  };
  expectError(classOf("0", reduce(8, "sum")) + classOf("1", reduce(4, "sum")),
              "mismatched collective number 0 of group 0: all_reduce (reduce "
              "sum, root 0) of 8 'f32' on rank 0, all_reduce (reduce sum, root "
              "0) of 4 'f32' on rank 1");
  expectError(classOf("0", reduce(8, "sum")) + classOf("1", reduce(8, "max")),
              "all_reduce (reduce max, root 0) of 8 'f32' on rank 1");
}

TEST_F(RankEvaluatorTest, ReportsAMessageOfAnotherSize) {
  expectError(classOf("0, 1", kHalves + buffer("r", "[1, 0, 2]", 64) +
                                  swap("%x", "%r") + "  rank.wait %swap\n"),
              "expected a message of 2 elements for 'r' on rank 1 from rank 0, "
              "found 4");
}

TEST_F(RankEvaluatorTest, ReportsAnExchangeWithoutWait) {
  expectError(classOf("0, 1", kHalves + buffer("r", "[1, 0, 4]", 64) +
                                  swap("%x", "%r")),
              "is never waited for on rank 0");
}

TEST_F(RankEvaluatorTest, ReportsAWriteToASendInFlight) {
  expectError(
      classOf("0, 1", kHalves + buffer("r", "[1, 0, 4]", 64) +
                          swap("%x", "%r") +
                          kernel("test.twice", "%x", "%x", "[0, 4], [4, 8]") +
                          "  rank.wait %swap\n"),
      "buffer 'x' on rank 1 was written while in flight");
}

TEST_F(RankEvaluatorTest, ReadsAReceiveInFlightAsNaN) {
  expectError(classOf("0, 1", kHalves +
                                  buffer("r", "[1, 4, 8], [1, 0, 4]", 64) +
                                  swap("%x", "%r") +
                                  "  rank.probe \"out/r\" %r : <f32>\n"
                                  "  rank.wait %swap\n"),
              "output 'out/r': element 4 in 'r' on rank 0 is NaN");
}

} // namespace
