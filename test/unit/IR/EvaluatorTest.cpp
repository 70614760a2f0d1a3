//===- EvaluatorTest.cpp - the value of an ff module ----------------------===//

#include "ffc/Reference/Evaluator.h"

#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

class EvaluatorTest : public ::testing::Test {
protected:
  EvaluatorTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          messages += diagnostic.str() + "\n";
        }) {
    context.loadDialect<func::FuncDialect, FFDialect>();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  ReferenceContext scalars;
};

const char *const kStep = R"(
  func.func @main(%x: tensor<1x2xf32> {ff.name = "x"}) {
    %w = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<2x2xf32>
    %r = ff.state "r" "constant" init <constant, 0.0 : f64, 0> : tensor<1xf32>
    %y = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
        trans_a = 0 : i64, trans_b = 1 : i64}
        : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %u = ff.unary scale(%w) alpha 2.0 : tensor<2x2xf32> -> tensor<2x2xf32>
    ff.store %u to "w" : tensor<2x2xf32>
    ff.output %y as "out/y" : tensor<1x2xf32>
    return
  })";

TEST_F(EvaluatorTest, StatesGoFromStepToStep) {
  auto module = parse(kStep);
  ASSERT_TRUE(module);
  TensorValues inputs = {{"x", {{1, 2}, {1, 10}}}};
  TensorValues states = {{"w", {{2, 2}, {1, 2, 3, 4}}}, {"r", {{1}, {7}}}};
  auto first = evaluate(*module, inputs, states, scalars);
  ASSERT_TRUE(succeeded(first));
  EXPECT_THAT(first->outputs["out/y"].data, ElementsAre(21, 43));
  EXPECT_THAT(first->states["w"].data, ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(first->states["r"].data, ElementsAre(7));
  auto second = evaluate(*module, inputs, first->states, scalars);
  ASSERT_TRUE(succeeded(second));
  EXPECT_THAT(second->outputs["out/y"].data, ElementsAre(42, 86));
}

/// Functions of bits are of 32 where programs have so many.
TEST_F(EvaluatorTest, BitsAreAsManyAsInPrograms) {
  auto module = parse(R"(
  func.func @main(%x: tensor<2xi32> {ff.name = "x"},
                  %n: tensor<2xi32> {ff.name = "n"}) {
    %l = ff.bitwise shift_left(%x, %n)
        : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %r = ff.bitwise shift_right(%l, %n)
        : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %u = ff.bitwise shift_right_unsigned(%l, %n)
        : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    ff.output %r as "out/r" : tensor<2xi32>
    ff.output %u as "out/u" : tensor<2xi32>
    return
  })");
  ASSERT_TRUE(module);
  TensorValues inputs = {{"x", {{2}, {40000, -3}}}, {"n", {{2}, {16, 16}}}};
  auto result = evaluate(*module, inputs, {}, scalars);
  ASSERT_TRUE(succeeded(result));
  EXPECT_THAT(result->outputs["out/r"].data, ElementsAre(40000 - 65536, -3));
  EXPECT_THAT(result->outputs["out/u"].data, ElementsAre(40000, 65533));
}

TEST_F(EvaluatorTest, MissingInput) {
  auto module = parse(kStep);
  ASSERT_TRUE(module);
  EXPECT_TRUE(failed(evaluate(*module, {}, {}, scalars)));
  EXPECT_THAT(messages, HasSubstr("input 'x': expected a value, found none"));
}

TEST_F(EvaluatorTest, WrongShape) {
  auto module = parse(kStep);
  ASSERT_TRUE(module);
  TensorValues inputs = {{"x", {{1, 2}, {1, 10}}}};
  TensorValues states = {{"w", {{4}, {1, 2, 3, 4}}}};
  EXPECT_TRUE(failed(evaluate(*module, inputs, states, scalars)));
  EXPECT_THAT(messages,
              HasSubstr("state 'w': expected shape [2, 2], found [4]"));
}

TEST_F(EvaluatorTest, NoMain) {
  auto module = parse("func.func @other() { return }");
  EXPECT_TRUE(failed(evaluate(*module, {}, {}, scalars)));
  EXPECT_THAT(messages, HasSubstr("expected a function 'main' with a body"));
}

TEST_F(EvaluatorTest, UnnamedArgument) {
  auto module = parse("func.func @main(%x: tensor<1xf32>) { return }");
  EXPECT_TRUE(failed(evaluate(*module, {}, {}, scalars)));
  EXPECT_THAT(messages,
              HasSubstr("expected argument 0 to have the attribute 'ff.name'"));
}

TEST_F(EvaluatorTest, ForeignOperator) {
  auto module = parse(R"(
    func.func @f() { return }
    func.func @main() {
      func.call @f() : () -> ()
      return
    })");
  EXPECT_TRUE(failed(evaluate(*module, {}, {}, scalars)));
  EXPECT_THAT(messages,
              HasSubstr("expected an operator that can be evaluated"));
}

//===----------------------------------------------------------------------===//
// Reference kernels against values worked out by hand
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorTest, KeepsWhatIsNoNumber) {
  const std::string functions[] = {"relu(%x)",
                                   "sign(%x)",
                                   "clip(%x) alpha -1.0 beta 1.0",
                                   "hard_sigmoid(%x) alpha 0.2 beta 0.5",
                                   "hard_swish(%x)",
                                   "softplus(%x)"};
  std::string body;
  int number = 0;
  for (const std::string &function : functions) {
    const std::string name = std::to_string(number++);
    body += "%" + name + " = ff.unary " + function +
            " : tensor<1x1x2x2xf32> -> tensor<1x1x2x2xf32>\n";
    body +=
        "ff.output %" + name + " as \"" + name + "\" : tensor<1x1x2x2xf32>\n";
  }
  auto module = parse("func.func @main(%x: tensor<1x1x2x2xf32> "
                      "{ff.name = \"x\"}) {\n" +
                      body + R"(
      %max = ff.reduce_max(%x) {axes = array<i64: 3>, keepdims = 0 : i64}
          : (tensor<1x1x2x2xf32>) -> tensor<1x1x2xf32>
      %pool, %i = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
          kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
          strides = array<i64: 1, 1>}
          : (tensor<1x1x2x2xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xi32>)
      ff.output %max as "max" : tensor<1x1x2xf32>
      ff.output %pool as "pool" : tensor<1x1x1x1xf32>
      return
    })");
  ASSERT_TRUE(module) << messages;
  for (size_t at = 0; at < 4; ++at) {
    std::vector<double> x = {1, 2, -3, 4};
    x[at] = NAN;
    auto result = evaluate(*module, {{"x", {{1, 1, 2, 2}, x}}}, {}, scalars);
    ASSERT_TRUE(succeeded(result));
    for (const auto &[name, y] : result->outputs) {
      const size_t there = name == "pool" ? 0 : name == "max" ? at / 2 : at;
      EXPECT_TRUE(std::isnan(y.data[there])) << name << " " << at;
    }
  }
}

