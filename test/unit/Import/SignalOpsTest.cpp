//===- SignalOpsTest.cpp - operators on signals and sequences -------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class SignalOpsTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 8, 1].
  std::string import(const std::string &node, const std::string &operands = "",
                     int opset = 24) {
    return importGraph("g (float[2, 8, 1] x" + operands +
                           ") => (float[1] y) { y = " + node + " }",
                       opset);
  }
};

TEST_F(SignalOpsTest, Dft) {
  EXPECT_THAT(import("DFT(x)"),
              AllOf(HasSubstr("ff.matmul"), HasSubstr("-> tensor<2x8x2xf32>")));
  EXPECT_THAT(import("DFT<onesided = 1, axis = 1>(x)", "", 17),
              HasSubstr("-> tensor<2x5x2xf32>"));
  EXPECT_THAT(import("DFT<onesided = 1, inverse = 1>(c)", ", float[2, 5, 2] c"),
              HasSubstr("-> tensor<2x8x1xf32>"));
  EXPECT_THAT(import("DFT(x, n)", ", int64 n = {0}"),
              HasSubstr("node 'y' (DFT): expected a length from 1 to 16777216, "
                        "found 0"));
  EXPECT_THAT(import("DFT(x, n)", ", int64 n = {10000000}"),
              HasSubstr("expected at most 16777216 elements of a matrix of "
                        "frequencies, found 8x10000000"));
  EXPECT_THAT(import("DFT(x, , a)", ", int64 a = {2}"),
              HasSubstr("expected an axis before the last dimension"));
  EXPECT_THAT(import("DFT(x, , a)", ", int64 a = {3}"),
              HasSubstr("axis 3 is not a dimension of a 3-dimensional tensor"));
  EXPECT_THAT(import("DFT(c)", ", float[2, 5, 3] c"),
              HasSubstr("the last one of 1 or 2 for real and imaginary parts, "
                        "found shape 2x5x3"));
  EXPECT_THAT(import("DFT<onesided = 1>(c)", ", float[2, 5, 2] c"),
              HasSubstr("expected real numbers for a spectrum of one side, "
                        "found shape 2x5x2"));
}

TEST_F(SignalOpsTest, AlongTheBatch) {
  options.batchSize = 4;
  EXPECT_THAT(importGraph("g (float[2, 8, 1] x, int64 a = {0}) => (float[1] y) "
                          "{ y = CumProd(x, a) }",
                          26),
              HasSubstr("multiplies along the batch and stands in the way of "
                        "--batch-size"));
  EXPECT_THAT(importGraph("g (float[2, 8, 1] x, int64[3] s = {3, 8, 1}) => "
                          "(float[1] y) { y = CenterCropPad(x, s) }",
                          26),
              HasSubstr("crops or pads the batch and stands in the way of "
                        "--batch-size"));
}

TEST_F(SignalOpsTest, Stft) {
  EXPECT_THAT(import("STFT(x, s, w)", ", int64 s = {2}, float[4] w"),
              HasSubstr("-> tensor<2x3x3x2xf32>"));
  EXPECT_THAT(import("STFT(x, s, , n)", ", int64 s = {2}, int64 n = {9}"),
              HasSubstr("expected a frame length from 1 to 8, found 9"));
  EXPECT_THAT(
      import("STFT(x, s, w, n)", ", int64 s = {2}, int64 n = {3}, float[4] w"),
      HasSubstr("expected a window as long as a frame of 3, found 4"));
  EXPECT_THAT(import("STFT(x, s, w)", ", int64 s = {0}, float[4] w"),
              HasSubstr("expected a frame step from 1 to 16777216, found 0"));
  EXPECT_THAT(
      import("STFT(c, s, w)", ", int64 s = {2}, float[4] w, float[2, 8, 2] c"),
      HasSubstr("expected real numbers for a spectrum of one side"));
  EXPECT_THAT(importGraph("g (float[1, 100000, 1] x, int64 s = {1}, float[5000]"
                          " w) => (float[1] y) { y = STFT(x, s, w) }",
                          17),
              HasSubstr("expected at most 16777216 positions in frames, found "
                        "95001x5000"));
}

TEST_F(SignalOpsTest, Windows) {
  EXPECT_THAT(import("HannWindow(n)", ", int64 n = {5}"),
              HasSubstr("tensor<5xf32>"));
  EXPECT_THAT(import("HammingWindow(n)", ", int64 n = {-1}"),
              HasSubstr("expected operand 0 from 1 to 65536, found -1"));
  EXPECT_THAT(import("BlackmanWindow(n)", ", int64 n"),
              HasSubstr("expected a constant as operand 0"));
  const std::string more = ", int64 n = {16}, int64 r = {8192}, float l = {0}";
  EXPECT_THAT(import("MelWeightMatrix(b, n, r, l, h)",
                     more + ", int64 b = {8}, float h = {4096}"),
              HasSubstr("tensor<9x8xf32>"));
  EXPECT_THAT(import("MelWeightMatrix(b, n, r, l, h)",
                     more + ", int64 b = {8}, float h = {9000}"),
              HasSubstr("expected edges from 0 to the sample rate of 8192, "
                        "found 0 and 9000"));
  EXPECT_THAT(import("MelWeightMatrix(b, n, r, l, h)",
                     more + ", int64 b = {60000}, float h = {4096}"),
              HasSubstr("a constant of shape 9x60000 is too large to be "
                        "evaluated"));
}

