//===- MicrosoftOpsTest.cpp - operators of the domain com.microsoft -------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class MicrosoftOpsTest : public ImportFixture {
protected:
  std::string nodes(const std::string &text) {
    return importText(
        "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
        "g (float[4, 2, 3] x, float[4, 3, 2] z, float[2, 3] m, float[2, 3] n, "
        "float[3] b) => (float[1] y) { " +
        text + " }");
  }
};

TEST_F(MicrosoftOpsTest, Gelu) {
  EXPECT_THAT(nodes("y = com.microsoft.BiasGelu(x, b)"),
              AllOf(HasSubstr("add"), HasSubstr("gelu(")));
  EXPECT_THAT(nodes("y = com.microsoft.FastGelu(x)"),
              AllOf(HasSubstr("gelu_tanh("), Not(HasSubstr("add"))));
  EXPECT_THAT(nodes("y = com.microsoft.QuickGelu(x)"),
              AllOf(HasSubstr("alpha 1.702"), HasSubstr("sigmoid(")));
}

TEST_F(MicrosoftOpsTest, FusedMatMul) {
  EXPECT_THAT(nodes("y = com.microsoft.FusedMatMul<transB = 1, alpha = 0.5>"
                    "(m, n)"),
              AllOf(HasSubstr("alpha = 5.000000e-01"),
                    HasSubstr("-> tensor<2x2xf32>")));
  EXPECT_THAT(nodes("y = com.microsoft.FusedMatMul<transA = 1, transB = 1, "
                    "alpha = 0.5>(x, z)"),
              AllOf(HasSubstr("ff.transpose"),
                    HasSubstr("-> tensor<4x3x3xf32>"), HasSubstr("scale(")));
  EXPECT_THAT(nodes("y = com.microsoft.FusedMatMul<transBatchA = 1>(x, z)"),
              HasSubstr("expected transBatchA of 0"));
}

/// What they are made of may be unsupported.
TEST_F(MicrosoftOpsTest, UnsupportedParts) {
  EXPECT_THAT(nodes("i = Cast<to = 6>(x) j = Cast<to = 6>(z) "
                    "y = com.microsoft.FusedMatMul<alpha = 0.5>(i, j)"),
              HasSubstr("unsupported operators: "));
  EXPECT_THAT(nodes("i = Cast<to = 6>(x) c = Cast<to = 6>(b) "
                    "y = com.microsoft.BiasGelu(i, c)"),
              HasSubstr("unsupported operators: "));
}

TEST_F(MicrosoftOpsTest, SkipLayerNormalization) {
  EXPECT_THAT(nodes("y, p, q, s = com.microsoft.SkipLayerNormalization"
                    "<epsilon = 0.001>(x, x, b, b, b)"),
              AllOf(HasSubstr("ff.normalize"), HasSubstr("epsilon = 0.001")));
  EXPECT_THAT(nodes("a, p, q, s = com.microsoft.SkipLayerNormalization"
                    "(x, x, b) y = Relu(s)"),
              HasSubstr("relu("));
}

TEST_F(MicrosoftOpsTest, SkipSimplifiedLayerNormalization) {
  EXPECT_THAT(nodes("y, p, q, s = com.microsoft."
                    "SkipSimplifiedLayerNormalization(x, x, b, b)"),
              AllOf(HasSubstr("add("), HasSubstr("reciprocal("),
                    Not(HasSubstr("ff.normalize"))));
}

TEST_F(MicrosoftOpsTest, FusedConv) {
  const auto conv = [&](const std::string &attributes) {
    return importText(
        "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
        "g (float[1, 2, 4, 4] x, float[3, 2, 3, 3] w, float[3] b, "
        "float[1, 3, 2, 2] z) => (float[1] y) { y = com.microsoft.FusedConv<" +
        attributes + ">(x, w, b, z) }");
  };
  EXPECT_THAT(
      conv("activation = \"Relu\""),
      AllOf(HasSubstr("ff.conv"), HasSubstr("add("), HasSubstr("relu(")));
  EXPECT_THAT(conv("activation = \"LeakyRelu\", activation_params = [0.25]"),
              HasSubstr("alpha 2.5"));
  EXPECT_THAT(conv("activation = \"Clip\", activation_params = [0.0, 6.0]"),
              HasSubstr("clip("));
  EXPECT_THAT(conv("activation = \"Elu\""),
              HasSubstr("expected attribute 'activation' Relu, Tanh, Sigmoid, "
                        "Clip, LeakyRelu or HardSigmoid, found 'Elu'"));
  EXPECT_THAT(
      conv("activation = \"LeakyRelu\""),
      HasSubstr("expected 1 numbers in attribute 'activation_params' of "
                "LeakyRelu, found 0"));
}

TEST_F(MicrosoftOpsTest, EmbedLayerNormalization) {
  const auto embed = [&](const std::string &operands) {
    return importText(
        "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
        "g (int32[2, 3] i, float[10, 4] w, float[5, 4] p, float[2, 4] p2, "
        "float[2, 4] t, float[4] s) => (float[1] y) { y, m = com.microsoft."
        "EmbedLayerNormalization(" +
        operands + ") }");
  };
  EXPECT_THAT(embed("i, i, w, p, t, s, s"),
              AllOf(HasSubstr("ff.embedding("), HasSubstr("ff.normalize"),
                    HasSubstr("-> tensor<2x3x4xf32>")));
  EXPECT_THAT(
      embed("i, , w, p, , s, s"),
      AllOf(HasSubstr("ff.embedding("), HasSubstr("-> tensor<2x3x4xf32>")));
  EXPECT_THAT(embed("i, , w, , , s, s"), HasSubstr("operand 3 is missing"));
  EXPECT_THAT(embed("i, i, w, p2, t, s, s"),
              HasSubstr("expected a row for each of 3 positions as operand 3, "
                        "found shape 2x4"));
}