TEST_F(EvaluatorTest, MaxPoolKeepsTheFirstMaximum) {
  auto module = parse(R"(
    func.func @main(%x: tensor<1x1x3x3xf32> {ff.name = "x"}) {
      %y, %i = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
          kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
          strides = array<i64: 1, 1>}
          : (tensor<1x1x3x3xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi32>)
      ff.output %y as "y" : tensor<1x1x2x2xf32>
      ff.output %i as "i" : tensor<1x1x2x2xi32>
      return
    })");
  ASSERT_TRUE(module);
  TensorValues inputs = {{"x", {{1, 1, 3, 3}, {1, 5, 2, 5, 0, 0, 1, 2, 9}}}};
  auto result = evaluate(*module, inputs, {}, scalars);
  ASSERT_TRUE(succeeded(result));
  EXPECT_THAT(result->outputs["y"].data, ElementsAre(5, 5, 5, 9));
  EXPECT_THAT(result->outputs["i"].data, ElementsAre(1, 1, 3, 8));
}

TEST_F(EvaluatorTest, AveragePoolCountsDeclaredPadsOnly) {
  for (int include : {0, 1}) {
    auto module = parse(R"(
      func.func @main(%x: tensor<1x1x1x4xf32> {ff.name = "x"}) {
        %y = ff.average_pool(%x) {count_include_pad = )" +
                        std::to_string(include) + R"( : i64,
            kernel_shape = array<i64: 1, 3>, pads = array<i64: 0, 1, 0, 1>,
            strides = array<i64: 1, 2>}
            : (tensor<1x1x1x4xf32>) -> tensor<1x1x1x3xf32>
        ff.output %y as "y" : tensor<1x1x1x3xf32>
        return
      })");
    ASSERT_TRUE(module);
    TensorValues inputs = {{"x", {{1, 1, 1, 4}, {1, 2, 4, 8}}}};
    auto result = evaluate(*module, inputs, {}, scalars);
    ASSERT_TRUE(succeeded(result));
    // Windows: [pad, 1, 2], [2, 4, 8], [8, pad, beyond].
    if (include)
      EXPECT_THAT(result->outputs["y"].data,
                  ElementsAre(1, DoubleEq(14.0 / 3), 4));
    else
      EXPECT_THAT(result->outputs["y"].data,
                  ElementsAre(1.5, DoubleEq(14.0 / 3), 8));
  }
}

TEST_F(EvaluatorTest, LrnWindowLeansForward) {
  auto module = parse(R"(
    func.func @main(%x: tensor<1x3xf32> {ff.name = "x"}) {
      %y, %s = ff.lrn(%x) {alpha = 2.0 : f64, beta = 1.0 : f64,
          bias = 1.0 : f64, size = 2 : i64}
          : (tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>)
      ff.output %y as "y" : tensor<1x3xf32>
      ff.output %s as "s" : tensor<1x3xf32>
      return
    })");
  ASSERT_TRUE(module);
  TensorValues inputs = {{"x", {{1, 3}, {1, 2, 3}}}};
  auto result = evaluate(*module, inputs, {}, scalars);
  ASSERT_TRUE(succeeded(result));
  EXPECT_THAT(result->outputs["s"].data, ElementsAre(6, 14, 10));
  EXPECT_THAT(
      result->outputs["y"].data,
      ElementsAre(DoubleEq(1.0 / 6), DoubleEq(2.0 / 14), DoubleEq(0.3)));
}

//===----------------------------------------------------------------------===//
// View
//===----------------------------------------------------------------------===//

TEST(ViewTest, PackedRegions) {
  double data[] = {1, 2, 3, 4, 5, 6};
  View view(data, plan::Region({{{1, 3}}, {{0, 1}, {4, 6}}}), {4, 6});
  EXPECT_EQ(view.at({1, 0}), 1);
  EXPECT_EQ(view.at({1, 4}), 2);
  EXPECT_EQ(view.at({2, 0}), 4);
  EXPECT_EQ(view.at({2, 5}), 6);
  EXPECT_EQ(view.fault(), "");
  view.at({2, 1});
  view.at({0, 0});
  EXPECT_EQ(view.fault(), "element [2, 1]");
}

TEST(ViewTest, Absent) {
  View view;
  EXPECT_FALSE(view.present());
  view.at({0});
  EXPECT_EQ(view.fault(), "element [0]");
}

} // namespace
