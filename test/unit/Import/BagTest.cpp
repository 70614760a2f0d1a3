//===- BagTest.cpp - loops over bags of rows ------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class BagTest : public ImportFixture {
protected:
  /// EmbeddingBag over indices i and offsets o as PyTorch's exporter by tracing
  /// writes it; `reduce` makes y of rows, and `body` may change the rest.
  std::string bags(const std::string &reduce, const std::string &offsets,
                   const std::string &rows = "t = Gather(w, s)") {
    return importGraph(
        "g (float[9, 4] w, int64[6] i, " + offsets +
            ") => (float[3, 4] r) {\n"
            "  length = Constant<value_ints = [6]>()\n"
            "  from = Constant<value_ints = [1]>()\n"
            "  to = Constant<value_ints = [9]>()\n"
            "  first = Constant<value_ints = [0]>()\n"
            "  yes = Constant<value = bool {1}>()\n"
            "  count = Constant<value = int64 {3}>()\n"
            "  starts = Concat<axis = 0>(o, length)\n"
            "  ends = Slice(starts, from, to, first)\n"
            "  r = Loop(count, yes)<body = b (int64 n, bool c) => "
            "(bool d, float[4] y) {\n"
            "    a = Gather<axis = 0>(starts, n)\n"
            "    z = Gather<axis = 0>(ends, n)\n"
            "    a1 = Unsqueeze(a, first)\n"
            "    z1 = Unsqueeze(z, first)\n"
            "    s = Slice(i, a1, z1, first)\n"
            "    " +
            rows + "\n    y = " + reduce +
            "<keepdims = 0>(t, first)\n"
            "    d = Cast<to = 9>(yes)\n"
            "  }>\n"
            "}",
        18);
  }

  /// The same as PyTorch's other exporter writes it, over offsets 0, 1 and 4;
  /// `full` makes y of s rows x from a to z, and `after` r of a sequence q.
  std::string
  sequence(const std::string &full,
           const std::string &after = "r = ConcatFromSequence<axis = 0>(q)",
           const std::string &zero = "<float[1, 4] e = {0, 0, 0, 0}> {}") {
    onnx::ModelProto model = parseModel(
        "g (float[6, 4] x) => (float[3, 4] r) "
        "<int64[4] o = {0, 1, 4, 6}, int64[1] none = {0}, int64 i0 = {0}, "
        "int64 i1 = {1}, int64[1] six = {6}, int64 two = {2}, "
        "int64 count = {3}, bool yes = {1}, float nought = {0}, "
        "int64[1] one = {1}, int64[1] four = {4}> {\n"
        "  p = SequenceEmpty()\n"
        "  n, q = Loop(most, yes, i0, p)<body = b (int64 n0, bool c, int64 i, "
        "float[1, 4] v) => (bool d, int64 j, float[1, 4] u) {\n"
        "    m1 = Constant<value_ints = [-1]>()\n"
        "    k = Reshape(i, m1)\n"
        "    k1 = Add(k, i1)\n"
        "    a = Slice(o, k, k1)\n"
        "    k2 = Add(k1, i1)\n"
        "    z = Slice(o, k1, k2)\n"
        "    h = Equal(a, z)\n"
        "    l = Equal(i, two)\n"
        "    w = If(h)<then_branch = f () => (float[1, 4] e) " +
        zero + ", else_branch = g () => (float[1, 4] y) {\n" + full +
        "    }>\n"
        "    u = SequenceInsert(v, w)\n"
        "    j = Add(i, i1)\n"
        "    d = Less(j, count)\n"
        "  }>\n" +
        after + "\n}");
    model.mutable_opset_import(0)->set_version(18);
    // The text cannot leave the first operand out.
    for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
      if (node.op_type() == "Loop" && node.input(0) == "most")
        node.set_input(0, "");
    return importProto(model);
  }

  static auto isJoined() {
    return AllOf(HasSubstr("func.func"), Not(HasSubstr("ff.concat")));
  }
  /// One iteration after the other.
  static auto isUnrolled() {
    return AllOf(HasSubstr("ff.concat"), Not(HasSubstr("embedding_backward")));
  }
};

TEST_F(BagTest, OfOneSize) {
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 2, 4}"),
              AllOf(HasSubstr("-> tensor<3x2x4xf32>"),
                    HasSubstr("ff.reduce_sum"),
                    Not(HasSubstr("ff.embedding_backward"))));
}

// The number of a row's bag is counted.
TEST_F(BagTest, WhereverTheyBegin) {
  EXPECT_THAT(bags("ReduceSum", "int64[3] o"),
              AllOf(HasSubstr("ff.cum_sum"), HasSubstr("ff.embedding(%"),
                    HasSubstr("(tensor<6xi64>, tensor<6x4xf32>) -> "
                              "tensor<5x4xf32>"),
                    HasSubstr("(tensor<5x4xf32>) -> tensor<3x4xf32>")));
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 1, 4}"),
              HasSubstr("ff.embedding_backward"));
}

// Rows outside of all bags are left out, and some may be in several.
TEST_F(BagTest, GapsAndOverlaps) {
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {1, 3, 4}"),
              AllOf(HasSubstr("(tensor<6x4xf32>) -> tensor<5x4xf32>"),
                    HasSubstr("-> tensor<3x4xf32>")));
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 4, 2}"),
              HasSubstr("(tensor<6x4xf32>) -> tensor<8x4xf32>"));
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {-2, 1, 4}"),
              AllOf(HasSubstr("(tensor<6x4xf32>) -> tensor<5x4xf32>"),
                    HasSubstr("-> tensor<3x4xf32>")));
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {6, 6, 6}"),
              Not(HasSubstr("ff.embedding_backward")));
}

