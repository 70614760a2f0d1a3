//===- InputsTest.cpp - what flags say of inputs --------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

using DimTest = ImportFixture;

TEST_F(DimTest, ByPlace) {
  const char *graph = "g (float[?, ?, 6] x) => (float[1] y) { y = Relu(x) }";
  options.dims = {{"x:0", 2}, {"x:1", 5}};
  EXPECT_THAT(importGraph(graph), HasSubstr("%arg0: tensor<2x5x6xf32>"));
  options.dims = {{"x:-3", 2}, {"x:-2", 5}};
  EXPECT_THAT(importGraph(graph), HasSubstr("%arg0: tensor<2x5x6xf32>"));
  options.dims = {{"x:1", 5}};
  EXPECT_THAT(importGraph(graph),
              HasSubstr("dimension 0 of input 'x' is unknown and has no name; "
                        "give --dim x:0=VALUE or --batch-size"));
  options.batchSize = 2;
  EXPECT_THAT(importGraph(graph), HasSubstr("%arg0: tensor<2x5x6xf32>"));
}

TEST_F(DimTest, NegativeInTheModel) {
  onnx::ModelProto model =
      parseModel("g (float[1, 2] x) => (float[1] y) { y = Relu(x) }");
  auto *shape = model.mutable_graph()
                    ->mutable_input(0)
                    ->mutable_type()
                    ->mutable_tensor_type()
                    ->mutable_shape();
  shape->mutable_dim(0)->set_dim_value(-1);
  shape->mutable_dim(1)->set_dim_value(-1);
  EXPECT_THAT(importProto(model),
              HasSubstr("dimension 0 of input 'x' is -1 in the model; give "
                        "--dim x:0=VALUE or --batch-size"));
  options.batchSize = 3;
  EXPECT_THAT(importProto(model),
              HasSubstr("dimension 1 of input 'x' is -1 in the model; give "
                        "--dim x:1=VALUE"));
  options.dims["x:1"] = 4;
  EXPECT_THAT(importProto(model), HasSubstr("%arg0: tensor<3x4xf32>"));
}

// A place with a name is all places of that name.
TEST_F(DimTest, PlaceOfAName) {
  const char *graph = "g (float[N, 2] x, float[N, 2] z) => (float[1] y) "
                      "{ y = Add(x, z) }";
  options.dims = {{"z:0", 3}};
  EXPECT_THAT(importGraph(graph), AllOf(HasSubstr("%arg0: tensor<3x2xf32>"),
                                        HasSubstr("%arg1: tensor<3x2xf32>")));
  options.dims = {{"N", 4}, {"z:0", 3}};
  EXPECT_THAT(importGraph(graph),
              HasSubstr("--dim z:0=3: that is 'N', which is 4 by another "
                        "--dim"));
}

// Names of inputs, and of dimensions, may have colons.
TEST_F(DimTest, Colons) {
  onnx::ModelProto model =
      parseModel("g (float[a, 2] x, float[?, 2] z) => (float[1] y) "
                 "{ y = Add(x, z) }");
  auto rename = [&](int i, const std::string &name) {
    model.mutable_graph()->mutable_input(i)->set_name(name);
    model.mutable_graph()->mutable_node(0)->set_input(i, name);
  };
  rename(0, "x:0");
  rename(1, "z:0");
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("a:0");
  options.dims = {{"a:0", 3}, {"z:0:0", 3}};
  EXPECT_THAT(importProto(model), AllOf(HasSubstr("%arg0: tensor<3x2xf32>"),
                                        HasSubstr("%arg1: tensor<3x2xf32>")));
}

TEST_F(DimTest, Errors) {
  const char *graph = "g (float[?, 4] x) => (float[1] y) { y = Relu(x) }";
  auto errorOf = [&](const std::string &key, int64_t value) {
    options.dims = {{key, value}};
    return importGraph(graph);
  };
  EXPECT_THAT(errorOf("z:0", 2),
              HasSubstr("--dim z:0=2: expected an input of the model before "
                        "':', found 'z', which is none of: x"));
  for (const char *place :
       {"x:2", "x:-3", "x:", "x:one", "x:9999999999999999999"})
    EXPECT_THAT(errorOf(place, 2),
                HasSubstr("expected a dimension of input 'x' after ':', which "
                          "has 2, found '"))
        << place;
  EXPECT_THAT(errorOf("x:1", 5),
              HasSubstr("--dim x:1=5: the model has 4 there; only a batch can "
                        "be changed"));
  EXPECT_THAT(errorOf("x:0", -2),
              HasSubstr("--dim x:0=-2: expected a positive extent"));
  options.dims = {{"x:0", 1}, {"x:1", 4}};
  EXPECT_THAT(importGraph(graph), HasSubstr("%arg0: tensor<1x4xf32>"));
}

