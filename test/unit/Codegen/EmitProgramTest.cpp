//===- EmitProgramTest.cpp - text printed from `rank` ---------------------===//

#include "EmitProgramFixture.h"
#include "RankModules.h"

#include "gmock/gmock.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;
using testing::HasSubstr;

namespace {

TEST_F(EmitProgram, PrintsALayerInOneSection) {
  auto files = emit(kLinearOnTwoRanks, linearMeta());
  ASSERT_EQ(files.size(), 3u) << error;
  EXPECT_EQ(files[0].path, "train.cpp");
  // Forward, gradient, communication and update of a layer stand together.
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
  //===--- /fc/Gemm: linear -----------------------------------------------===//

  MatMul fc_gemm_forward{cx, {x, fc_weight, absent, absent}, {fc_gemm_y},
      /*alpha=*/1.0, /*beta=*/1.0, /*clamp=*/{}, /*trans_a=*/0, /*trans_b=*/0};
  MatMul fc_gemm_grad_b_backward{cx, {x, fc_gemm_y_grad, absent, absent},
      {fc_weight_grad}, /*alpha=*/1.0, /*beta=*/1.0, /*clamp=*/{},
      /*trans_a=*/1, /*trans_b=*/0};
  SgdUpdate fc_weight_update_kernel{cx,
      {fc_weight, fc_weight_grad, fc_weight_momentum},
      {fc_weight, fc_weight_momentum}, /*momentum=*/0.9, /*nesterov=*/0};

  // /fc/Gemm: 8x4, 4x3 -> 8x3; 192 FLOP; {n = 2} on 0 1
  void fc_gemm_forward_pass() {
    compute(fc_gemm_forward, {x, fc_weight, absent, absent}, {fc_gemm_y});
    probe.offer("out/y", fc_gemm_y);
  }

  // /fc/Gemm.grad_b: 8x4, 8x3 -> 4x3; 192 FLOP; {n = 2} on 0 1
  void fc_gemm_backward_pass() {
    compute(fc_gemm_grad_b_backward, {x, fc_gemm_y_grad, absent, absent},
        {fc_weight_grad});
  }

  // fc.weight.update: {replica = 2} on 0 1
  void fc_gemm_update_pass() {
    comm.wait(comm.all_reduce("fc.weight.update <- fc.weight.grad", groups[0],
        fc_weight_grad, ReduceOp::sum));
    probe.offer("grad/fc.weight", fc_weight_grad);
    compute(fc_weight_update_kernel,
        {fc_weight, fc_weight_grad, fc_weight_momentum},
        {fc_weight, fc_weight_momentum});
  }
)"));
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
  void step() override {
    fc_gemm_forward_pass();
    loss_forward_pass();
    loss_backward_pass();
    fc_gemm_backward_pass();
    fc_gemm_update_pass();
  }

  Tensor loss() override { return loss_; }
)"));
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
        {"fc.weight", /*parameter=*/true, {Init::uniform, 0.5}, fc_weight},
)"));
}

