//===- IndexOpsTest.cpp - operators that move elements --------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class IndexOpsTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 3, 4], and further operands.
  std::string import(const std::string &operands, const std::string &node,
                     int opset = 13) {
    return importGraph("g (float[2, 3, 4] x" + operands +
                           ") => (float[1] y) { y = " + node + " }",
                       opset);
  }
};

TEST_F(IndexOpsTest, Slice) {
  EXPECT_THAT(import("", "Slice<starts = [1], ends = [99], axes = [2]>(x)", 9),
              AllOf(HasSubstr("ff.slice"),
                    HasSubstr("starts = array<i64: 0, 0, 1>"),
                    HasSubstr("-> tensor<2x3x3xf32>")));
  // Two boxes in one, one dimension in steps and backwards.
  EXPECT_THAT(import(", int64[3] s = {1, -1, -3}, int64[3] e = {2, -9, 9}, "
                     "int64[3] a = {0, 2, 1}, int64[3] t = {1, -2, 1}",
                     "Slice(x, s, e, a, t)"),
              AllOf(HasSubstr("starts = array<i64: 1, 0, 0>"),
                    HasSubstr("-> tensor<1x3x4xf32>"),
                    HasSubstr("axis = 2 : i64"),
                    HasSubstr("indices = array<i64: 3, 1>"),
                    HasSubstr("-> tensor<1x3x2xf32>"),
                    HasSubstr("ff.aliases = [\"y\"]")));
  EXPECT_THAT(import("", "Slice<starts = [0], ends = [99], axes = [2]>(x)", 9),
              AllOf(HasSubstr("ff.output %arg0"), Not(HasSubstr("ff.slice"))));
}

TEST_F(IndexOpsTest, Gather) {
  EXPECT_THAT(import(", int64[3] i = {-1, 0, 2}", "Gather<axis = 1>(x, i)"),
              AllOf(HasSubstr("indices = array<i64: 2, 0, 2>"),
                    HasSubstr("-> tensor<2x3x4xf32>")));
  // Neighbours are a slice; a scalar drops the dimension.
  EXPECT_THAT(import(", int64 i = {-3}", "Gather<axis = -1>(x, i)"),
              AllOf(HasSubstr("starts = array<i64: 0, 0, 1>"),
                    HasSubstr("(tensor<2x3x1xf32>) -> tensor<2x3xf32>"),
                    Not(HasSubstr("ff.gather"))));
  EXPECT_THAT(import(", int64[2, 2] i = {0, 0, 1, 2}", "Gather<axis=1>(x, i)"),
              HasSubstr("(tensor<2x4x4xf32>) -> tensor<2x2x2x4xf32>"));
}

// Lines without positions are left out.
TEST_F(IndexOpsTest, GatherElements) {
  EXPECT_THAT(import(", int64[2, 1, 2] i", "GatherElements<axis = 1>(x, i)"),
              AllOf(HasSubstr("starts = array<i64: 0, 0, 0>"),
                    HasSubstr("ff.gather_elements(%0, %arg1) {axis = 1 : i64"),
                    HasSubstr("(tensor<2x3x2xf32>, tensor<2x1x2xi64>) -> "
                              "tensor<2x1x2xf32>")));
  EXPECT_THAT(import(", int64[2, 5, 4] i", "GatherElements<axis = -2>(x, i)"),
              AllOf(HasSubstr("ff.gather_elements(%arg0, %arg1)"),
                    Not(HasSubstr("ff.slice"))));
  EXPECT_THAT(
      import(", int64[2, 1] i", "GatherElements(x, i)"),
      HasSubstr("expected a 3-dimensional operand 1, found 'i' of shape "
                "2x1"));
  EXPECT_THAT(import(", float[2, 1, 2] i", "GatherElements(x, i)"),
              HasSubstr("expected integers as operand 1, found type float"));
  EXPECT_THAT(import(", int64[2, 4, 2] i", "GatherElements(x, i)"),
              HasSubstr("expected at most 3 positions along dimension 1, "
                        "found 4"));
  EXPECT_THAT(importGraph("g (float[1,1,1,1,1,1,2] x, int64[1,1,1,1,1,1,2] i) "
                          "=> (float[1] y) { y = GatherElements(x, i) }"),
              AllOf(HasSubstr("(tensor<1x1x2xf32>, tensor<1x1x2xi64>) -> "
                              "tensor<1x1x2xf32>"),
                    HasSubstr("-> tensor<1x1x1x1x1x1x2xf32>")));
}

