//===- ReshapeTest.cpp - iteration spaces of reshapes ---------------------===//

#include "ffc/IR/FF.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace {

class ReshapeTest : public testing::Test {
protected:
  ReshapeTest() { context.loadDialect<FFDialect>(); }

  plan::OpRules rulesOf(const plan::Shape &x, const plan::Shape &y,
                        bool gradient = false) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    auto type = [&](const plan::Shape &shape) {
      return RankedTensorType::get(shape, builder.getF32Type());
    };
    auto init = InitAttr::get(&context, InitKind::Constant, 0.0, 0);
    module = ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    auto from = StateOp::create(builder, loc, type(x), "x", "constant", init);
    auto op = ReshapeOp::create(builder, loc, type(y), from);
    if (gradient)
      op->setAttr(kRoleAttr, builder.getStringAttr("gradient"));
    return op.getRules();
  }

  /// "n=8 c=4 d2=6!": names and extents, '!' where not splittable.
  std::string spaceOf(const plan::Shape &x, const plan::Shape &y,
                      bool gradient = false) {
    plan::OpRules rules = rulesOf(x, y, gradient);
    std::string text;
    for (size_t d = 0; d < rules.dims.size(); ++d)
      text += (d ? " " : "") + rules.dims[d].name + "=" +
              std::to_string(rules.dims[d].extent) +
              (rules.splittable(static_cast<int>(d)) ? "" : "!");
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ReshapeTest, KeepsTheNamesOfAFlattenedImage) {
  EXPECT_EQ(spaceOf({8, 4, 5, 6}, {8, 120}), "n=8 c=4 h=5 w=6");
  EXPECT_EQ(spaceOf({8, 120}, {8, 4, 5, 6}, /*gradient=*/true),
            "n=8 c=4 h=5 w=6");
}

TEST_F(ReshapeTest, NamesFactorsInAGradientAsInItsForwardOperator) {
  EXPECT_EQ(spaceOf({2, 12, 5}, {2, 3, 20}), "n=2 c=3 d2=4 h=5");
  EXPECT_EQ(spaceOf({2, 3, 20}, {2, 12, 5}, true), "n=2 c=3 d2=4 h=5");
}

TEST_F(ReshapeTest, SplitsABatchOfSequences) {
  EXPECT_EQ(spaceOf({4, 6, 5}, {24, 5}), "n=4 c=6 h=5");
}

TEST_F(ReshapeTest, KnowsABatchOnlyIfItLeadsBoth) {
  EXPECT_EQ(spaceOf({6}, {1, 6, 1, 1}), "c=6");
  EXPECT_EQ(spaceOf({4, 1}, {4}), "n=4");
  EXPECT_EQ(spaceOf({4}, {4, 1}, true), "n=4");
}

TEST_F(ReshapeTest, HasNoDimensionsForOneElement) {
  EXPECT_EQ(spaceOf({1, 1}, {}), "");
}

TEST_F(ReshapeTest, MergesWhatHasNoCommonRefinement) {
  EXPECT_EQ(spaceOf({6, 4}, {8, 3}), "n=2 d1=12!");
  EXPECT_EQ(spaceOf({3, 4}, {4, 3}), "d0=12!");
  EXPECT_EQ(spaceOf({5, 6, 4}, {5, 4, 6}), "n=5 c=2 d2=12!");
}

TEST_F(ReshapeTest, KeepsToTheLimitOfDimensions) {
  EXPECT_EQ(spaceOf({4, 4, 4, 4, 4, 4, 4}, {2, 4, 4, 4, 4, 4, 4, 2}),
            "d0=16384!");
  EXPECT_EQ(spaceOf({3, 4, 4, 4, 4, 4, 4}, {3, 2, 4, 4, 4, 4, 4, 2}),
            "n=3 d1=4096!");
}

TEST_F(ReshapeTest, ReadsBlocksOfMergedDimensions) {
  plan::OpRules rules = rulesOf({6, 4}, {8, 3});
  const plan::Phase &phase = rules.schedules[0].phases[0];
  plan::Tile second{{1, 2}, {0, 12}};
  EXPECT_EQ(
      plan::regionOf(phase.reads[0].access, rules.dims, second, {6, 4}).str(),
      "[3:6, 0:4]");
  EXPECT_EQ(
      plan::regionOf(phase.writes[0].access, rules.dims, second, {8, 3}).str(),
      "[4:8, 0:3]");
}

} // namespace
