//===- ImportTest.cpp - what models become --------------------------------===//

#include "TestModel.h"

#include "ffc/IR/Hash.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class ImportTest : public ImportFixture {};

TEST_F(ImportTest, RolesOfValues) {
  std::string text = importGraph(
      "g (float[N, 3] x, float[4, 3] w, float[4] b, float[4] s = {1, 2, 3, 4})"
      " => (float[N, 4] y) {\n"
      "  h = Gemm<transB = 1>(x, w, b)\n"
      "  c = Constant<value_floats = [0.5, 0.5, 0.5, 0.5]>()\n"
      "  i = Mul(h, c)\n"
      "  y = Add(i, s)\n"
      "}");
  EXPECT_THAT(text, HasSubstr("--dim N=VALUE"));
  options.batchSize = 8;
  text = importFile(path("m.onnxtxt"));
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("main(%arg0: tensor<8x3xf32> {ff.name = \"x\"})"),
          // sqrt(6 / (3 + 4))
          HasSubstr("\"w\" \"parameter\" init <uniform, 0.9258200"),
          HasSubstr("\"b\" \"parameter\" init <constant, 0.000000e+00"),
          HasSubstr("\"s\" \"parameter\" init <file, 0.000000e+00 : f64, 64>"),
          HasSubstr("\"c\" \"parameter\" init <file, 0.000000e+00 : f64, 0>"),
          HasSubstr("as \"out/y\" : tensor<8x4xf32>"),
          HasSubstr("ff.aliases = [\"i\"]")));
}

TEST_F(ImportTest, FansOfConvolutions) {
  options.init = "he-uniform";
  EXPECT_THAT(importGraph("g (float[1, 4, 8, 8] x, float[6, 2, 3, 3] w) => "
                          "(float[1] y) { y = Conv<group = 2>(x, w) }"),
              // sqrt(6 / (2 * 3 * 3))
              HasSubstr("init <uniform, 0.57735"));
}

TEST_F(ImportTest, Inits) {
  const char *graph = "g (float[2, 8] x, float[8, 4] w) => (float[2, 4] y) "
                      "{ y = MatMul(x, w) }";
  for (auto [init, text] : std::vector<std::pair<const char *, const char *>>{
           {"he-normal", "<normal, 5.000000e-01"},
           {"lecun-normal", "<normal, 0.35355"},
           {"normal:0.25", "<normal, 2.500000e-01"},
           {"uniform:0.5", "<uniform, 5.000000e-01"},
           {"zeros", "<constant, 0.000000e+00"}}) {
    options.init = init;
    EXPECT_THAT(importGraph(graph), HasSubstr(text)) << init;
  }
}

TEST_F(ImportTest, ProductsOfBatchesAndVectors) {
  std::string text = importGraph(
      "g (float[8, 5, 16] x, float[8, 1, 16, 3] k, float[16, 4] w) => "
      "(float[8, 5, 4] y, float[8, 8, 5, 3] s) {\n"
      "  y = MatMul(x, w)\n"
      "  s = MatMul(x, k)\n"
      "}");
  EXPECT_THAT(text, AllOf(HasSubstr("(tensor<8x5x16xf32>, tensor<16x4xf32>) "
                                    "-> tensor<8x5x4xf32>"),
                          HasSubstr("-> tensor<8x8x5x3xf32>")));
  // A vector is a row on the left, a column on the right.
  text = importGraph("g (float[3] x, float[2, 3, 4] m, float[4] z) => "
                     "(float[2, 4] l, float[2, 3] r, float d) {\n"
                     "  l = MatMul(x, m)\n"
                     "  r = MatMul(m, z)\n"
                     "  d = MatMul(x, x)\n"
                     "}");
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("(tensor<1x3xf32>, tensor<2x3x4xf32>) -> "
                      "tensor<2x1x4xf32>"),
            HasSubstr("(tensor<2x1x4xf32>) -> tensor<2x4xf32>"),
            HasSubstr("(tensor<2x3x4xf32>, tensor<4x1xf32>) -> "
                      "tensor<2x3x1xf32>"),
            HasSubstr("(tensor<1x3xf32>, tensor<3x1xf32>) -> tensor<1x1xf32>"),
            HasSubstr("(tensor<1x1xf32>) -> tensor<f32>")));
}