TEST_F(IndexOpsTest, GatherND) {
  EXPECT_THAT(import(", int64[2, 2] i = {0, -1, 1, 0}", "GatherND(x, i)"),
              AllOf(HasSubstr("(tensor<2x3x4xf32>) -> tensor<6x4xf32>"),
                    HasSubstr("starts = array<i64: 2, 0>"),
                    HasSubstr("-> tensor<2x4xf32>")));
  // A position in every sample.
  EXPECT_THAT(
      import(", int64[2, 1] i", "GatherND<batch_dims = 1>(x, i)"),
      AllOf(HasSubstr("ff.embedding"), HasSubstr("-> tensor<2x4xf32>")));
  EXPECT_THAT(import(", int64[3, 1] i", "GatherND<batch_dims = 1>(x, i)"),
              HasSubstr("expected batch_dims leading dimensions that both "
                        "operands have, found 1 of 2x3x4 and 3x1"));
  EXPECT_THAT(import(", int64[2, 4] i", "GatherND(x, i)"),
              HasSubstr("expected positions along 1 to 3 dimensions, found 4"));
}

// The gradient of GatherElements adds elements up; a second one says where.
TEST_F(IndexOpsTest, ScatterElements) {
  EXPECT_THAT(
      import(", int64[2, 1, 2] i, float[2, 1, 2] u",
             "ScatterElements<axis = 1>(x, i, u)"),
      AllOf(HasSubstr("ff.gather_elements_backward(%arg1, %arg2) {axis = 1"),
            HasSubstr("(tensor<2x1x2xi64>, tensor<2x1x2xf32>) -> "
                      "tensor<2x3x2xf32>"),
            HasSubstr("pads = array<i64: 0, 0, 0, 0, 0, 2>"),
            HasSubstr("greater"), HasSubstr("-> tensor<2x3x4xf32>")));
  EXPECT_THAT(
      import(", int64[2, 1, 4] i, float[2, 1, 4] u",
             "ScatterElements<axis = 1, reduction = \"add\">(x, i, u)", 16),
      AllOf(HasSubstr("ff.gather_elements_backward"), HasSubstr("add(%"),
            Not(HasSubstr("greater")), Not(HasSubstr("ff.pad"))));
  EXPECT_THAT(import(", int64[2, 1, 2] i, float[2, 1, 3] u",
                     "ScatterElements<axis = 1>(x, i, u)"),
              HasSubstr("expected operand 2 of shape 2x1x2, found 2x1x3"));
  EXPECT_THAT(import(", int64[2, 1, 2] i, float[2, 1, 2] u",
                     "ScatterElements<axis = 1, reduction = \"mul\">(x, i, u)",
                     16),
              AllOf(HasSubstr("ff.reduce_prod"), HasSubstr("ff.slice"),
                    HasSubstr("-> tensor<2x3x4xf32>")));
  EXPECT_THAT(import(", int64[2, 1, 2] i, float[2, 1, 2] u",
                     "ScatterElements<axis = 1, reduction = \"pow\">(x, i, u)",
                     16),
              HasSubstr("expected reduction none, add, mul, max or min, found "
                        "'pow'"));
}

