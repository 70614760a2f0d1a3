//===- EmitProgramTest.cpp - text printed from `rank` ---------------------===//

#include "EmitProgramFixture.h"
#include "RankModules.h"

#include "gmock/gmock.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;
using testing::HasSubstr;

namespace {

TEST_F(EmitProgram, PrintsALayerAsAClassAndAnObject) {
  auto files = emit(kLinearOnTwoRanks, linearMeta());
  ASSERT_EQ(files.size(), 2u) << error;
  EXPECT_EQ(files[0].path, "train.cpp");
  // Forward, gradient, communication and update of a layer stand together.
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
/// fc_gemm.
struct LinearLayer : Layer {
  using Layer::Layer;
  Shards x = shards();
  Shards weight = shards();
  Shards y = shards();
  Shards y_grad = shards();
  Shards weight_grad = shards();
  Shards weight_momentum = shards();
  Kernel<MatMul> mat_mul{*this, {x, weight, absent, absent}, {y}, /*alpha=*/1.0,
      /*beta=*/1.0, /*clamp=*/Reals{}, /*trans_a=*/0, /*trans_b=*/0};
  Dump dump{*this};
  Kernel<MatMul> mat_mul_2{*this, {x, y_grad, absent, absent}, {weight_grad},
      /*alpha=*/1.0, /*beta=*/1.0, /*clamp=*/Reals{}, /*trans_a=*/1,
      /*trans_b=*/0};
  Reshard weight_grad_sum{*this};
  Dump dump_gradients{*this};
  Kernel<SgdUpdate> weight_update{*this, {weight, weight_grad, weight_momentum},
      {weight, weight_momentum}, /*momentum=*/0.9, /*nesterov=*/0};

  void forward() {
    mat_mul();
    dump();
  }

  void backward() {
    mat_mul_2();
  }

  void update() {
    weight_grad_sum();
    dump_gradients();
    weight_update();
  }
};
)"));
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
  void step() override {
    fc_gemm.forward();
    loss.forward();
    loss.backward();
    fc_gemm.backward();
    fc_gemm.update();
  }

private:
  // /fc/Gemm: 8x4, 4x3 -> 8x3; 192 FLOP; {n = 2} on 0 1
  // fc.weight.update: {replica = 2} on 0 1
  LinearLayer fc_gemm{*this, 0};
)"));
}

