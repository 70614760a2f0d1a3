//===- RulesTest.cpp - rules of convolution and products by example -------===//
//
// The generic tests (PartitionTest.cpp) prove that rules read enough; these pin
// down names, which configurations carry over by, and what exactly is read.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "gtest/gtest.h"

#include <map>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::ff::testing;

namespace {

class RulesTest : public ::testing::Test {
protected:
  /// The `number`-th operator of the example `function`; gradients follow.
  PartitionableInterface find(const std::string &function, int number) {
    for (PartitionableInterface op : examples.operators())
      if (op->getParentOfType<func::FuncOp>().getName() == function &&
          number-- == 0)
        return op;
    ADD_FAILURE() << "no such example in @" << function;
    return {};
  }

  /// "n:2 c:3*": names and extents, reductions starred.
  static std::string spaceOf(PartitionableInterface op) {
    std::string text;
    for (const plan::IterDim &dim : op.getRules().dims)
      text += (text.empty() ? "" : " ") + dim.name + ":" +
              std::to_string(dim.extent) +
              (dim.kind == plan::DimKind::Reduction ? "*" : "");
    return text;
  }

  /// The part of operand `slot` that the tile with `intervals` reads.
  static std::string reads(PartitionableInterface op, int slot,
                           std::map<std::string, plan::Interval> intervals) {
    plan::OpRules rules = op.getRules();
    plan::Tile tile(static_cast<int>(rules.dims.size()));
    for (size_t d = 0; d < rules.dims.size(); ++d) {
      auto it = intervals.find(rules.dims[d].name);
      tile[d] = it == intervals.end() ? plan::Interval{0, rules.dims[d].extent}
                                      : it->second;
    }
    plan::Shape shape =
        tensorTypeOf(op.getOperandSlots()[slot].getType()).shape;
    for (const plan::SlotRead &read :
         rules.schedules.front().phases.front().reads)
      if (read.slot == slot)
        return plan::regionOf(read.access, rules.dims, tile, shape).str();
    return "nothing";
  }