TEST_F(IndexOpsTest, ScatterND) {
  EXPECT_THAT(import(", int64[3, 2] i, float[3, 4] u", "ScatterND(x, i, u)"),
              AllOf(HasSubstr("(tensor<3xi64>, tensor<3x4xf32>) -> "
                              "tensor<6x4xf32>"),
                    HasSubstr("-> tensor<2x3x4xf32>")));
  EXPECT_THAT(importGraph("g (int64[4] x, int64[1, 1] i, float[1] u) => "
                          "(int64[4] y) { y = ScatterND(x, i, u) }"),
              HasSubstr("expected operands of one type, found int64 and "
                        "float"));
}

/// Integers and bools are scattered as floats.
TEST_F(IndexOpsTest, ScatterIntegers) {
  EXPECT_THAT(
      importGraph("g (int64[4] x, int64[1, 1] i, int64[1] u) => "
                  "(int64[4] y) { y = ScatterND(x, i, u) }"),
      AllOf(HasSubstr("ff.embedding_backward"), HasSubstr("-> tensor<4xi64>")));
  EXPECT_THAT(
      importGraph("g (int32[4] x, int64[2] i, int32[2] u) => (int32[4] y) {"
                  " y = ScatterElements<reduction = \"max\">(x, i, u) }",
                  16),
      AllOf(HasSubstr("ff.reduce_max"), HasSubstr("-> tensor<4xi32>")));
  EXPECT_THAT(importGraph("g (bool[4] x, int64[2] i, bool[2] u) => (bool[4] y) "
                          "{ y = ScatterElements(x, i, u) }"),
              AllOf(HasSubstr("ff.gather_elements_backward"),
                    HasSubstr("-> tensor<4xi1>")));
}

TEST_F(IndexOpsTest, Compress) {
  EXPECT_THAT(import(", bool[4] c = {1, 0, 0, 1}", "Compress<axis = -1>(x, c)"),
              AllOf(HasSubstr("indices = array<i64: 0, 3>"),
                    HasSubstr("-> tensor<2x3x2xf32>")));
  // Positions without a condition are left out.
  EXPECT_THAT(import(", bool[2] c = {0, 1}", "Compress<axis = 1>(x, c)"),
              AllOf(HasSubstr("starts = array<i64: 0, 1, 0>"),
                    HasSubstr("-> tensor<2x1x4xf32>")));
  EXPECT_THAT(import(", bool[3] c = {1, 0, 1}", "Compress(x, c)"),
              AllOf(HasSubstr("(tensor<2x3x4xf32>) -> tensor<24xf32>"),
                    HasSubstr("indices = array<i64: 0, 2>")));
}

TEST_F(IndexOpsTest, RangeOfFloats) {
  EXPECT_THAT(importGraph("g (float[2] x, float a = {1}, float b = {5}, "
                          "float c = {2}) => (float[2] y) {\n"
                          "  r = Range(a, b, c)\n"
                          "  y = Add(x, r)\n"
                          "}"),
              AllOf(HasSubstr("\"r\" \"constant\""), HasSubstr(" add("),
                    Not(HasSubstr("parameter"))));
}

TEST_F(IndexOpsTest, OneHot) {
  auto encode = [&](const std::string &node) {
    return importGraph(
        "g (int64[2, 3] x, float d = {5}, float[2] v = {0, 1}, int32[2] w = "
        "{2, 7}, float[3] three = {1, 2, 3}, float none = {0}, int64 n) => "
        "(float[1] y) { y = " +
        node + " }");
  };
  EXPECT_THAT(encode("OneHot(x, d, v)"),
              AllOf(HasSubstr("(tensor<2x3xf32>) -> tensor<2x3x1xf32>"),
                    HasSubstr("\"y.positions\" \"constant\""),
                    HasSubstr("alpha -5.0"), HasSubstr(" equal("),
                    HasSubstr(" max("), HasSubstr("tensor<2x3x5xf32>"),
                    Not(HasSubstr("greater"))));
  EXPECT_THAT(encode("OneHot<axis = 0>(x, d, w)"),
              AllOf(HasSubstr("(tensor<2x3xf32>) -> tensor<1x2x3xf32>"),
                    HasSubstr("tensor<5x1x1xf32>"), HasSubstr("ff.select"),
                    HasSubstr("-> tensor<5x2x3xi32>")));
  EXPECT_THAT(encode("OneHot<axis = 3>(x, d, v)"),
              HasSubstr("axis 3 is not a dimension of a 3-dimensional"));
  EXPECT_THAT(encode("OneHot(x, none, v)"),
              HasSubstr("expected a depth from 1 to 65536, found 0"));
  EXPECT_THAT(encode("OneHot(x, d, three)"),
              HasSubstr("expected two values as operand 2, found shape 3"));
  EXPECT_THAT(encode("OneHot(x, n, v)"),
              HasSubstr("expected a constant as operand 1, found 'n'"));
}