TEST_F(BagTest, NeedBounds) {
  auto node = [&](const std::string &operands) {
    return importGraph("g (float[6, 4] r, int64[4] s, float[5] f, "
                       "int64 n = {4}, int64 m = {9223372036854775807}) "
                       "=> (float[1] y) { y = ffc.ReduceBags(" +
                       operands + ") }");
  };
  EXPECT_THAT(node("r, s, n"),
              HasSubstr("expected bounds of [4] bags, found shape 4"));
  EXPECT_THAT(node("r, s, m"),
              HasSubstr("expected bounds of [9223372036854775807] bags"));
  EXPECT_THAT(node("r, f, n"),
              HasSubstr("expected integers as operand 1, found type float"));
}

TEST_F(BagTest, Sequences) {
  for (const char *reduction : {"ReduceSum", "ReduceMean", "ReduceMax"})
    EXPECT_THAT(sequence("s = Slice(x, a, z) y = " + std::string(reduction) +
                         "(s, none)"),
                isJoined());
  // The last one on its own.
  EXPECT_THAT(sequence("s = If(l)<then_branch = t () => (float[1, 4] s1) "
                       "{ s1 = Slice(x, a, six) }, "
                       "else_branch = f () => (float[1, 4] s2) "
                       "{ s2 = Slice(x, a, z) }> y = ReduceMax(s, none)"),
              isJoined());
  EXPECT_THAT(sequence("y = If(l)<then_branch = t () => (float[1, 4] y3) {\n"
                       "  s1 = Slice(x, a, z) y1 = ReduceSum(s1, none)\n"
                       "  n1 = Sub(six, a) b1 = Greater(n1, i0)\n"
                       "  y3 = If(b1)<then_branch = u () => (float[1, 4] y4) "
                       "{ n2 = CastLike(n1, x) y4 = Div(y1, n2) }, "
                       "else_branch = v () => (float[1, 4] y5) "
                       "{ y5 = Identity(y1) }> }, "
                       "else_branch = f () => (float[1, 4] y2) "
                       "{ s2 = Slice(x, a, z) y2 = ReduceMean(s2, none) }>"),
              isJoined());
}

// Nothing that a loop computes is dropped.
TEST_F(BagTest, OtherSequencesAreUnrolled) {
  EXPECT_THAT(sequence("s = Slice(x, a, z) t = ReduceSum(s, none) y = Tanh(t)"),
              isUnrolled());
  EXPECT_THAT(sequence("s = Slice(x, a, z) t = Tanh(s) y = ReduceSum(t, none)"),
              isUnrolled());
  EXPECT_THAT(sequence("s = Slice(x, a, z) t = ReduceSum(s, none) "
                       "m = ReduceMax(s, none) y = Add(t, m)"),
              isUnrolled());
  EXPECT_THAT(sequence("s = Slice(x, a, z) y = ReduceSum(s, none)",
                       "r1 = ConcatFromSequence<axis = 0>(q) "
                       "r2 = SequenceAt(q, i0) r = Add(r1, r2)"),
              isUnrolled());
  EXPECT_THAT(sequence("s = Slice(x, a, z) y = ReduceSum(s, none)",
                       "r = ConcatFromSequence<axis = 1>(q)"),
              AllOf(isUnrolled(), HasSubstr("-> tensor<1x12xf32>")));
  // Empty bags are something else, or may be trained to be.
  for (const char *empty :
       {"<float[1, 4] e = {0, 1, 0, 0}> {}",
        "{ p0 = Concat<axis = 0>(one, four) e = Expand(nought, p0) }"})
    EXPECT_THAT(sequence("s = Slice(x, a, z) y = ReduceSum(s, none)",
                         "r = ConcatFromSequence<axis = 0>(q)", empty),
                isUnrolled());
  // The sequence is read in a loop.
  EXPECT_THAT(sequence("s = Slice(x, a, z) y = ReduceSum(s, none)",
                       "r = Loop(i1, yes, x)<body = b2 (int64 n2, bool c2, "
                       "float[3, 4] v2) => (bool c3, float[3, 4] r2) { "
                       "c3 = Identity(c2) "
                       "r2 = ConcatFromSequence<axis = 0>(q) }>"),
              isUnrolled());
}

// Nodes without operands, and those that turn in circles.
TEST_F(BagTest, OfBrokenLoops) {
  for (const char *rows :
       {"t = Gather()", "t = Mul(t, t)", "t = Unsqueeze(t, from)"})
    EXPECT_THAT(bags("ReduceSum", "int64[3] o", rows), HasSubstr("error: "));
  EXPECT_THAT(sequence("s = Slice(x, a, z) t = ReduceSum(y, none) "
                       "y = Identity(t)"),
              HasSubstr("error: "));
  // The number of the iteration is another one in each.
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 1, 4}", "t = Gather(w, n)"),
              Not(HasSubstr("ff.embedding_backward")));
}

TEST_F(BagTest, OtherLoopsAreUnrolled) {
  // A product of two lists would be one of columns and rows.
  for (const char *rows :
       {"t = Gather(w, i)", "t1 = Gather(w, s) t = Mul(t1, t1)"})
    EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 1, 4}", rows),
                isUnrolled());
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 1, 4}",
                   "t1 = Gather(w, s) f = Cast<to = 1>(s) "
                   "f1 = Unsqueeze(f, from) t = Mul(t1, f1)"),
              HasSubstr("ff.embedding_backward"));
}

} // namespace
