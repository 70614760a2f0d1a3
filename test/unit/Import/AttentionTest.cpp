//===- AttentionTest.cpp - Attention and RotaryEmbedding ------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class AttentionTest : public ImportFixture {
protected:
  /// One node on q, k and v, of one size, and further operands.
  std::string attention(const std::string &node,
                        const std::string &operands = "",
                        const std::string &heads = "2, 4, 5, 8") {
    std::string all;
    for (const char *name : {"q", "k", "v"})
      all += "float[" + heads + "] " + name + ", ";
    return importGraph("g (" + all + "float[1] one" + operands +
                           ") => (float[1] y) { y = " + node + " }",
                       25);
  }
  /// One node on x, a float[2, 3, 5, 8] and z, a float[2, 5, 24].
  std::string rotary(const std::string &node) {
    return importGraph(
        "g (float[2, 3, 5, 8] x, float[2, 5, 24] z, float[2, 5, 4] a, "
        "float[9, 4] t, float[9] v, int64[2, 5] p) => (float[1] y) { y = " +
            node + " }",
        23);
  }
};

TEST_F(AttentionTest, Parts) {
  // Nothing is hidden, so nothing is replaced.
  EXPECT_THAT(attention("Attention(q, k, v)"),
              AllOf(HasSubstr("alpha 0.35355"), HasSubstr("ff.softmax"),
                    Not(HasSubstr("ff.select")), Not(HasSubstr("tanh"))));
  EXPECT_THAT(attention("Attention<softcap = 2.0, scale = 0.5>(q, k, v)"),
              AllOf(HasSubstr("tanh"), HasSubstr("alpha 2.0")));
  // Every row sees itself: one selection.
  EXPECT_THAT(attention("Attention<is_causal = 1>(q, k, v)"),
              AllOf(HasSubstr("ff.select"), Not(HasSubstr("ff.reduce_max"))));
  EXPECT_THAT(attention("Attention(q, k, v, m)", ", bool[5, 5] m"),
              AllOf(HasSubstr("ff.select"), HasSubstr("ff.reduce_max")));
  // A mask that is known to leave something of every row.
  EXPECT_THAT(
      attention("Attention(q, k, v, m)", ", bool[1, 5] m = {1, 0, 0, 1, 0}"),
      AllOf(HasSubstr("ff.select"), Not(HasSubstr("ff.reduce_max"))));
  EXPECT_THAT(attention("Attention(q, k, v, m)", ", float[5, 5] m"),
              AllOf(HasSubstr(" add("), HasSubstr("ff.reduce_max"),
                    // Gradients of hidden rows are numbers.
                    HasSubstr(" max(")));
  EXPECT_THAT(attention("Attention(q, k, v, m)", ", bool[5, 3] m"),
              HasSubstr("(tensor<5x3xf32>, tensor<5x2xf32>) -> "
                        "tensor<5x5xf32>"));
  EXPECT_THAT(attention("Attention(q, k, v, , , , n)", ", int64[2] n"),
              HasSubstr("tensor<2x1x1x5xf32>"));
  EXPECT_THAT(attention("Attention(q, k, v, , p, p)", ", float[2, 4, 3, 8] p"),
              HasSubstr("-> tensor<2x4x8x8xf32>"));
}

TEST_F(AttentionTest, Errors) {
  EXPECT_THAT(attention("Attention(q, k, v)", "", "2, 5, 8"),
              HasSubstr("expected attributes 'q_num_heads' and 'kv_num_heads' "
                        "with operands of 3 dimensions"));
  EXPECT_THAT(
      attention("Attention<q_num_heads = 3, kv_num_heads = 3>(q, k, v)", "",
                "2, 5, 8"),
      HasSubstr("expected operand 0 of a width that 3 heads share, found shape "
                "2x5x8"));
  EXPECT_THAT(attention("Attention(q, k, v)", "", "2, 5"),
              HasSubstr("expected operands of 3 or 4 dimensions, found shape "
                        "2x5"));
  EXPECT_THAT(attention("Attention(q, k, w)", ", float[2, 3, 5, 8] w"),
              HasSubstr("found 2x4x5x8, 2x4x5x8 and 2x3x5x8"));
  EXPECT_THAT(attention("Attention(q, k, v, m)", ", int64[5, 5] m"),
              HasSubstr("expected a mask of bool or float of at most 4 "
                        "dimensions, found int64 of shape 5x5"));
  EXPECT_THAT(attention("Attention(q, k, v, , p)", ", float[2, 4, 3, 8] p"),
              HasSubstr("expected both of past_key and past_value, found one"));
  EXPECT_THAT(attention("Attention(q, k, v, , p, p)", ", float[5] p"),
              HasSubstr("expected a 4-dimensional operand 4, found 'p'"));
  EXPECT_THAT(importGraph("g (int32[2, 4, 5, 8] q) => (float[1] y) "
                          "{ y = Attention(q, q, q) }",
                          23),
              HasSubstr("unsupported operators: Attention of int32"));
  // A part of it is unsupported; nothing may ask for the shape of that.
  EXPECT_THAT(importGraph("g (float[2, 5, 32] q, int32[2, 5, 32] v) => "
                          "(float[1] y) { y = Attention<q_num_heads = 4, "
                          "kv_num_heads = 4>(q, q, v) }",
                          23),
              HasSubstr("unsupported operators: MatMul of int32"));
  EXPECT_THAT(attention("Attention(q, k, v, , p, p, n)",
                        ", float[2, 4, 3, 8] p, int64[2] n"),
              HasSubstr("expected no past_key beside nonpad_kv_seqlen"));
  EXPECT_THAT(attention("Attention<qk_matmul_output_mode = 4>(q, k, v)"),
              HasSubstr("expected attribute 'qk_matmul_output_mode' from 0 to "
                        "3, found 4"));
}

TEST_F(AttentionTest, Rotary) {
  EXPECT_THAT(rotary("RotaryEmbedding(x, a, a)"),
              AllOf(HasSubstr("-> tensor<2x1x5x4xf32>"),
                    HasSubstr("-> tensor<2x3x5x8xf32>")));
  EXPECT_THAT(rotary("RotaryEmbedding<num_heads = 3>(z, t, t, p)"),
              AllOf(HasSubstr("ff.embedding(%arg1, %arg2)"),
                    HasSubstr("-> tensor<2x5x1x4xf32>"),
                    HasSubstr("-> tensor<2x5x24xf32>")));
  EXPECT_THAT(importGraph("g (int32[2, 3, 5, 8] x, float[2, 5, 4] a) "
                          "=> (float[1] y) { y = RotaryEmbedding(x, a, a) }",
                          23),
              HasSubstr("unsupported operators: RotaryEmbedding of int32"));
  EXPECT_THAT(rotary("RotaryEmbedding(v, a, a)"),
              HasSubstr("expected a 4-dimensional operand 0, found 'v'"));
  EXPECT_THAT(rotary("RotaryEmbedding(z, a, a)"),
              HasSubstr("expected an attribute 'num_heads' that divides the "
                        "width of operand 0, 24, found 0"));
  EXPECT_THAT(rotary("RotaryEmbedding<rotary_embedding_dim = 5>(x, a, a)"),
              HasSubstr("expected an even number of at most 8 dimensions to "
                        "turn, found 5"));
  EXPECT_THAT(
      rotary("RotaryEmbedding<rotary_embedding_dim = 4>(x, a, a)"),
      HasSubstr("expected operand 1 to give every position half as many "
                "numbers as are turned, 2x5x2, found 2x5x4"));
}

} // namespace