TEST_F(ImportTest, ConstantOfShapeIsWeightOrConstant) {
  std::string text =
      importGraph("g (float[2, 3] x, int64[2] s = {3, 4}, int64[1] t = {4}) => "
                  "(float[2, 4] y) {\n"
                  "  w = ConstantOfShape<value = float[1] {0.5}>(s)\n"
                  "  c = ConstantOfShape<value = float[1] {0.5}>(t)\n"
                  "  h = MatMul(x, w)\n"
                  "  y = Mul(h, c)\n"
                  "}");
  EXPECT_THAT(text, AllOf(HasSubstr("\"w\" \"parameter\" init <uniform"),
                          HasSubstr("\"c\" \"constant\" init <constant, 5.0")));
}

TEST_F(ImportTest, IdentityTiesParameters) {
  std::string text = importGraph(
      "g (float[2, 2] x, float[2, 2] w = {1, 2, 3, 4}) => (float[2, 2] y) {\n"
      "  v = Identity(w)\n"
      "  h = MatMul(x, w)\n"
      "  y = MatMul(h, v)\n"
      "}");
  EXPECT_THAT(text, AllOf(HasSubstr("ff.state \"w\""),
                          Not(HasSubstr("ff.state \"v\""))));
}

TEST_F(ImportTest, UnsortedNodesAndDomains) {
  std::string text = importText(
      "<ir_version: 3, opset_import: [\"\" : 13, \"ai.onnx\" : 13]>\n"
      "g (float[2] x) => (float[2] y) { y = Tanh(h) h = ai.onnx.Relu(x) }");
  EXPECT_LT(text.find("relu"), text.find("tanh"));
}

TEST_F(ImportTest, ContradictingOpsets) {
  EXPECT_THAT(importText("<ir_version: 7, opset_import: [\"\" : 13, "
                         "\"ai.onnx\" : 12]>\n"
                         "g (float[2] x) => (float[2] y) { y = Relu(x) }"),
              HasSubstr("imports opset 13 and opset 12, expected one"));
  EXPECT_THAT(importText("<ir_version: 7, opset_import: [\"a\" : 1]>\n"
                         "g (float[2] x) => (float[2] y) { y = Relu(x) }"),
              HasSubstr("imports no opset of the domain ai.onnx"));
  EXPECT_THAT(importText("<ir_version: 2, opset_import: [\"\" : 7]>\n"
                         "g (float[2] x) => (float[2] y) { y = Relu(x) }"),
              HasSubstr("expected IR version 3 or later, found 2"));
}

TEST_F(ImportTest, ShapeArithmeticIsFolded) {
  std::string text = importGraph("g (float[N, 2, 3] x) => (float[N, 6] y) {\n"
                                 "  s = Shape(x)\n"
                                 "  i = Constant<value_int = 0>()\n"
                                 "  a = Constant<value_ints = [0]>()\n"
                                 "  m = Constant<value_ints = [-1]>()\n"
                                 "  n = Gather(s, i)\n"
                                 "  u = Unsqueeze(n, a)\n"
                                 "  t = Concat<axis = 0>(u, m)\n"
                                 "  y = Reshape(x, t)\n"
                                 "}");
  options.batchSize = 5;
  EXPECT_THAT(
      importFile(path("m.onnxtxt")),
      AllOf(HasSubstr("-> tensor<5x6xf32>"), Not(HasSubstr("ff.state"))));
}

TEST_F(ImportTest, ExtremesOfAnyNumberOfConstants) {
  EXPECT_THAT(importGraph("g (float[6] x, int64[2] a = {2, 1}, int64 b = {1}, "
                          "int64[2] c = {0, 3}, int64 d = {9}) => "
                          "(float[2, 3] y) {\n"
                          "  m = Max(a, b, c)\n" // 2 3
                          "  n = Min(d, m, d, d)\n"
                          "  y = Reshape(x, n)\n"
                          "}"),
              HasSubstr("-> tensor<2x3xf32>"));
}

