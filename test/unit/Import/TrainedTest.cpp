//===- TrainedTest.cpp - what is trained by its uses and numbers ----------===//

#include "TestModel.h"

#include "gmock/gmock.h"

#include <cstring>

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

using TrainedTest = ImportFixture;

TEST_F(TrainedTest, MicrosoftWeights) {
  EXPECT_EQ(
      listGraph("g (float[2, 3] x, float[3, 3] free) => (float[2, 3] y)"
                "<float[3] b = {0, 0, 0}, float[3, 3] w = {1, 0, 0, 0, 1, 0, "
                "0, 0, 1}, float[3] scale = {1, 1, 1}, float[3] shift = "
                "{0, 0, 0}, float[3] more = {0, 0, 0}> {"
                " h = com.microsoft.BiasGelu(x, b)"
                " i = com.microsoft.FusedMatMul(h, w)"
                " j = com.microsoft.FusedMatMul(i, free)"
                " k = com.microsoft.FastGelu(j, b)"
                " y = com.microsoft.SkipLayerNormalization"
                "(k, x, scale, shift, more) }"),
      "free: an input that only weights are, without a batch; drawn at random\n"
      "b: bias of 'h' (BiasGelu)\n"
      "w: weight of 'i' (FusedMatMul)\n"
      "scale: scale of 'y' (SkipLayerNormalization)\n"
      "shift: bias of 'y' (SkipLayerNormalization)\n"
      "more: bias of 'y' (SkipLayerNormalization)\n");
}

/// Constants that change nothing are left out by exporters that keep weights
/// elsewhere.
TEST_F(TrainedTest, MicrosoftNormalizationsWithoutWeights) {
  EXPECT_EQ(
      listGraph("g (float[2, 3] x) => (float[2, 3] y)"
                "<float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 10}> {"
                " scale = Constant<value = float[3] {1, 1, 1}>()"
                " shift = Constant<value = float[3] {0, 0, 0}>()"
                " h = MatMul(x, w)"
                " y = com.microsoft.SkipLayerNormalization"
                "(h, x, scale, shift) }"),
      "w: weight of 'h' (MatMul)\n"
      "-scale: left out in 'y' (SkipLayerNormalization), where it changes "
      "nothing\n"
      "-shift: left out in 'y' (SkipLayerNormalization), where it changes "
      "nothing\n");
}

TEST_F(TrainedTest, RowsOfBags) {
  EXPECT_THAT(listGraph("g (int64[2] s, int64[2] e) => (float[2, 3] y)"
                        "<float[4, 3] rows = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
                        "1}, int64 n = {2}> "
                        "{ y = ffc.ReduceBags(rows, s, e, n) }"),
              HasSubstr("rows: table of 'y' (ReduceBags)\n"));
}

/// An Identity changes nothing about what a value is.
TEST_F(TrainedTest, BatchBehindIdentity) {
  EXPECT_EQ(listGraph("g (float[2, 3, 4] q, float[2, 4, 4] k) => (float[1] y) "
                      "{ i = Identity(k) y = MatMul(q, i) }"),
            "");
  EXPECT_THAT(listGraph("g (float[2, 3, 4] q, float[4, 4] k) => (float[1] y) "
                        "{ i = Identity(k) y = MatMul(q, i) }"),
              StartsWith("k: an input that only weights are"));
}