TEST_F(MicrosoftOpsTest, Attention) {
  const auto attend = [&](const std::string &node) {
    return importText(
        "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
        "g (float[2, 3, 4] x, float[4, 12] w, float[12] b, int32[2] n, "
        "int32[2, 3] m, float[2, 3, 8] p, float[5, 1] c, int64[1] f, "
        "float[2, 3, 6] y, float[2, 3, 5] o, float[5, 3] d, "
        "float[2, 1, 4, 2] k) => (float[1] z) { z = com.microsoft." +
        node + " }");
  };
  EXPECT_THAT(attend("Attention<num_heads = 2>(x, w, b, m)"),
              AllOf(HasSubstr("ff.softmax"), HasSubstr("greater("),
                    HasSubstr("-> tensor<2x3x4xf32>")));
  EXPECT_THAT(
      attend("Attention<num_heads = 3>(x, w, b)"),
      HasSubstr("expected an attribute 'num_heads' that divides a width "
                "of 4, found 3"));
  EXPECT_THAT(attend("Attention<num_heads = 2>(x, w, b, f)"),
              HasSubstr("expected a mask of 2 samples and 3 keys as operand 3, "
                        "found shape 1"));
  EXPECT_THAT(
      attend("Attention<num_heads = 2, qkv_hidden_sizes = [4, 4, 5]>"
             "(x, w, b)"),
      HasSubstr("expected three widths of together 12 for queries, keys "
                "and values, found [4x4x5]"));
  EXPECT_THAT(attend("MultiHeadAttention<num_heads = 2>(x, x, x, b, n)"),
              AllOf(HasSubstr("ff.softmax"), HasSubstr("less(")));
  EXPECT_THAT(attend("MultiHeadAttention<num_heads = 2>(x)"),
              HasSubstr("expected keys and values as operands 1 and 2"));
  EXPECT_THAT(attend("MultiHeadAttention<num_heads = 2>(x, x, x, c)"),
              HasSubstr("expected a bias of shape 12, found 5x1"));
  EXPECT_THAT(
      attend("GroupQueryAttention<num_heads = 2, kv_num_heads = 1, "
             "do_rotary = 1>(p, , , , , n, f, c, c)"),
      AllOf(HasSubstr("ff.softmax"), HasSubstr("-> tensor<2x3x4xf32>")));
  EXPECT_THAT(
      attend("GroupQueryAttention<num_heads = 2, kv_num_heads = 1, "
             "do_rotary = 1>(p, , , , , n, f)"),
      HasSubstr("expected tables of cosines and sines as operands 7 and "
                "8 with do_rotary"));
  EXPECT_THAT(attend("GroupQueryAttention<num_heads = 3, kv_num_heads = 2>(p)"),
              HasSubstr("'num_heads', a multiple of it, that share a width of "
                        "8, found 2 and 3"));
  const std::string group =
      "GroupQueryAttention<num_heads = 2, kv_num_heads = 1";
  const std::pair<std::string, const char *> refused[] = {
      {"Attention<num_heads = 2, do_rotary = 1>(x, w, b)",
       "expected attribute 'do_rotary' 0, found 1: turn queries and keys"},
      {"MultiHeadAttention<num_heads = 2>(x, x, x, , , , , , f)",
       "expected no operand 8: caches that are written in place"},
      {"MultiHeadAttention<num_heads = 4>(x, x, y)",
       "expected keys and values of widths that 4 heads share, found shapes "
       "2x3x4 and 2x3x6"},
      {"MultiHeadAttention<num_heads = 2>(x, x, x, , , , k)",
       "expected both of past_key and past_value, found one"},
      {group + ", smooth_softmax = 1>(p)",
       "expected attribute 'smooth_softmax' 0, found 1"},
      {group + ">(p, , , , , n, f, , , , , f)",
       "expected no operand 11: sinks and narrow caches"},
      {group + ">(p, , , k, k, n, f)",
       "GroupQueryAttention with past keys, which it overwrites"},
      {group + ", do_rotary = 1>(p, , , , , n, f, d, d)",
       "expected tables of at most half the width of a head, 2, found shape "
       "5x3"},
      {"GroupQueryAttention<num_heads = 2, kv_num_heads = 2>(x, y, o)",
       "expected keys and values of widths that 2 heads share, found shapes "
       "2x3x6 and 2x3x5"},
      {"RotaryEmbedding<is_packed_batching = 1>(x, f, c, c)",
       "expected attribute 'is_packed_batching' 0, found 1"},
      {"RotaryEmbedding(w, f, c, c)",
       "expected an operand 0 of 3 or 4 dimensions, found shape 4x12"}};
  for (const auto &[node, error] : refused)
    EXPECT_THAT(attend(node), HasSubstr(error));
  EXPECT_THAT(attend("RotaryEmbedding<num_heads = 2>(x, f, c, c)"),
              HasSubstr("-> tensor<2x3x4xf32>"));
  // One row in all, and the position of the first.
  EXPECT_THAT(
      importText("<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" "
                 ": 1]>\ng (float[1, 1, 4] x, float[5, 1] c, int64[1] f) => "
                 "(float[1] z) { z = com.microsoft.RotaryEmbedding<num_heads = "
                 "2>(x, f, c, c) }"),
      HasSubstr("-> tensor<1x1x4xf32>"));
  EXPECT_THAT(attend("RotaryEmbedding<scale = 2.0>(x, f, c, c)"),
              HasSubstr("expected attribute 'scale' 1, found 2"));
}

} // namespace