TEST_F(ImportTest, SliceAndArithmeticOnConstants) {
  // [1, 2, 3, 4] reversed from 3 down by 2 is [4, 2]; minus 1: [3, 1].
  EXPECT_THAT(
      importGraph("g (float[3] x, int64[4] a = {1, 2, 3, 4}, "
                  "int64[1] s = {-1}, int64[1] e = {-9}, int64[1] d = {0}, "
                  "int64[1] t = {-2}, int64 o = {1}) => (float[3, 1] y) {\n"
                  "  b = Slice(a, s, e, d, t)\n"
                  "  c = Sub(b, o)\n"
                  "  y = Reshape(x, c)\n"
                  "}"),
      HasSubstr("-> tensor<3x1xf32>"));
}

TEST_F(ImportTest, ConstantConditionPicksBranch) {
  std::string text = importGraph(
      "g (float[2] x, int64 a = {3}, int64 b = {3}) => (float[2] y) {\n"
      "  c = Equal(a, b)\n"
      "  y = If (c) <then_branch = t () => (float[2] p) { p = Relu(x) },\n"
      "              else_branch = e () => (float[2] q) { q = Foo(x) }>\n"
      "}");
  EXPECT_THAT(text, HasSubstr("relu"));
}

TEST_F(ImportTest, Dropout) {
  const char *graph = "g (float[2] x, float r = {0.25}, bool t = {1}) => "
                      "(float[2] y) { y = Dropout(x, r, t) }";
  auto key = static_cast<int64_t>(ff::hashName("y"));
  EXPECT_THAT(importGraph(graph),
              AllOf(HasSubstr("ratio = 2.500000e-01"),
                    HasSubstr("key = " + std::to_string(key) + " ")));
  options.dropout = 0.5;
  EXPECT_THAT(importGraph(graph), HasSubstr("ratio = 5.000000e-01"));
  options.dropout = 0;
  EXPECT_THAT(importGraph(graph), Not(HasSubstr("ff.dropout")));
  options.dropout.reset();
  options.training = false;
  EXPECT_THAT(importGraph(graph), Not(HasSubstr("ff.dropout")));
}

// What drops nothing keeps everything.
TEST_F(ImportTest, MaskOfDropout) {
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y, bool[2] m) "
                          "{ y, m = Dropout(x) }"),
              AllOf(HasSubstr("\"m\" \"constant\" init <constant, 1.0"),
                    HasSubstr("(tensor<2xf32>) -> tensor<2xi1>"),
                    HasSubstr("ff.output %arg0 as \"out/y\"")));
  options.training = false;
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y, float[2] m) "
                          "{ y, m = Dropout(x) }",
                          /*opset=*/9),
              AllOf(HasSubstr("\"m\" \"constant\" init <constant, 1.0"),
                    Not(HasSubstr("ff.cast"))));
}

// A position in a channel becomes one in the whole tensor.
TEST_F(ImportTest, IndicesOfMaxPool) {
  auto pool = [&](const std::string &shape, const std::string &attributes) {
    return importGraph("g (float[" + shape +
                       "] x) => (float[1] y, int64[1] i) "
                       "{ y, i = MaxPool<" +
                       attributes + ">(x) }");
  };
  EXPECT_THAT(pool("1, 1, 4, 4", "kernel_shape = [2, 2]"),
              AllOf(HasSubstr("(tensor<1x1x3x3xi32>) -> tensor<1x1x3x3xf32>"),
                    HasSubstr("-> tensor<1x1x3x3xi64>"),
                    Not(HasSubstr(" add(")), Not(HasSubstr("floor("))));
  EXPECT_THAT(pool("2, 3, 4, 4", "kernel_shape = [2, 2]"),
              AllOf(HasSubstr("\"y.planes\" \"constant\""),
                    HasSubstr(": tensor<2x3x1x1xf32>"), HasSubstr(" add("),
                    HasSubstr("ff.aliases = [\"i\"]")));
  EXPECT_THAT(pool("1, 1, 4, 5", "kernel_shape = [2, 2], storage_order = 1"),
              AllOf(HasSubstr("shift(%0) alpha 5.000000e-01"),
                    HasSubstr("alpha 2.000000e-01"), HasSubstr("floor("),
                    HasSubstr("alpha 5.0"), HasSubstr(" sub("),
                    HasSubstr("alpha 4.0"), HasSubstr(" add(")));
  EXPECT_THAT(importGraph("g (uint8[1, 1, 4, 4] x) => (uint8[1] y) "
                          "{ y = MaxPool<kernel_shape = [2, 2]>(x) }"),
              AllOf(HasSubstr("(tensor<1x1x4x4xi8>) -> tensor<1x1x4x4xf32>"),
                    HasSubstr("-> tensor<1x1x3x3xi8>")));
}