TEST_F(SignalOpsTest, CumProd) {
  EXPECT_THAT(import("CumProd(x, a)", ", int64 a = {1}", 26),
              AllOf(HasSubstr("mul("), HasSubstr("ff.concat")));
  EXPECT_THAT(import("CumProd(x, a)", ", int64 a = {3}", 26),
              HasSubstr("axis 3 is not a dimension of a 3-dimensional tensor"));
}

TEST_F(SignalOpsTest, LinearAttention) {
  const std::string operands =
      ", float[2, 3, 8] q, float[2, 3, 4] k, float[2, 3, 6] v, "
      "float[2, 3, 2] d, float[2, 3, 1] b, float[2, 2, 2, 3] s";
  const std::string heads = "q_num_heads = 4, kv_num_heads = 2";
  EXPECT_THAT(
      import("LinearAttention<" + heads + ">(q, k, v, s, d, b)", operands, 27),
      AllOf(HasSubstr("exp("), HasSubstr("ff.matmul"),
            HasSubstr("-> tensor<2x3x12xf32>")));
  EXPECT_THAT(
      import("LinearAttention<" + heads +
                 ", update_rule = \"linear\">(q, k, v)",
             operands, 27),
      AllOf(HasSubstr("-> tensor<2x3x12xf32>"), Not(HasSubstr("exp("))));
  EXPECT_THAT(
      import("LinearAttention<" + heads + ", update_rule = \"none\">(q, k, v)",
             operands, 27),
      HasSubstr("expected update_rule linear, gated, delta or "
                "gated_delta, found 'none'"));
  EXPECT_THAT(
      import("LinearAttention<" + heads + ", update_rule = \"gated\">(q, k, v)",
             operands, 27),
      HasSubstr("expected an operand 4 (decay) by update_rule gated"));
  EXPECT_THAT(import("LinearAttention<" + heads +
                         ", update_rule = \"gated\">(q, k, v, , d, b)",
                     operands, 27),
              HasSubstr("expected no operand 5 (beta) by update_rule gated"));
  EXPECT_THAT(import("LinearAttention<q_num_heads = 3, kv_num_heads = 2>"
                     "(q, k, v, s, d, b)",
                     operands, 27),
              HasSubstr("'q_num_heads', a multiple of it, found 2 and 3"));
  EXPECT_THAT(import("LinearAttention<" + heads +
                         ", update_rule = \"linear\">(q, k, v, v)",
                     operands, 27),
              HasSubstr("expected a state of shape 2x2x2x3 as operand 3, found "
                        "2x3x6"));
  EXPECT_THAT(importGraph("g (float[1, 2000, 2] x) => (float[1] y) { y = "
                          "LinearAttention<q_num_heads = 1, kv_num_heads = 1, "
                          "update_rule = \"linear\">(x, x, x) }",
                          27),
              HasSubstr("expected at most 1024 positions, which are unrolled, "
                        "found 2000"));
}

TEST_F(SignalOpsTest, LinearAttentionShapes) {
  const std::string operands =
      ", float[2, 3, 8] q, float[2, 3, 4] k, float[2, 3, 6] v, "
      "float[2, 4, 4] l, float[2, 3, 2] n, float[2, 3, 4] e";
  const std::string two = "LinearAttention<q_num_heads = 4, kv_num_heads = 2";
  const std::pair<std::string, const char *> refused[] = {
      {"LinearAttention<update_rule = \"linear\">(q, k, v)",
       "expected attributes 'kv_num_heads' and 'q_num_heads', a multiple of "
       "it, found 0 and 0"},
      {two + ", update_rule = \"linear\">(q, l, v)",
       "expected queries, keys and values of one batch and length, found 2x3x8 "
       "and 2x4x4"},
      {two + ", update_rule = \"linear\">(q, n, v)",
       "expected keys as wide as queries, found 1 and 2"},
      {two + ", update_rule = \"gated\">(q, k, v, , v)",
       "expected a decay per head or per dimension of keys as operand 4, found "
       "shape 2x3x6"},
      {two + ", update_rule = \"delta\">(q, k, v, , , e)",
       "expected a number per head, or one, as operand 5, found shape 2x3x4"}};
  for (const auto &[node, error] : refused)
    EXPECT_THAT(import(node, operands, 27), HasSubstr(error));
}

