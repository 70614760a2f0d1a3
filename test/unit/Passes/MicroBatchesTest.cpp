//===- MicroBatchesTest.cpp - what may go from micro-batches to updates ---===//

#include "ffc/Passes/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace ffc;

namespace {

class PassesOfStep : public ::testing::Test {
protected:
  PassesOfStep() {
    context.loadDialect<ff::FFDialect, mlir::func::FuncDialect>();
  }

  /// The graph of a step of two micro-batches, with an input x [4], a state w
  /// [4] and a gradient %g of it; empty if it is wrong, and then why.
  plan::Graph graphOf(const std::string &body, std::string &error) {
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            error = diagnostic.str();
                                            return mlir::success();
                                          });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        R"(func.func @main(%x: tensor<4xf32> {ff.name = "x"})
              attributes {ff.micro_batches = 2 : i64} {
          %w = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<4xf32>
          %g = ff.unary tanh(%x) {ff.role = "gradient"} : tensor<4xf32> -> tensor<4xf32> loc("g")
        )" + body +
            "return }",
        &context);
    EXPECT_TRUE(module);
    auto planned = buildPlanGraph(*module);
    return succeeded(planned) ? planned->graph : plan::Graph();
  }

  mlir::MLIRContext context;
};

TEST_F(PassesOfStep, EndBeforeTheUpdates) {
  std::string error;
  const plan::Graph graph = graphOf(R"(
      %new = ff.binary sub(%w, %g) {ff.role = "update"}
          : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("new")
      ff.store %new to "w" : tensor<4xf32>
    )",
                                    error);
  EXPECT_EQ(error, "");
  ASSERT_EQ(graph.ops.size(), 2u);
  EXPECT_EQ(graph.microBatches, 2);
  EXPECT_TRUE(graph.isRepeated(0));
  EXPECT_FALSE(graph.isRepeated(1));
  EXPECT_TRUE(graph.isAccumulated(graph.op(1).operands[1]));
  // Updates start together.
  const auto startsWithOthers = [&](plan::OpId op) {
    return graph.op(op).rules.schedules.front().phases.front().startsWithOthers;
  };
  EXPECT_FALSE(startsWithOthers(0));
  EXPECT_TRUE(startsWithOthers(1));
}

TEST_F(PassesOfStep, HaveUpdates) {
  std::string error;
  graphOf("", error);
  EXPECT_EQ(error,
            "expected gradients and updates in a step of 2 micro-batches");
}

TEST_F(PassesOfStep, ReadNoUpdates) {
  std::string error;
  graphOf(R"(
      %new = ff.binary sub(%w, %g) {ff.role = "update"}
          : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("new")
      %late = ff.unary tanh(%new) {ff.role = "gradient"} : tensor<4xf32> -> tensor<4xf32> loc("late")
    )",
          error);
  EXPECT_EQ(error, "'late' reads 'new', which is computed after the "
                   "micro-batches, expected only updates to do so");
}

TEST_F(PassesOfStep, GiveNoMaxima) {
  std::string error;
  graphOf(R"(
      %max = ff.reduce_max(%x) {axes = array<i64: 0>, keepdims = 1} : (tensor<4xf32>) -> tensor<1xf32> loc("max")
      %new = ff.binary sub(%w, %max) {ff.role = "update"}
          : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32> loc("new")
    )",
          error);
  EXPECT_EQ(error,
            "'new' reads 'max', of which every micro-batch has another value, "
            "expected one whose mean over the micro-batches can be taken");
}

TEST_F(PassesOfStep, GiveNoInputs) {
  std::string error;
  graphOf(R"(
      %new = ff.binary sub(%w, %x) {ff.role = "update"}
          : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("new")
    )",
          error);
  EXPECT_EQ(
      error,
      "'new' reads 'x', of which every micro-batch has another value, expected "
      "one whose mean over the micro-batches can be taken");
}

} // namespace
