//===- RankEvaluatorTest.cpp - all ranks in one process -------------------===//

#include "ffc/IR/RankEvaluator.h"

#include "ffc/IR/Rank.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace ffc;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// y = 2 x.
void twice(const ff::ReferenceCall &call) {
  ff::forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    call.outs[0].at(i) = 2 * call.ins[0].at(i);
  });
}

/// y[i] = x[i-1] + x[i] + x[i+1].
void stencil(const ff::ReferenceCall &call) {
  int64_t extent = call.ins[0].global()[0];
  ff::forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    double sum = 0;
    for (int64_t j = i[0] - 1; j <= i[0] + 1; ++j)
      if (j >= 0 && j < extent)
        sum += call.ins[0].at({j});
    call.outs[0].at(i) = sum;
  });
}

/// y = step.
void step(const ff::ReferenceCall &call) {
  ff::forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    call.outs[0].at(i) = call.context.step;
  });
}

ff::TensorValue counting(plan::Shape shape) {
  ff::TensorValue value{shape, {}};
  for (int64_t i = 0; i < plan::numElements(shape); ++i)
    value.data.push_back(i + 1);
  return value;
}

class RankEvaluatorTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    ff::registerReference("test.twice", twice);
    ff::registerReference("test.stencil", stencil);
    ff::registerReference("test.step", step);
  }

  RankEvaluatorTest()
      : handler(&context, [this](Diagnostic &diag) {
          messages += diag.str() + "\n";
          for (Diagnostic &note : diag.getNotes())
            messages += note.str() + "\n";
        }) {
    context.loadDialect<rank::RankDialect>();
  }

  /// A class of `ranks` out of two with 256 bytes in each section.
  static std::string classOf(const std::string &ranks,
                             const std::string &body) {
    std::string name = "class" + ranks.substr(0, 1);
    return "rank.func @" + name + " attributes {ranks = array<i64: " + ranks +
           ">, world = 2 : i64, groups = [array<i64: 0, 1>], "
           "state_bytes = #rank.per<[256]>, arena_bytes = #rank.per<[256]>, "
           "flops = #rank.per<[0]>} {\n" +
           body + "}\n";
  }

  rank::RankEvaluator load(const std::string &text, bool poison = true) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << messages;
    rank::RankEvaluator ranks(*module, poison);
    ranks.setInput("x", counting({8}));
    return ranks;
  }

  /// Runs one step that must fail with a message that contains `expected`.
  void expectError(const std::string &text, const std::string &expected) {
    rank::RankEvaluator ranks = load(text);
    EXPECT_TRUE(failed(ranks.step({})));
    EXPECT_THAT(messages, HasSubstr(expected));
  }

  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

/// Each rank holds half of x.
const std::string kHalves = R"(
  %x = rank.buffer "x" "arena" at <[0]> "row_major"
      region <[1, 0, 4], [1, 4, 8]> of [8] : <f32>
  rank.input "x" %x : <f32>
)";
const std::string kTask = " task <[0, 0, 0, 0]> ";
const std::string kF32ToF32 = ": (!rank.buffer<f32>) -> !rank.buffer<f32>\n";

/// A buffer with region rows `region` of a tensor of eight.
std::string buffer(const std::string &name, const std::string &region,
                   int offset, const std::string &type = "f32") {
  return "  %" + name + " = rank.buffer \"" + name + "\" \"arena\" at <[" +
         std::to_string(offset) + "]> \"row_major\" region <" + region +
         "> of [8] : <" + type + ">\n";
}

std::string swap(const std::string &send, const std::string &receive,
                 const std::string &tag = "0") {
  return "  %swap = rank.exchange send(" + send + ") to <[1], [0]> receive(" +
         receive + ") from <[1], [0]> tag " + tag + kTask + kF32ToF32;
}

std::string collective(const std::string &kind, const std::string &reduce,
                       const std::string &src, const std::string &dst,
                       int root = 0) {
  return "  %event = rank.collective \"" + kind + "\" \"" + reduce + "\" " +
         src + " -> " + dst + " group <[0]> root " + std::to_string(root) +
         kTask + ": <f32>, <f32>\n";
}

std::string kernel(const std::string &callee, const std::string &in,
                   const std::string &out, const std::string &tile) {
  return "  rank.kernel \"" + callee + "\"(" + in + ") -> (" + out +
         ") tile <" + tile + "> {} " + kTask + kF32ToF32;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(RankEvaluatorTest, OverlappingBuffersCorruptEachOther) {
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

TEST_F(RankEvaluatorTest, UnwrittenMemoryIsNaN) {
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

TEST_F(RankEvaluatorTest, HoldsElementsOfOneAndEightBytes) {
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

TEST_F(RankEvaluatorTest, TypesThatOverlapCorruptEachOther) {
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
  rank.state "w" "parameter" 0 : i64 %w : <f32>
  rank.kernel "test.twice"(%w) -> (%w) tile <[0, 4], [4, 8]> {} task <[0, 0, 0, 0]>
      : (!rank.buffer<f32>) -> !rank.buffer<f32>
  rank.kernel "test.step"() -> (%loss) tile <[]> {} task <[0, 0, 0, 0]>
      : () -> !rank.buffer<f32>
  rank.loss %loss : <f32>
)";

TEST_F(RankEvaluatorTest, CarriesStateFromStepToStep) {
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

TEST_F(RankEvaluatorTest, ChecksStates) {
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

TEST_F(RankEvaluatorTest, ChecksInputsAndKernels) {
  std::string text = kHalves + buffer("y", "[1, 0, 4]", 64);
  expectError(classOf("0, 1", text + kernel("test.none", "%x", "%y", "[0, 4]")),
              "kernel 'test.none' has no reference implementation");
  text.replace(text.find("input \"x\""), 9, "input \"z\"");
  expectError(classOf("0, 1", text), "input 'z' has no value");
}

TEST_F(RankEvaluatorTest, ChecksReplicas) {
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

TEST_F(RankEvaluatorTest, ChecksCoverage) {
  std::string text = kHalves + "  rank.probe \"out\" %x : <f32>\n";
  text.replace(text.find("[1, 4, 8]"), 9, "[1, 5, 8]");
  expectError(classOf("0, 1", text), "output 'out': no rank offers element 4");
}

} // namespace