TEST_F(IndexOpsTest, Split) {
  auto split = [&](const std::string &text, int opset) {
    return importGraph("g (float[2, 7] x, int64[2] s = {3, 4}) => "
                       "(float[1] a, float[1] b) { a, b = " +
                           text + " }",
                       opset);
  };
  auto expected = AllOf(
      HasSubstr("starts = array<i64: 0, 0>"), HasSubstr("-> tensor<2x3xf32>"),
      HasSubstr("ff.aliases = [\"a\"]"), HasSubstr("starts = array<i64: 0, 3>"),
      HasSubstr("-> tensor<2x4xf32>"), HasSubstr("ff.aliases = [\"b\"]"));
  EXPECT_THAT(split("Split<axis = 1, split = [3, 4]>(x)", 11), expected);
  EXPECT_THAT(split("Split<axis = -1>(x, s)", 13), expected);
  EXPECT_THAT(split("Split<axis = 0>(x)", 13),
              AllOf(HasSubstr("starts = array<i64: 1, 0>"),
                    HasSubstr("-> tensor<1x7xf32>")));
  EXPECT_THAT(split("Split<axis = 1>(x)", 13),
              HasSubstr("cannot split 7 into 2 equal parts"));
  EXPECT_THAT(split("Split<axis = 1, split = [3, 3]>(x)", 11),
              HasSubstr("expected 2 parts of together 7, found [3x3]"));
}

TEST_F(IndexOpsTest, SplitOfAConstant) {
  EXPECT_THAT(importGraph("g (float[2, 3, 4] x) => (float[1] y) {\n"
                          "  s = Shape(x)\n"
                          "  a, b, c = Split(s)\n"
                          "  t = Mul(b, c)\n"
                          "  u = Concat<axis = 0>(a, t)\n"
                          "  y = Reshape(x, u)\n"
                          "}"),
              HasSubstr("-> tensor<2x12xf32>"));
}

TEST_F(IndexOpsTest, Pad) {
  const std::string pads = ", int64[6] p = {0, 0, 2, 0, 0, 1}";
  EXPECT_THAT(import(pads + ", float v = {7}", "Pad(x, p, v)"),
              AllOf(HasSubstr("value = 7.0"), HasSubstr("tensor<2x3x7xf32>")));
  EXPECT_THAT(import(pads, "Pad<mode = \"edge\">(x, p)"),
              HasSubstr("indices = array<i64: 0, 0, 0, 1, 2, 3, 3>"));
  EXPECT_THAT(import(pads, "Pad<mode = \"reflect\">(x, p)"),
              HasSubstr("indices = array<i64: 2, 1, 0, 1, 2, 3, 2>"));
  EXPECT_THAT(import(", int64[6] p = {0, -1, 0, 0, 2, 0}",
                     "Pad<mode = \"edge\">(x, p)"),
              AllOf(HasSubstr("axis = 1"),
                    HasSubstr("indices = array<i64: 1, 2, 2, 2>")));
  EXPECT_THAT(
      import("", "Pad<mode = \"edge\", pads = [0, 0, 0, 0, 0, 1]>(x)", 10),
      HasSubstr("indices = array<i64: 0, 1, 2, 3, 3>"));
}