TEST_F(SignalOpsTest, CausalConvWithState) {
  const std::string operands =
      ", float[8, 1, 3] w, float[2, 8, 2] s, float[8] b";
  EXPECT_THAT(import("CausalConvWithState<activation = \"silu\">(x, w, b, s)",
                     operands, 27),
              AllOf(HasSubstr("ff.conv"), HasSubstr("silu"),
                    HasSubstr("-> tensor<2x8x1xf32>")));
  EXPECT_THAT(
      import("CausalConvWithState<activation = \"relu\">(x, w)", operands, 27),
      HasSubstr("expected activation none, silu or swish, found "
                "'relu'"));
  EXPECT_THAT(import("CausalConvWithState(x, s)", operands, 27),
              HasSubstr("expected weights of shape 8 x 1 x (kernel), found "
                        "2x8x2"));
  EXPECT_THAT(import("CausalConvWithState(x, w, b, x)", operands, 27),
              HasSubstr("expected a state of shape 2x8x2 as operand 3, found "
                        "2x8x1"));
}

TEST_F(SignalOpsTest, TensorScatter) {
  const std::string operands = ", float[2, 3, 1] u, int64[2] i";
  EXPECT_THAT(import("TensorScatter<mode = \"circular\">(x, u, i)", operands),
              AllOf(HasSubstr("ff.select"), HasSubstr("ff.embedding(")));
  EXPECT_THAT(import("TensorScatter<mode = \"ring\">(x, u)", operands),
              HasSubstr("expected mode linear or circular, found 'ring'"));
  EXPECT_THAT(import("TensorScatter<axis = 0>(x, u)", operands),
              HasSubstr("expected an axis behind the batch"));
  EXPECT_THAT(import("TensorScatter(u, x)", operands),
              HasSubstr("expected an update of the cache's shape, and at most "
                        "as long in dimension 1, found 2x8x1 and 2x3x1"));
  EXPECT_THAT(import("TensorScatter(x, u, j)", operands + ", int64[3] j"),
              HasSubstr("expected a position per sample as operand 2, found "
                        "shape 3"));
}

TEST_F(SignalOpsTest, FlexAttention) {
  const auto nodes = [&](const std::string &attributes,
                         const std::string &operands = "q, k, k") {
    return importText(
        "<ir_version: 8, opset_import: [\"\" : 26, \"ai.onnx.preview\" : 1]>\n"
        "g (float[1, 4, 3, 2] q, float[1, 2, 5, 2] k) => (float[1] y) { "
        "y = ai.onnx.preview.FlexAttention<" +
        attributes + ">(" + operands + ") }");
  };
  EXPECT_THAT(nodes("scale = 0.5"), AllOf(HasSubstr("ff.softmax"),
                                          HasSubstr("-> tensor<1x4x3x2xf32>")));
  EXPECT_THAT(nodes("score_mod = f (float[1, 4, 3, 5] s) => (float[1, 4, 3, 5] "
                    "t) { t = Tanh(s) }"),
              HasSubstr("tanh("));
  EXPECT_THAT(nodes("score_mod = f (float[1, 4, 3, 5] s) => (float[1] t) "
                    "{ t = ReduceMax<keepdims = 0>(s) }"),
              HasSubstr("attribute 'score_mod': expected a result of shape "
                        "1x4x3x5, found scalar"));
  EXPECT_THAT(nodes("scale = 0.5", "k, q, q"),
              HasSubstr("heads of queries in multiples of those of keys, found "
                        "1x2x5x2, 1x4x3x2 and 1x4x3x2"));
}

TEST_F(SignalOpsTest, Optimizers) {
  const auto nodes = [&](const std::string &node) {
    return importText(
        "<ir_version: 8, opset_import: [\"\" : 26, "
        "\"ai.onnx.preview.training\" : 1]>\n"
        "g (float r, int64 t, float[3] x, float[3] g, float[3] v, float[3] h) "
        "=> (float[3] y) { y, a = ai.onnx.preview.training." +
        node + " }");
  };
  EXPECT_THAT(nodes("Adam(r, t, x, g, v, h)"), HasSubstr("sqrt("));
  EXPECT_THAT(nodes("Adagrad(r, t, x, g, h)"), HasSubstr("sqrt("));
  EXPECT_THAT(nodes("Momentum<mode = \"nesterov\">(r, t, x, g, v)"),
              HasSubstr("add("));
  EXPECT_THAT(nodes("Momentum<mode = \"heavy\">(r, t, x, g, v)"),
              HasSubstr("expected mode standard or nesterov, found 'heavy'"));
  // A rate and a step of other types than the values.
  EXPECT_THAT(importText("<ir_version: 8, opset_import: [\"\" : 26, "
                         "\"ai.onnx.preview.training\" : 1]>\n"
                         "g (float r, int64 t, double[3] x, double[3] g, "
                         "double[3] v) => (double[3] y) { y, a = "
                         "ai.onnx.preview.training.Momentum<mode = "
                         "\"standard\">(r, t, x, g, v) }"),
              HasSubstr("-> tensor<3xf64>"));
  EXPECT_THAT(nodes("Adagrad(r, t, x, g, v, h)"),
              HasSubstr("expected a rate, a step and 3 operands for every "
                        "value, found 6 operands"));
  EXPECT_THAT(nodes("Adagrad(x, t, x, g, h)"),
              HasSubstr("expected a scalar as operand 0, found shape 3"));
}

} // namespace