/// A table without data of which constants name rows, but not what may be data:
/// of the batch, of an open extent, the only input, or read one at a time.
TEST_F(TrainedTest, RowsThatConstantsName) {
  auto listed = [&](llvm::StringRef inputs, llvm::StringRef rows,
                    llvm::StringRef axis = "0") {
    return listGraph(("g (" + inputs +
                      ") => (float[2, 3, 4] y) { i = Constant<value = int64" +
                      rows + ">() t = Gather<axis = " + axis +
                      ">(table, i) y = Add(x, t) }")
                         .str());
  };
  const char *isInput = "-i: of int64\n", *three = "[3] {1, 0, 1}";
  EXPECT_THAT(listed("float[2, 3, 4] x, float[5, 4] table", three),
              StartsWith("table: an input that only weights are"));
  EXPECT_THAT(listed("float[N, 3, 4] x, float[5, 4] table", three),
              StartsWith("table: an input that only weights are"));
  EXPECT_EQ(listed("float[2, 3, 4] x, float[2, 4] table", three), isInput);
  EXPECT_EQ(listed("float[2, 3, 4] x, float[M, 4] table", three), isInput);
  EXPECT_EQ(listed("float[2, 3, 4] x, float[5, N] table", three), isInput);
  EXPECT_EQ(
      listed("float[2, 3, 4] x, float[3, 5] table", "[4] {1, 0, 1, 4}", "1"),
      isInput);
  EXPECT_EQ(listed("float[2, 3, 4] x, float[5, 4] table", " {1}"), isInput);
  EXPECT_EQ(listed("float[2, 3, 4] x, float[5, 4] table", "[1] {1}"), isInput);
  EXPECT_EQ(listGraph("g (float[5, 4] x) => (float[3, 4] y) "
                      "{ i = Constant<value = int64[3] {1, 0, 1}>() "
                      "y = Gather(x, i) }"),
            isInput);
}

/// The batch is not that of an input that is a constant.
TEST_F(TrainedTest, BatchOfFixedInputs) {
  const char *graph = "g (float[7] m, float[2, 3, 4] q, float[2, 4, 4] k) => "
                      "(float[1] y) { p = MatMul(q, k) y = Mul(p, m) }";
  options.fixed["m"] = "1";
  EXPECT_EQ(listGraph(graph), "");
}

TEST_F(TrainedTest, InputsOfOtherFloats) {
  for (const char *type : {"float16", "double", "bfloat16"}) {
    const std::string graph = std::string("g (") + type + "[2, 3] x, " + type +
                              "[3, 4] w) => (" + type +
                              "[2, 4] y) { y = MatMul(x, w) }";
    EXPECT_THAT(listGraph(graph), StartsWith("w: an input that only weights"));
    EXPECT_THAT(importGraph(graph), HasSubstr("ff.state \"w\" \"parameter\""));
  }
}

/// Those of 16 bits may come in 32 each.
TEST_F(TrainedTest, NumbersOf16Bits) {
  onnx::ModelProto model =
      parseModel("g (float16[2, 4] x, float[4] m = {0}, float[4] n = {0}) => "
                 "(float16[2, 4] y) { h = Mul(x, m) y = Add(h, n) }");
  for (auto [i, one] : {std::pair(0, 0x3c00), std::pair(1, 0x3f80)}) {
    onnx::TensorProto &tensor = *model.mutable_graph()->mutable_initializer(i);
    tensor.set_data_type(i == 0 ? onnx::TensorProto::FLOAT16
                                : onnx::TensorProto::BFLOAT16);
    tensor.clear_float_data();
    for (int bits : {one, 0, one, 0})
      tensor.add_int32_data(bits);
  }
  EXPECT_THAT(listProto(model),
              AllOf(HasSubstr("-m: a mask\n"), HasSubstr("-n: a mask\n")));
}

/// Parameters within graphs of any attribute.
TEST_F(TrainedTest, ListsOfGraphs) {
  onnx::ModelProto model =
      parseModel("g (float[2, 3] x) => (float[1] y) { y = my.Choose(x) }");
  onnx::GraphProto inner =
      parseModel("i () => (float[1] z) <float[3, 2] w = {1.5, 2, 3, 4, 5, 6}> "
                 "{ z = MatMul(x, w) }")
          .graph();
  onnx::AttributeProto &attribute =
      *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("choices");
  attribute.set_type(onnx::AttributeProto::GRAPHS);
  *attribute.add_graphs() = inner;
  EXPECT_EQ(listProto(model), "w: weight of 'z' (MatMul)\n");
}