TEST_F(IndexOpsTest, ExpandAndTile) {
  EXPECT_THAT(import(", int64[4] s = {5, 1, 3, 1}", "Expand(x, s)"),
              HasSubstr("-> tensor<5x2x3x4xf32>"));
  EXPECT_THAT(import(", int64[2] s = {3, 1}", "Expand(x, s)"),
              Not(HasSubstr("ff.expand")));
  EXPECT_THAT(import(", int64[3] r = {1, 2, 3}", "Tile(x, r)"),
              AllOf(HasSubstr("-> tensor<2x1x3x1x4xf32>"),
                    HasSubstr("-> tensor<2x2x3x3x4xf32>"),
                    HasSubstr("-> tensor<2x6x12xf32>")));
  EXPECT_THAT(importGraph("g (float[1, 3] x, int64[2] r = {4, 1}) => "
                          "(float[1] y) { y = Tile(x, r) }"),
              AllOf(HasSubstr("ff.expand"), Not(HasSubstr("ff.reshape")),
                    HasSubstr("-> tensor<4x3xf32>")));
  // A constant that becomes too large to be evaluated.
  EXPECT_THAT(
      importGraph("g (float[90000] x, int64[1] r = {30000}) => "
                  "(float[1] y) { c = Constant<value_ints = [1, 2, 3]>() "
                  "t = Tile(c, r) f = Cast<to = 1>(t) y = Mul(x, f) }"),
      HasSubstr("ff.expand"));
}

TEST_F(IndexOpsTest, DepthToSpace) {
  auto convert = [&](const std::string &node) {
    return importGraph("g (float[1, 8, 2, 4] x) => (float[1] y) { y = " + node +
                       " }");
  };
  EXPECT_THAT(convert("DepthToSpace<blocksize = 2>(x)"),
              AllOf(HasSubstr("perm = array<i64: 0, 3, 4, 1, 5, 2>"),
                    HasSubstr("-> tensor<1x2x4x8xf32>")));
  EXPECT_THAT(convert("DepthToSpace<blocksize = 2, mode = \"CRD\">(x)"),
              HasSubstr("perm = array<i64: 0, 1, 4, 2, 5, 3>"));
  EXPECT_THAT(convert("SpaceToDepth<blocksize = 2>(x)"),
              AllOf(HasSubstr("perm = array<i64: 0, 3, 5, 1, 2, 4>"),
                    HasSubstr("-> tensor<1x32x1x2xf32>")));
  EXPECT_THAT(convert("DepthToSpace<blocksize = 3>(x)"),
              HasSubstr("expected a multiple of 9 channels"));
  EXPECT_THAT(convert("SpaceToDepth<blocksize = 3>(x)"),
              HasSubstr("expected rows and columns in multiples of 3"));
  EXPECT_THAT(convert("SpaceToDepth(x)"),
              HasSubstr("expected a positive attribute 'blocksize', found 0"));
}

TEST_F(IndexOpsTest, IndexArithmeticIsFolded) {
  // Range(0, 6, 2) is [0, 2, 4]; its elements over 0 are at 1 and 2.
  EXPECT_THAT(
      importGraph(
          "g (float[2, 4] x, int64 a = {0}, int64 b = {6}, int64 c = {2}, "
          "int64[2] o = {0, 1}, int64 d = {2}, int64[2] v = {1, 2}) => "
          "(float[1] y) {\n"
          "  r = Range(a, b, c)\n"                         // 0 2 4
          "  k = Greater(r, a)\n"                          // 0 1 1
          "  z = Compress(r, k)\n"                         // 2 4
          "  n = NonZero(r)\n"                             // [[1 2]]
          "  f = ReduceMax(n)\n"                           // [[2]]
          "  h = OneHot(o, d, v)\n"                        // [[2 1] [1 2]]
          "  m = ReduceMin<axes = [0], keepdims = 0>(h)\n" // 1 1
          "  w = Mul(z, m)\n"                              // 2 4
          "  q = Mod(w, f)\n"                              // [[0 0]]
          "  e = Add(q, w)\n"                              // [[2 4]]
          "  p = Pow(f, f)\n"                              // [[4]]
          "  t = Tile(p, v)\n"                             // [[4 4]]
          "  s = Min(e, t)\n"                              // [[2 4]]
          "  l = Squeeze(s)\n"
          "  y = Reshape(x, l)\n"
          "}"),
      AllOf(HasSubstr("ff.output %arg0"), Not(HasSubstr("ff.reshape"))));
}

