//===- SampleDimsTest.cpp - where the samples are -------------------------===//

#include "ffc/Plan/SampleDims.h"
#include "ffc/Passes/Passes.h"

#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace ffc;

namespace {

class SampleDims : public ::testing::Test {
protected:
  SampleDims() {
    context.loadDialect<ff::FFDialect, mlir::func::FuncDialect>();
  }

  /// The graph of the operators in `body`, which may use parameters w [4, 16]
  /// and r [16, 4].
  plan::Graph graphOf(const std::string &arguments, const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>("func.func @main(" +
                                                         arguments + R"() {
          %w = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<4x16xf32>
          %r = ff.state "r" "parameter" init <constant, 0.0 : f64, 0> : tensor<16x4xf32>
        )" + body + "return }",
                                                     &context);
    EXPECT_TRUE(module);
    auto planned = buildPlanGraph(*module);
    EXPECT_TRUE(succeeded(planned));
    return planned->graph;
  }

  /// Names of the sample dimensions of all operators.
  static std::vector<std::string> namesIn(const plan::Graph &graph) {
    std::vector<std::string> names;
    for (const plan::Op &op : graph.ops) {
      names.emplace_back();
      for (const plan::IterDim &dim : op.rules.dims)
        if (dim.kind == plan::DimKind::Sample)
          names.back() += dim.name;
    }
    return names;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

const char *const kStepsFirst = "%x: tensor<7x3x4xf32> {ff.name = \"x\"}";
const char *const kSamplesFirst = "%x: tensor<3x7x4xf32> {ff.name = \"x\"}";

TEST_F(SampleDims, AreTheSecondOnesOfARecurrentLayer) {
  plan::Graph graph = graphOf(kStepsFirst, R"(
      %0 = ff.unary tanh(%x) : tensor<7x3x4xf32> -> tensor<7x3x4xf32>
      %1 = ff.matmul(%0, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
          : (tensor<7x3x4xf32>, tensor<4x16xf32>) -> tensor<7x3x16xf32>
      %2:4 = ff.recurrent lstm(%1, %r) {reverse = 0 : i64} : (tensor<7x3x16xf32>, tensor<16x4xf32>)
          -> (tensor<7x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<7x3x20xf32>)
      %3 = ff.unary tanh(%2#0) : tensor<7x3x4xf32> -> tensor<7x3x4xf32>
      %4 = ff.unary relu(%2#1) : tensor<3x4xf32> -> tensor<3x4xf32>
      ff.output %3 as "out/y" : tensor<7x3x4xf32>
      ff.output %4 as "out/h" : tensor<3x4xf32>
  )");
  EXPECT_THAT(namesIn(graph), testing::ElementsAre("c", "r", "n", "c", "n"));
}

TEST_F(SampleDims, FollowTranspositions) {
  plan::Graph graph = graphOf(kSamplesFirst, R"(
      %0 = ff.transpose(%x) {perm = array<i64: 1, 0, 2>} : (tensor<3x7x4xf32>) -> tensor<7x3x4xf32>
      %1 = ff.reshape(%0) : (tensor<7x3x4xf32>) -> tensor<7x3x2x2xf32>
      %2 = ff.unary tanh(%1) : tensor<7x3x2x2xf32> -> tensor<7x3x2x2xf32>
      ff.output %2 as "out/y" : tensor<7x3x2x2xf32>
  )");
  EXPECT_THAT(namesIn(graph), testing::ElementsAre("c", "c", "c"));
}

TEST_F(SampleDims, AreNotInOperatorsOnState) {
  plan::Graph graph = graphOf(kSamplesFirst, R"(
      %0 = ff.unary tanh(%w) : tensor<4x16xf32> -> tensor<4x16xf32>
      %1 = ff.unary tanh(%x) : tensor<3x7x4xf32> -> tensor<3x7x4xf32>
      ff.output %0 as "out/w" : tensor<4x16xf32>
      ff.output %1 as "out/y" : tensor<3x7x4xf32>
  )");
  EXPECT_THAT(namesIn(graph), testing::ElementsAre("", "n"));
}

// The kind stays a guess; the dimension is the one that they are part of.
TEST_F(SampleDims, AreGuessedWhereTheyAreMerged) {
  plan::Graph graph = graphOf(kSamplesFirst, R"(
      %0 = ff.transpose(%x) {perm = array<i64: 1, 0, 2>} : (tensor<3x7x4xf32>) -> tensor<7x3x4xf32>
      %1 = ff.reshape(%0) : (tensor<7x3x4xf32>) -> tensor<21x4xf32>
      %2 = ff.unary tanh(%1) : tensor<21x4xf32> -> tensor<21x4xf32>
      ff.output %2 as "out/y" : tensor<21x4xf32>
  )");
  EXPECT_EQ(plan::sampleDims(graph)[2], 0);
  EXPECT_EQ(namesIn(graph)[2], "n");
}

} // namespace