/// With data or without, running statistics are not trained.
TEST_F(TrainedTest, RunningStatistics) {
  const std::string graph =
      "g (float[2, 3, 4] x, float[3] scale, float[3] bias, float[3] mean) => "
      "(float[2, 3, 4] y) <float[3] var = {1, 2, 4}> "
      "{ y = BatchNormalization (x, scale, bias, mean, var) }";
  const std::string drawn =
      ": an input that only weights are, without a batch; drawn at random\n";
  EXPECT_EQ(listGraph(graph),
            "scale" + drawn + "bias" + drawn +
                "-mean: a running statistic of 'y' (BatchNormalization)\n"
                "-var: a running statistic of 'y' (BatchNormalization)\n");
  EXPECT_THAT(importGraph(graph),
              AllOf(HasSubstr("ff.state \"mean\" \"statistic\" init <constant"),
                    HasSubstr("ff.state \"var\" \"statistic\" init <file")));
  options.trainRules = {{"*", true}};
  EXPECT_THAT(listGraph(graph),
              AllOf(HasSubstr("scale: --train '*'\n"),
                    HasSubstr("-mean: a running statistic of 'y'"),
                    HasSubstr("-var: a running statistic of 'y'")));
  for (const std::string name : {"mean", "var"}) {
    options.trainRules = {{name, true}};
    EXPECT_THAT(listGraph(graph),
                HasSubstr("error: loc(\"m.onnxtxt\":0:0): --train '" + name +
                          "': '" + name +
                          "' is a running statistic of 'y' "
                          "(BatchNormalization), expected a value that "
                          "gradients change"));
  }
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

TEST_F(TrainedTest, FlagsAreChecked) {
  const char *graph = "g (float[2, 3] x, float[3, 4] w) => (float[2, 4] y) "
                      "{ y = MatMul(x, w) }";
  options.fixed["z"] = "1";
  EXPECT_THAT(listGraph(graph),
              HasSubstr("error: loc(\"m.onnxtxt\":0:0): --fix z=1: expected an "
                        "input of the model, found 'z'"));
  options.fixed.clear();
  options.dims["N"] = 2;
  EXPECT_THAT(listGraph(graph), HasSubstr("--dim N=2: "));
  options.dims.clear();
  options.init = "magic";
  EXPECT_THAT(listGraph(graph), HasSubstr("--init magic: "));
}

/// A name is suggested once, though several graphs have it.
TEST_F(TrainedTest, Suggestions) {
  options.trainRules = {{"ax", true}};
  EXPECT_THAT(
      listGraph("g (bool c, float[2] x) => (float[2] y) { y = If (c) "
                "<then_branch = t () => (float[2] p) <float[2] aa = {1, 3}, "
                "float[2] ab = {1, 3}> { h = Mul(x, aa) p = Add(h, ab) }, "
                "else_branch = e () => (float[2] q) <float[2] aa = {2, 3}, "
                "float[2] ab = {2, 3}> { i = Mul(x, aa) q = Add(i, ab) }> }"),
      HasSubstr("--train 'ax': no value of floats has such a name, near it are "
                "'aa', 'ab'; ffc parameters MODEL lists all"));
}

//===----------------------------------------------------------------------===//
// Ties
//===----------------------------------------------------------------------===//

/// Of Constants of one name the last counts, whatever an earlier one equals.
TEST_F(TrainedTest, TiesOfReplacedConstants) {
  std::string numbers[2];
  for (int i = 0; i < 81; ++i) {
    numbers[0] += (i ? ", " : "") + std::to_string(i * 7 % 83 + 1);
    numbers[1] += (i ? ", " : "") + std::to_string(i * 5 % 83 + 2);
  }
  options.weightsPath = path("w");
  const std::string graph =
      "g (float[2, 9] x, float[9, 9] w = {" + numbers[0] +
      "}) => (float[2, 9] y) { c = Constant<value = float[9, 9] {" +
      numbers[0] + "}>() h = MatMul(x, w) c = Constant<value = float[9, 9] {" +
      numbers[1] + "}>() y = MatMul(h, c) }";
  EXPECT_EQ(listGraph(graph), "w: weight of 'h' (MatMul)\n"
                              "c: weight of 'y' (MatMul)\n");
  EXPECT_THAT(importGraph(graph),
              AllOf(HasSubstr("constants that later nodes define anew: 1"),
                    HasSubstr("ff.state \"w\" \"parameter\""),
                    HasSubstr("ff.state \"c\" \"parameter\"")));
  const std::string bytes = read("w");
  float first[2];
  ASSERT_EQ(bytes.size(), 384 + 81 * sizeof(float));
  std::memcpy(&first[0], bytes.data(), sizeof(float));
  std::memcpy(&first[1], bytes.data() + 384, sizeof(float));
  EXPECT_EQ(first[0], 1);
  EXPECT_EQ(first[1], 2);
}

} // namespace