  Examples examples;
};

TEST_F(RulesTest, ConvolutionSpaces) {
  EXPECT_EQ(spaceOf(find("conv2d_group", 0)), "n:2 g:2 c:2 h:4 w:3 k:3*");
  EXPECT_EQ(spaceOf(find("conv2d_group", 1)), "n:2 g:2 k:3 h:8 w:9 c:2*");
  EXPECT_EQ(spaceOf(find("conv2d_group", 2)), "g:2 c:2 k:3 n:2* h:4* w:3*");
}

TEST_F(RulesTest, ConvolutionSpacesOfOneAndThreeDimensions) {
  EXPECT_EQ(spaceOf(find("conv1d", 0)), "n:2 g:2 c:2 w:4 k:2*");
  EXPECT_EQ(spaceOf(find("conv1d", 1)), "n:2 g:2 k:2 w:9 c:2*");
  EXPECT_EQ(spaceOf(find("conv3d", 0)), "n:2 g:1 c:3 d:2 h:4 w:3 k:2*");
  EXPECT_EQ(spaceOf(find("conv3d", 2)), "g:1 c:3 k:2 n:2* d:2* h:4* w:3*");
  EXPECT_EQ(spaceOf(find("max_pool1d", 0)), "n:2 c:3 w:5");
  EXPECT_EQ(spaceOf(find("max_pool3d", 1)), "n:2 c:2 d:4 h:3 w:5");
}

/// c is what the forward operator computes, k what it sums over.
TEST_F(RulesTest, TransposedConvolutionSpaces) {
  EXPECT_EQ(spaceOf(find("conv_transpose2d", 0)), "n:2 g:2 c:3 h:10 w:8 k:2*");
  EXPECT_EQ(spaceOf(find("conv_transpose2d", 1)), "n:2 g:2 k:2 h:3 w:4 c:3*");
  EXPECT_EQ(spaceOf(find("conv_transpose2d", 2)), "g:2 k:2 c:3 n:2* h:3* w:4*");
  EXPECT_EQ(find("conv_transpose2d", 0).getFamily(), "conv_transpose2d");
  EXPECT_EQ(find("conv_transpose1d", 0).getFamily(), "conv_transpose1d");
  EXPECT_EQ(find("conv_transpose3d", 0).getFamily(), "conv_transpose3d");
}

/// Rows of stride 2 with kernel 3 and pad 1; columns of stride 3.
TEST_F(RulesTest, ConvolutionReadsHalos) {
  PartitionableInterface conv = find("conv2d_group", 0);
  EXPECT_EQ(reads(conv, 0, {{"h", {1, 3}}, {"w", {1, 2}}}),
            "[0:2, 0:6, 1:6, 3:6]");
  EXPECT_EQ(reads(conv, 0, {{"g", {1, 2}}, {"k", {0, 2}}}),
            "[0:2, 3:5, 0:8, 0:9]");
  EXPECT_EQ(reads(conv, 0, {{"k", {1, 2}}}), "[0:2, 1:2+4:5, 0:8, 0:9]");
  EXPECT_EQ(reads(conv, 1, {{"c", {1, 2}}}), "[1:2+3:4, 0:3, 0:3, 0:2]");
  PartitionableInterface data = find("conv2d_group", 1);
  EXPECT_EQ(reads(data, 0, {{"h", {3, 5}}}), "[0:2, 0:4, 1:3, 0:3]");
}

TEST_F(RulesTest, BiasIsReadAtTheStartOfTheContraction) {
  PartitionableInterface conv = find("conv2d_bias", 0);
  EXPECT_EQ(reads(conv, 2, {{"k", {0, 2}}, {"c", {2, 4}}}), "[2:4]");
  EXPECT_EQ(reads(conv, 2, {{"k", {2, 4}}, {"c", {2, 4}}}), "[]");
}

/// Gradients have the dimension names of their forward product.
TEST_F(RulesTest, ProductSpaces) {
  EXPECT_EQ(spaceOf(find("matmul", 0)), "n:5 c:7 k:6*");
  EXPECT_EQ(spaceOf(find("matmul", 1)), "n:5 k:6 c:7*");
  EXPECT_EQ(spaceOf(find("matmul", 2)), "k:6 c:7 n:5*");
  EXPECT_EQ(spaceOf(find("matmul_whole_addend", 1)), "k:6 n:5 c:7*");
  EXPECT_EQ(spaceOf(find("matmul_whole_addend", 2)), "c:7 k:6 n:5*");
}

TEST_F(RulesTest, ProductsOfBatches) {
  EXPECT_EQ(spaceOf(find("matmul_sequences", 0)), "n:3 r:4 c:2 k:5*");
  EXPECT_EQ(spaceOf(find("matmul_sequences", 1)), "n:3 r:4 k:5 c:2*");
  EXPECT_EQ(spaceOf(find("matmul_sequences", 2)), "n:3* k:5 c:2 r:4*");
  EXPECT_EQ(spaceOf(find("matmul_heads", 0)), "n:2 h:3 r:4 c:2 k:5*");
  EXPECT_EQ(spaceOf(find("matmul_heads", 2)), "n:2 h:3 c:2 k:5 r:4*");
  EXPECT_EQ(spaceOf(find("matmul_broadcast", 1)), "n:3 h:2* k:5 r:4 c:2*");
  EXPECT_EQ(spaceOf(find("matmul_summed", 0)), "n:3* h:2 r:4 c:2 k:5*");

  PartitionableInterface heads = find("matmul_heads", 0);
  EXPECT_EQ(reads(heads, 1, {{"h", {1, 2}}, {"c", {0, 1}}}),
            "[0:2, 1:2, 0:1, 0:5]");
  PartitionableInterface linear = find("matmul_sequences", 0);
  EXPECT_EQ(reads(linear, 1, {{"n", {1, 2}}, {"k", {1, 3}}}), "[1:3, 0:2]");
  PartitionableInterface summed = find("matmul_summed", 0);
  EXPECT_EQ(reads(summed, 2, {{"n", {1, 2}}}), "[, ]");
}

TEST_F(RulesTest, ScalarAddendForbidsSplittingTheContraction) {
  plan::OpRules scalar = find("matmul_scalar_addend", 0).getRules();
  EXPECT_FALSE(scalar.splittable(scalar.findDim("k")));
  plan::OpRules vector = find("matmul_bias", 0).getRules();
  EXPECT_TRUE(vector.splittable(vector.findDim("k")));
}

TEST_F(RulesTest, LrnReadsChannelsAround) {
  PartitionableInterface lrn = find("lrn_even", 0);
  EXPECT_EQ(reads(lrn, 0, {{"c", {2, 3}}}), "[0:2, 1:5, 0:3]");
  PartitionableInterface backward = find("lrn_even", 1);
  EXPECT_EQ(reads(backward, 2, {{"c", {2, 3}}}), "[0:2, 0:4, 0:3]");
}

} // namespace