TEST_F(ImportTest, SoftmaxAxes) {
  const char *graph = "g (float[2, 3, 4] x) => (float[2, 3, 4] y) "
                      "{ y = Softmax(x) }";
  EXPECT_THAT(importGraph(graph, 12), HasSubstr("axes = array<i64: 1, 2>"));
  EXPECT_THAT(importGraph(graph, 13), HasSubstr("axes = array<i64: 2>"));
}

TEST_F(ImportTest, Windows) {
  EXPECT_THAT(importGraph("g (float[1, 1, 7, 7] x) => (float[1] y) { y = "
                          "MaxPool<kernel_shape = [2, 2], strides = [2, 2], "
                          "ceil_mode = 1>(x) }"),
              HasSubstr("tensor<1x1x4x4xf32>"));
  // The fourth window would start behind the image.
  EXPECT_THAT(importGraph("g (float[1, 1, 6, 6] x) => (float[1] y) { y = "
                          "MaxPool<kernel_shape = [2, 2], strides = [2, 2], "
                          "pads = [0, 0, 1, 1], ceil_mode = 1>(x) }"),
              HasSubstr("tensor<1x1x3x3xf32>"));
  EXPECT_THAT(importGraph("g (float[1, 1, 5, 5] x) => (float[1] y) { y = "
                          "AveragePool<kernel_shape = [2, 2], "
                          "auto_pad = \"SAME_LOWER\">(x) }"),
              AllOf(HasSubstr("pads = array<i64: 1, 1, 0, 0>"),
                    HasSubstr("-> tensor<1x1x5x5xf32>")));
}

TEST_F(ImportTest, WindowsOfOneAndThreeDimensions) {
  EXPECT_THAT(importGraph("g (float[1, 2, 9] x, float[4, 2, 3] w) => "
                          "(float[1] y) { y = Conv<strides = [2], "
                          "auto_pad = \"SAME_UPPER\">(x, w) }"),
              AllOf(HasSubstr("pads = array<i64: 1, 1>"),
                    HasSubstr("-> tensor<1x4x5xf32>")));
  EXPECT_THAT(importGraph("g (float[1, 2, 5, 6, 7] x) => (float[1] y) { y = "
                          "GlobalMaxPool(x) }"),
              AllOf(HasSubstr("ff.max_pool"),
                    HasSubstr("kernel_shape = array<i64: 5, 6, 7>"),
                    HasSubstr("-> (tensor<1x2x1x1x1xf32>")));
  EXPECT_THAT(importGraph("g (float[1, 2, 9] x) => (float[1] y) { y = "
                          "GlobalAveragePool(x) }"),
              AllOf(HasSubstr("ff.average_pool"),
                    HasSubstr("kernel_shape = array<i64: 9>")));
}