using FixTest = ImportFixture;

TEST_F(FixTest, ConditionsFold) {
  const char *graph =
      "g (float[4] x, int64 rate) => (float[4] y) { k = Constant<value_int = "
      "16>() c = Equal(rate, k) y = If (c) <then_branch = a () => (float[4] p) "
      "{ p = Relu(x) }, else_branch = b () => (float[4] q) { q = Tanh(x) }> }";
  EXPECT_THAT(importGraph(graph),
              HasSubstr("unsupported operators: If on a computed condition (1: "
                        "'y'); --fix INPUT=VALUE makes an input a constant"));
  options.fixed["rate"] = "16";
  EXPECT_THAT(importGraph(graph),
              AllOf(HasSubstr("relu"), Not(HasSubstr("tanh")),
                    Not(HasSubstr("\"rate\""))));
  options.fixed["rate"] = "17";
  EXPECT_THAT(importGraph(graph),
              AllOf(HasSubstr("tanh"), Not(HasSubstr("relu"))));
}

TEST_F(FixTest, ShapesFold) {
  const char *graph = "g (float[6] x, int64[1] n) => (float[1] y) { "
                      "m = Constant<value_ints = [-1]>() "
                      "s = Concat<axis = 0>(n, m) y = Reshape(x, s) }";
  EXPECT_THAT(
      importGraph(graph),
      HasSubstr("which is computed or an input; --fix INPUT=VALUE makes "
                "an input a constant"));
  options.fixed["n"] = "3";
  EXPECT_THAT(importGraph(graph), HasSubstr("-> tensor<3x2xf32>"));
}

TEST_F(FixTest, Types) {
  options.fixed = {{"b", "true"}, {"f", "0.5"}, {"i", "-3"}};
  EXPECT_THAT(
      importGraph("g (float[2] x, bool b, float[2] f, int32[2] i) => "
                  "(float[2] y, float[2] z, int32[2] w) { "
                  "y = If (b) <then_branch = a () => (float[2] p) { p = Mul(x, "
                  "f) }, else_branch = c () => (float[2] q) { q = Relu(x) }> "
                  "z = Pow(x, f) w = Neg(i) }"),
      AllOf(HasSubstr("\"f\" \"constant\""), HasSubstr("-> tensor<2xf32>"),
            Not(HasSubstr("\"parameter\""))));
}

// A weight that is fixed is none, and a mask may be large.
TEST_F(FixTest, NothingIsTrained) {
  options.fixed = {{"w", "1"}, {"m", "-inf"}};
  options.batchSize = 2;
  EXPECT_THAT(importGraph("g (float[N, 300] x, float[300, 300] w, "
                          "float[N, 300] m) => (float[1] y) "
                          "{ a = MatMul(x, w) y = Add(a, m) }"),
              AllOf(Not(HasSubstr("\"parameter\"")),
                    HasSubstr("\"w\" \"constant\""),
                    HasSubstr("main(%arg0: tensor<2x300xf32>")));
}

TEST_F(FixTest, Errors) {
  const char *graph = "g (float[2] x, int32[2] i, bool[2] b, uint8[2] u) => "
                      "(float[2] y) { c = Cast<to = 1>(i) d = Cast<to = 1>(b) "
                      "e = Cast<to = 1>(u) y = Sum(x, c, d, e) }";
  auto errorOf = [&](const std::string &name, const std::string &text) {
    options.fixed = {{name, text}};
    return importGraph(graph);
  };
  EXPECT_THAT(errorOf("rate", "1"),
              HasSubstr("--fix rate=1: expected an input of the model, found "
                        "'rate', which is none of: x, i, b, u"));
  for (auto [name, type, text] :
       {std::tuple("i", "int32", "0.5"), std::tuple("i", "int32", "3000000000"),
        std::tuple("i", "int32", "true"), std::tuple("i", "int32", ""),
        std::tuple("b", "bool", "2"), std::tuple("b", "bool", "yes"),
        std::tuple("u", "uint8", "-1"), std::tuple("u", "uint8", "256"),
        std::tuple("x", "float", "nan"), std::tuple("x", "float", "one")})
    EXPECT_THAT(errorOf(name, text),
                HasSubstr(std::string("expected a number of type ") + type +
                          ", found '" + text + "'"))
        << name << "=" << text;
  options.fixed = {{"i", "1"}};
  EXPECT_THAT(importGraph("g (float[2] x, int64[70000] i) => (float[2] y) { "
                          "c = Cast<to = 1>(i) y = Add(x, c) }"),
              HasSubstr("--fix: input 'i' has 70000 elements of type int64, "
                        "expected at most 65536"));
}

} // namespace