TEST_F(EmitProgram, ListsTheTasksOfAStep) {
  auto files = emit(kLinearOnTwoRanks, linearMeta());
  ASSERT_EQ(files.size(), 3u) << error;
  EXPECT_EQ(files[2].path, "tasks.inc");
  EXPECT_THAT(files[2].contents, HasSubstr(R"(
std::vector<TaskId> Class0::tasks() {
  return {
      {"/fc/Gemm", 0, my.fc_gemm_point, 0},
      {"loss", 0, my.fc_gemm_point, 0},
      {"loss", 0, 0, 1},
      {"loss.grad", 0, my.fc_gemm_point, 0},
      {"/fc/Gemm.grad_b", 0, my.fc_gemm_point, 0},
      {"fc.weight.update", 0, 0, 1},
      {"fc.weight.update", 0, my.fc_gemm_point, 0},
  };
}
)"));
}

TEST_F(EmitProgram, PutsNumbersThatDifferIntoTheTable) {
  auto files = emit(kLinearOnTwoRanks, linearMeta());
  ASSERT_EQ(files.size(), 3u) << error;
  // One column for all tensors that start at the same sample.
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
struct Class0Row {
  // Also of fc_gemm_y and 2 more:
  int64_t x_lo0;
  // Also of loss and 3 more:
  int fc_gemm_point;
};
)"));
  EXPECT_THAT(
      files[0].contents,
      HasSubstr("Tensor x = arena(0, f32, row_major, {4, 4}, {my.x_lo0, 0}, "
                "{8, 4});"));
  // A whole tensor needs no position.
  EXPECT_THAT(
      files[0].contents,
      HasSubstr("Tensor fc_weight = state(0, f32, row_major, {4, 3});"));
  EXPECT_EQ(files[1].path, "ranks.inc");
  EXPECT_THAT(files[1].contents, HasSubstr(R"(
const Class0Row class0_rows[] = {
  /* rank 0 */ {0, 0},
  /* rank 1 */ {4, 1},
};
)"));
}

TEST_F(EmitProgram, PrintsSeveralClasses) {
  auto files = emit(kTwoClasses);
  ASSERT_EQ(files.size(), 3u) << error;
  const std::string &text = files[0].contents;
  // An event that another method waits for is a member.
  EXPECT_THAT(text, HasSubstr(R"(
    first_event = comm.exchange("first <- x", /*tag=*/7, {{1, x}, {2, x}}, {});
)"));
  EXPECT_THAT(text, HasSubstr("    comm.wait(first_event);\n"));
  EXPECT_THAT(text, HasSubstr("\n  Event first_event;\n"));
  // Packed intervals are seen as a box from the first one on.
  EXPECT_THAT(text, HasSubstr("arena(0, i64, channels_last, {2, 2}, "
                              "{0, my.packed_lo1}, {2, 6});"));
  EXPECT_THAT(text, HasSubstr(R"(
    copy(packed, {0, my.packed_to1}, float_, {0, 0}, {2, 1});
    combine(float_, {0, 0}, packed, {0, 0}, {2, 2}, ReduceOp::sum);
)"));
  EXPECT_THAT(text, HasSubstr("groups[my.float_group]"));
  EXPECT_THAT(text, HasSubstr(R"(
  case 0:
    return std::make_unique<Class0>(host);
  default:
    return std::make_unique<Class1>(host, class1_rows[place.row]);
)"));
  EXPECT_THAT(files[1].contents, HasSubstr("    {1, 1},\n"));
}

/// Copies of 1 x 2 elements on two ranks; `places` are those in the destination
/// and the source, without the second rank's shift of `shift` columns in the
/// source.
std::string copiesOnTwoRanks(const std::vector<std::array<int64_t, 4>> &places,
                             int64_t shift) {
  std::string text =
      "rank.func @class0 attributes {ranks = array<i64: 0, 1>, world = 2 : "
      "i64, groups = [], state_bytes = #rank.per<[0]>, arena_bytes = "
      "#rank.per<[8192]>, flops = #rank.per<[0]>} {\n";
  for (const char *name : {"a", "b"})
    text +=
        std::string("%") + name + " = rank.buffer \"" + name +
        "\" \"arena\" at <[" + (*name == 'a' ? "0" : "4096") +
        "]> \"row_major\" region <[1, 0, 8, 1, 0, 64]> of [8, 64] : <f32>\n";
  auto pair = [](int64_t i, int64_t j) {
    return "[" + std::to_string(i) + ", " + std::to_string(j) + "]";
  };
  for (auto [i, j, k, l] : places)
    text += "rank.copy \"none\" %a at <" + pair(i, j) + "> from %b at <" +
            pair(k, l) + ", " + pair(k, l + shift) +
            "> size <[1, 2]> task <[0, 0, 0, 0]> : !rank.buffer<f32>, "
            "!rank.buffer<f32> loc(\"x\")\n";
  return text + "}";
}

TEST_F(EmitProgram, PrintsSeriesOfCopiesAsLoops) {
  std::vector<std::array<int64_t, 4>> places;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      places.push_back({i, 2 * j, 7 - i, 6 * j});
  // Neither goes on by the rule nor is long enough for one.
  places.push_back({3, 0, 0, 0});
  places.push_back({3, 2, 0, 2});
  auto files = emit(copiesOnTwoRanks(places, 1));
  ASSERT_EQ(files.size(), 3u) << error;
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 3; ++j)
        copy(a, {i, 2 * j}, b, {7 - i, my.b_from1 + 6 * j}, {1, 2});
    copy(a, {3, 0}, b, {0, my.b_from1}, {1, 2});
)"));
  EXPECT_EQ(compile(files), "");
}

TEST_F(EmitProgram, PrintsInterleavedCopiesAsOneLoop) {
  std::vector<std::array<int64_t, 4>> places;
  for (int64_t i = 0; i < 5; ++i) {
    places.push_back({0, 4 * i, 0, 2 * i});
    places.push_back({0, 4 * i + 2, 7 - i, 0});
  }
  auto files = emit(copiesOnTwoRanks(places, 0));
  ASSERT_EQ(files.size(), 3u) << error;
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
    for (int64_t i = 0; i < 5; ++i) {
      copy(a, {0, 4 * i}, b, {0, 2 * i}, {1, 2});
      copy(a, {0, 2 + 4 * i}, b, {7 - i, 0}, {1, 2});
    }
)"));
  EXPECT_EQ(compile(files), "");
}

TEST_F(EmitProgram, TextCompilesWithoutWarnings) {
  EXPECT_EQ(compile(emit(kLinearOnTwoRanks, linearMeta())), "");
  EXPECT_EQ(compile(emit(kTwoClasses)), "");
  EXPECT_EQ(error, "");
}

TEST_F(EmitProgram, IsTheSameForTheSameInput) {
  auto once = emit(kLinearOnTwoRanks, linearMeta());
  auto again = emit(kLinearOnTwoRanks, linearMeta());
  ASSERT_EQ(once.size(), 3u);
  EXPECT_EQ(once[0].contents, again[0].contents);
  EXPECT_EQ(once[1].contents, again[1].contents);
}

/// A class of rank 0 of two with `body`.
std::string classOfRankZero(const std::string &body) {
  return "rank.func @class0 attributes {ranks = array<i64: 0>, world = 2 : "
         "i64, "
         "groups = [], state_bytes = #rank.per<[64]>, arena_bytes = "
         "#rank.per<[64]>, flops = #rank.per<[0]>} {" +
         body + "}\n";
}
const char *const kIdleRankOne =
    "rank.func @class1 attributes {ranks = array<i64: 1>, world = 2 : i64, "
    "groups = [], state_bytes = #rank.per<[0]>, arena_bytes = #rank.per<[0]>, "
    "flops = #rank.per<[0]>} {}\n";

TEST_F(EmitProgram, NeedsAClassForEveryRank) {
  EXPECT_TRUE(emit("").empty());
  EXPECT_EQ(error, "expected at least one 'rank.func', found none");
  error.clear();
  EXPECT_TRUE(emit(classOfRankZero("")).empty());
  EXPECT_EQ(error, "expected a class of rank 1, found none");
}

TEST_F(EmitProgram, NeedsOneClassForARank) {
  std::string twice = classOfRankZero("");
  twice.replace(twice.find("class0"), 6, "class2");
  EXPECT_TRUE(emit(classOfRankZero("") + twice + kIdleRankOne).empty());
  EXPECT_THAT(error, HasSubstr("expected rank 0 in one class, found it again"));
}

/// `text` with so many bytes of a symmetric arena.
std::string withSymmetricArena(std::string text, int64_t bytes) {
  const std::string at = "arena_bytes = ";
  return text.insert(text.find(at),
                     "symmetric_arena = " + std::to_string(bytes) + " : i64, ");
}

TEST_F(EmitProgram, NeedsOneSymmetricPart) {
  EXPECT_TRUE(
      emit(withSymmetricArena(classOfRankZero(""), 64) + kIdleRankOne).empty());
  EXPECT_THAT(error, HasSubstr("expected the world, groups and symmetric bytes "
                               "of 'class0'"));
}

TEST_F(EmitProgram, PrintsSymmetricBytes) {
  auto files =
      emit(withSymmetricArena(copiesOnTwoRanks({{0, 0, 0, 0}}, 1), 4096));
  ASSERT_EQ(files.size(), 3u) << error;
  EXPECT_THAT(files[0].contents, HasSubstr("info.symmetric_arena = 4096;"));
  EXPECT_THAT(files[0].contents, ::testing::Not(HasSubstr("symmetric_state")));
}

TEST_F(EmitProgram, RejectsAttributesWithoutText) {
  EXPECT_TRUE(emit(classOfRankZero("rank.kernel \"k\"() -> () tile <[]> "
                                   "{a = f32} task <[0, 0, 0, 0]> : () -> ()") +
                   kIdleRankOne)
                  .empty());
  EXPECT_THAT(error, HasSubstr("expected a number, a list of numbers or a "
                               "string for 'a', found f32"));
}

TEST_F(EmitProgram, PrintsAttributesInTheOrderOfTheirNames) {
  auto files =
      emit(classOfRankZero(
               "rank.kernel \"some_kernel\"() -> () tile <[]> "
               "{text = \"a\\22b\", list = array<i64: 1, 2>, flag = true, "
               "large = -9223372036854775808 : i64, x = 0.5 : f64} "
               "task <[0, 0, 0, 0]> : () -> ()") +
           kIdleRankOne);
  ASSERT_EQ(files.size(), 3u) << error;
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
  SomeKernel some_kernel_forward{cx, {}, {}, /*flag=*/1, /*large=*/INT64_MIN,
      /*list=*/{1, 2}, /*text=*/"a\"b", /*x=*/0.5};
)"));
}

/// One rank with fused kernels `kernels` on the buffers %a to %d.

TEST_F(EmitProgram, RejectsSlotsThatAreNoBox) {
  EXPECT_TRUE(
      emit(classOfRankZero(
               "%x = rank.buffer \"x\" \"arena\" at <[0]> \"row_major\" "
               "region <[2, 0, 1, 4, 5]> of [8] : <f32> "
               "rank.input \"x\" %x : !rank.buffer<f32>") +
           kIdleRankOne)
          .empty());
  EXPECT_THAT(error, HasSubstr("expected one box in 'x' on rank 0, found "
                               "several intervals in a dimension"));
}

} // namespace