TEST_F(ImportTest, TransposedConvolutions) {
  EXPECT_THAT(importGraph("g (float[1, 4, 3, 3] x, float[4, 2, 3, 3] w, "
                          "float[4] b) => (float[1] y) { y = ConvTranspose<"
                          "group = 2, strides = [2, 3], pads = [1, 0, 1, 0], "
                          "output_padding = [1, 0]>(x, w, b) }"),
              AllOf(HasSubstr("ff.conv_backward_data"),
                    HasSubstr("transposed} : (tensor<1x4x3x3xf32>, "
                              "tensor<4x2x3x3xf32>) -> tensor<1x4x6x9xf32>"),
                    HasSubstr("(tensor<4xf32>) -> tensor<4x1x1xf32>"),
                    HasSubstr("ff.binary")));
  // Pads follow from the extent of the result. An odd one: the end gets more.
  EXPECT_THAT(importGraph("g (float[1, 4, 3] x, float[4, 2, 3] w) => "
                          "(float[1] y) { y = ConvTranspose<strides = [2], "
                          "auto_pad = \"SAME_UPPER\">(x, w) }"),
              AllOf(HasSubstr("pads = array<i64: 0, 1>"),
                    HasSubstr("-> tensor<1x2x6xf32>")));
  EXPECT_THAT(importGraph("g (float[1, 4, 3] x, float[4, 2, 3] w) => "
                          "(float[1] y) { y = ConvTranspose<strides = [2], "
                          "output_shape = [4]>(x, w) }"),
              AllOf(HasSubstr("pads = array<i64: 2, 1>"),
                    HasSubstr("-> tensor<1x2x4xf32>")));
  // Output padding below the dilation, but not below the stride.
  EXPECT_THAT(importGraph("g (float[1, 4, 3] x, float[4, 2, 3] w) => "
                          "(float[1] y) { y = ConvTranspose<dilations = [3], "
                          "output_padding = [2]>(x, w) }"),
              AllOf(HasSubstr("-> tensor<1x2x9xf32>"), HasSubstr("ff.pad"),
                    HasSubstr("-> tensor<1x2x11xf32>")));
}

TEST_F(ImportTest, PadVariants) {
  EXPECT_THAT(importGraph("g (float[2] x) => (float[3] y) "
                          "{ y = Pad<pads = [1, 0], value = 2.0>(x) }",
                          10),
              HasSubstr("pads = array<i64: 1, 0>, value = 2.0"));
  EXPECT_THAT(importGraph("g (float[2] x, int64[2] p = {0, 0}) => "
                          "(float[2] y) { z = Pad(x, p) y = Relu(z) }"),
              Not(HasSubstr("ff.pad")));
}

TEST_F(ImportTest, UnusedInputsAreDropped) {
  EXPECT_THAT(importGraph("g (float[2] x, float[3] z) => (float[2] y) "
                          "{ y = Relu(x) }"),
              AllOf(HasSubstr("warning: loc(\"m.onnxtxt\":0:0): input 'z' is "
                              "not used"),
                    HasSubstr("main(%arg0: tensor<2xf32> {ff.name = \"x\"})")));
}

TEST_F(ImportTest, TheLastDefinitionOfAConstantCounts) {
  EXPECT_THAT(
      importGraph("g (float[2] x) => (float[2] y) { "
                  "c = Constant<value = float {2.0}>() y = Mul(x, c) "
                  "c = Constant<value = float {3.0}>() }"),
      AllOf(HasSubstr("warning: loc(\"m.onnxtxt\":0:0): constants that later "
                      "nodes define anew: 1; the last definition of each "
                      "counts"),
            HasSubstr("3.0"), Not(HasSubstr("2.0"))));
  // A constant does not take the place of anything else, nor of more than one.
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y) { "
                          "c, d = Constant<value = float {2.0}>() "
                          "c = Constant<value = float {3.0}>() "
                          "y = Mul(x, d) }"),
              HasSubstr("its output 'c' is defined already"));
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y) { c = Relu(x) "
                          "c = Constant<value = float {3.0}>() y = Mul(x, c) "
                          "}"),
              HasSubstr("its output 'c' is defined already"));
}

TEST_F(ImportTest, NamesAreUnique) {
  onnx::ModelProto model = parseModel(
      "g (float[2] x) => (float[2] y) { a = Relu(x) b = Relu(a) y = Relu(b) }");
  model.mutable_graph()->mutable_node(0)->set_name("r");
  model.mutable_graph()->mutable_node(2)->set_name("r");
  write("m.onnx", model.SerializeAsString());
  auto module = importModel(context, path("m.onnx"), options);
  ASSERT_TRUE(module);
  std::vector<std::string> names;
  module->walk([&](mlir::Operation *op) {
    if (auto name = llvm::dyn_cast<mlir::NameLoc>(op->getLoc()))
      names.push_back(name.getName().str());
  });
  EXPECT_THAT(names, testing::ElementsAre("r", "b", "r_1", "y"));
}

} // namespace