TEST_F(IndexOpsTest, Errors) {
  const std::pair<std::string, std::string> cases[] = {
      {import(", int64[1] i = {3}", "Gather<axis = 1>(x, i)"),
       "index 3 is out of range for extent 3"},
      {import(", float[1] i = {0}", "Gather<axis = 1>(x, i)"),
       "expected integers as operand 1, found type float"},
      {import(", int64[1] s = {0}, int64[1] e = {9}, int64[1] a = {0}, "
              "int64[1] t = {0}",
              "Slice(x, s, e, a, t)"),
       "expected steps other than 0"},
      {import(", bool[4] c = {1, 0, 0, 1}", "Compress<axis = 1>(x, c)"),
       "expected at most 3 conditions, found 4"},
      {import(", int64[1] c = {1}", "Compress(x, c)"),
       "expected bools as operand 1, found type int64"},
      {import(", bool[2] c = {0, 0}", "Compress<axis = 1>(x, c)"),
       "'y' has shape 2x0x4"},
      {import(", bool[2] c", "Compress(x, c)"),
       "unsupported operators: Compress by a computed condition (1: 'y')"},
      {import(", float a, float b = {1}", "Range(a, b, b)"),
       "unsupported operators: Range with computed operands (1: 'y')"},
      {import(", float a = {0}, float b = {1}, float c = {0}",
              "Range(a, b, c)"),
       "cannot evaluate a range from 0 to 1 in steps of 0"},
      {import(", int64[1] s = {2}, int64[1] e = {1}", "Slice(x, s, e)"),
       "'y' has shape 0x3x4"},
      {import(", int64[1] s = {5}", "Expand(x, s)"),
       "cannot expand 2x3x4 to 5"},
      {import(", int64[1] r = {5}", "Tile(x, r)"),
       "expected 3 repeats, found 1"},
      {import(", int64[3] r = {1, 0, 1}", "Tile(x, r)"),
       "expected repeats over 0, found 0"}};
  for (const auto &[text, message] : cases)
    EXPECT_THAT(text, HasSubstr(message));
}

TEST_F(IndexOpsTest, ChangedBatch) {
  options.batchSize = 6;
  auto expectRefused = [&](const std::string &operands, const std::string &node,
                           int opset) {
    EXPECT_THAT(import(operands, node, opset),
                HasSubstr("stands in the way of --batch-size"))
        << node;
  };
  expectRefused("", "Slice<starts = [0], ends = [1]>(x)", 9);
  expectRefused("", "Pad<mode = \"edge\", pads = [1, 0, 0, 0, 0, 0]>(x)", 9);
  expectRefused(", int64[1] i = {1}", "Gather(x, i)", 13);
  expectRefused(", int64[3] r = {2, 1, 1}", "Tile(x, r)", 13);
  expectRefused(", bool[2] c = {1, 0}", "Compress<axis = 0>(x, c)", 13);
  expectRefused(", bool[2] c = {1, 0}", "Compress(x, c)", 13);
  EXPECT_THAT(importGraph("g (float[2, 3] x) => (float[1] y, float[1] z) "
                          "{ y, z = Split<axis = 0>(x) }"),
              HasSubstr("splits the batch and stands in the way"));
  EXPECT_THAT(import("", "Slice<starts = [0], ends = [999]>(x)", 9),
              Not(HasSubstr("error")));
}

} // namespace