TEST_F(EmitProgram, ListsWhatRanksHave) {
  auto files = emit(kLinearOnTwoRanks, linearMeta());
  ASSERT_EQ(files.size(), 2u) << error;
  EXPECT_EQ(files[1].path, "ranks.inc");
  const std::string &tables = files[1].contents;
  // Numbers in which ranks of a class differ have one column, whatever they
  // are.
  EXPECT_THAT(tables, HasSubstr(R"(
  /* 0 fc.weight */ state, 0, f32, row_major, 2, 4, 3, 0, 0, 4, 3,
  /* 1 fc.weight/momentum */ state, 64, f32, row_major, 2, 4, 3, 0, 0, 4, 3,
  /* 2 x */ arena, 0, f32, row_major, 2, 4, 4, own(0), 0, 8, 4,
)"));
  EXPECT_THAT(tables, HasSubstr(R"(
const int64_t class0_own[] = {
  /* rank 0 */ 0, 0,
  /* rank 1 */ 4, 1,
};
)"));
  // How many tiles, operator, phase, instance; position, point and shards of a
  // tile.
  EXPECT_THAT(tables, HasSubstr(R"(
  /* fc_gemm.mat_mul */ 1, 0, 0, 0, 1, 0, own(1), 0, 0, 0, 0,
)"));
  EXPECT_THAT(tables, HasSubstr(R"(
  /* fc_gemm.weight_grad_sum */ 2, 0, 1, 2,
    collective, 5, 0, 1, 0, all_reduce, 0, 7, 7, sum, library, 0, none, 1,
    wait, 0,
)"));
  EXPECT_THAT(tables, HasSubstr(R"(
        {"fc.weight", StateKind::parameter, {Init::uniform, 0.5}},
)"));
  EXPECT_THAT(tables, HasSubstr(R"(
        "fc.weight.update <- fc.weight.grad",
)"));
}

TEST_F(EmitProgram, PrintsOneTextForSeveralClasses) {
  auto files = emit(kTwoClasses);
  ASSERT_EQ(files.size(), 2u) << error;
  const std::string &text = files[0].contents;
  // What starts in one method and ends in another one.
  EXPECT_THAT(text, HasSubstr(R"(
struct PlainLayer : Layer {
  using Layer::Layer;
  Reshard float_reshard{*this};
  Reshard float_broadcast{*this};

  void forward() {
    float_reshard.start();
    float_broadcast.start();
    float_reshard.finish();
    float_broadcast.finish();
  }
};
)"));
  const std::string &tables = files[1].contents;
  // Packed intervals are seen as a box from the first one on.
  EXPECT_THAT(tables, HasSubstr("/* 1 packed */ arena, 0, i64, channels_last, "
                                "2, 2, 2, 0, own(1), 2, 6,\n"));
  EXPECT_THAT(tables, HasSubstr("exchange, 0, 0, 0, 0, 7, 2, 1, 0, 2, 0, 0,"));
  EXPECT_THAT(tables, HasSubstr(R"(
        {0, 0},
        {1, 0},
        {1, 1},
)"));
}

TEST_F(EmitProgram, NeedsNumbersOfStatementsInSeveralClasses) {
  std::string text = kTwoClasses;
  const std::string number = "statement 0";
  text.replace(text.find(number), number.size(), "");
  EXPECT_TRUE(emit(text).empty());
  EXPECT_THAT(error, HasSubstr("expected the number of its statement, as there "
                               "are several classes, found none"));
}

TEST_F(EmitProgram, NeedsStatementsOfOneReshard) {
  std::string text = kTwoClasses;
  const std::string number = "statement 3";
  text.replace(text.find(number), number.size(), "statement 2");
  EXPECT_TRUE(emit(text).empty());
  EXPECT_THAT(error, HasSubstr("expected a statement of its own, found number "
                               "2 of another operator or reshard"));
}

TEST_F(EmitProgram, NeedsNumbersOfStatementsThatAscend) {
  std::string text = kTwoClasses;
  const std::string number = "statement 0";
  text.replace(text.find(number), number.size(), "statement 9");
  EXPECT_TRUE(emit(text).empty());
  EXPECT_THAT(error, HasSubstr("expected a statement from 9 on, found 2"));
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
  ASSERT_EQ(files.size(), 2u) << error;
  // One row for the loops: counts, then how far both places move.
  EXPECT_THAT(files[1].contents, HasSubstr(R"(
    copies, 0, 0, 0, 1, 2, 2, 3, replace, 0, 1, 0, 0, 7, own(0), 1, 2, 1, 0, -1, 0, 0, 2, 0, 6,
    copies, 6, 0, 0, 1, 0, replace, 0, 1, 3, 0, 0, own(0), 1, 2,
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
  ASSERT_EQ(files.size(), 2u) << error;
  EXPECT_THAT(files[1].contents, HasSubstr(R"(
    copies, 0, 0, 0, 2, 1, 5, replace, 0, 1, 0, 0, 0, 0, 1, 2, 0, 4, 0, 2, replace, 0, 1, 0, 2, 7, 0, 1, 2, 0, 4, -1, 0,
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
  ASSERT_EQ(once.size(), 2u);
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
  ASSERT_EQ(files.size(), 2u) << error;
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
  ASSERT_EQ(files.size(), 2u) << error;
  EXPECT_THAT(files[0].contents, HasSubstr(R"(
  Kernel<SomeKernel> some_kernel{*this, {}, {}, /*flag=*/1, /*large=*/INT64_MIN,
      /*list=*/Ints{1, 2}, /*text=*/"a\"b", /*x=*/0.5};
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
