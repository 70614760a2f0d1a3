//===- SequenceTest.cpp - sequences, and tensors without elements ---------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class SequenceTest : public ImportFixture {
protected:
  /// Nodes on x, a float[2, 6], and z, a float[2, 6], with numbers i0, i1, m1.
  std::string nodes(const std::string &text) {
    return importGraph("g (float[2, 6] x, float[2, 6] z, int64 i0 = {0}, "
                       "int64 i1 = {1}, int64 m1 = {-1}, int64 four = {4}, "
                       "int64[2] parts = {1, 5}) => (float[1] y) { " +
                           text + " }",
                       17);
  }
};

TEST_F(SequenceTest, MadeAndTakenApart) {
  EXPECT_THAT(nodes("s = SequenceConstruct(x, z) y = SequenceAt(s, m1)"),
              HasSubstr("ff.output %arg1"));
  EXPECT_THAT(nodes("e = SequenceEmpty() s = SequenceInsert(e, x) "
                    "t = SequenceInsert(s, z, i0) y = SequenceAt(t, i0)"),
              HasSubstr("ff.output %arg1"));
  EXPECT_THAT(nodes("s = SequenceConstruct(x, z) t = SequenceErase(s, i0) "
                    "u = Identity(t) y = SequenceAt(u, i0)"),
              HasSubstr("ff.output %arg1"));
  EXPECT_THAT(nodes("s = SequenceConstruct(x, z, x) n = SequenceLength(s) "
                    "k = Constant<value_ints = [0]>() m = Unsqueeze(n, k) "
                    "l = Constant<value_ints = [4]>() "
                    "t = Concat<axis = 0>(m, l) y = Reshape(x, t)"),
              HasSubstr("tensor<3x4xf32>"));
}

TEST_F(SequenceTest, Splits) {
  EXPECT_THAT(nodes("s = SplitToSequence<axis = 1>(x, parts) "
                    "y = SequenceAt(s, i1)"),
              HasSubstr("-> tensor<2x5xf32>"));
  // One number is the extent of all but the last part.
  EXPECT_THAT(nodes("s = SplitToSequence<axis = 1>(x, four) "
                    "y = SequenceAt(s, i1)"),
              HasSubstr("-> tensor<2x2xf32>"));
  EXPECT_THAT(nodes("s = SplitToSequence<axis = 1>(x) y = SequenceAt(s, i1)"),
              HasSubstr("-> tensor<2x1xf32>"));
  EXPECT_THAT(nodes("s = SplitToSequence<axis = 0, keepdims = 0>(x) "
                    "y = SequenceAt(s, i1)"),
              HasSubstr("-> tensor<6xf32>"));
  EXPECT_THAT(nodes("s = SplitToSequence<axis = 0>(x, parts) "
                    "y = SequenceAt(s, i1)"),
              HasSubstr("expected parts of together 2, found [1x5]"));
}

TEST_F(SequenceTest, Concatenations) {
  EXPECT_THAT(nodes("s = SequenceConstruct(x, z) "
                    "y = ConcatFromSequence<axis = 1>(s)"),
              HasSubstr("-> tensor<2x12xf32>"));
  EXPECT_THAT(nodes("s = SequenceConstruct(x, z) "
                    "y = ConcatFromSequence<axis = -1, new_axis = 1>(s)"),
              HasSubstr("-> tensor<2x6x2xf32>"));
  EXPECT_THAT(nodes("s = SequenceEmpty() y = ConcatFromSequence<axis = 1>(s)"),
              HasSubstr("expected a sequence that has tensors"));
}

TEST_F(SequenceTest, Errors) {
  EXPECT_THAT(nodes("s = SequenceConstruct(x, z) y = Relu(s)"),
              HasSubstr("unsupported operators: Relu of a sequence (1: 'y')"));
  EXPECT_THAT(nodes("y = SequenceConstruct(x, z)"),
              HasSubstr("output 'y' is a sequence, expected a tensor"));
  EXPECT_THAT(nodes("y = SequenceAt(x, i0)"),
              HasSubstr("node 'y' (SequenceAt): expected a sequence as operand "
                        "0, found the tensor 'x'"));
  EXPECT_THAT(nodes("s = SequenceConstruct(x) y = SequenceAt(s, i1)"),
              HasSubstr("position 1 is none of a sequence of 1 tensors"));
  EXPECT_THAT(nodes("f = Constant<value_float = 0.5>() "
                    "s = SequenceConstruct(x) y = SequenceAt(s, f)"),
              HasSubstr("expected a list of integers as operand 1, found 'f' "
                        "of type float"));
  EXPECT_THAT(
      importGraph("g (float[100000000] w, int64 i0 = {0}, "
                  "int64 i1 = {1}) => (float[1] y) "
                  "{ s = SplitToSequence(w, i1) y = SequenceAt(s, i0) }"),
      HasSubstr("node 's' (SplitToSequence): expected a sequence of at most "
                "10000 tensors, found 100000000"));
  EXPECT_THAT(importGraph("g (float[100000000] w, int64 i0 = {0}) => "
                          "(float[1] y) "
                          "{ s = SplitToSequence(w) y = SequenceAt(s, i0) }"),
              HasSubstr("at most 10000 tensors, found 100000000"));
  EXPECT_THAT(nodes("l = Constant<value_ints = [0, 1]>() "
                    "s = SequenceConstruct(x, z) y = SequenceAt(s, l)"),
              HasSubstr("expected one position as operand 1, found [0x1]"));
  EXPECT_THAT(nodes("s = SequenceConstruct(x) t = SequenceConstruct(s) "
                    "y = SequenceAt(t, i0)"),
              HasSubstr("expected a tensor as operand 0, found the sequence "
                        "'s'"));
}

/// Tensors without elements are joined with others, and nothing is computed.
TEST_F(SequenceTest, NoElements) {
  EXPECT_THAT(nodes("shape = Constant<value_ints = [2, 0]>() "
                    "e = ConstantOfShape(shape) two = Constant<value_float = "
                    "2.0>() f = Mul(e, two) h = Relu(f) "
                    "y = Concat<axis = 1>(x, h)"),
              AllOf(HasSubstr("ff.output %arg0"), Not(HasSubstr("ff.concat"))));
  EXPECT_THAT(nodes("n = Constant<value_ints = [0]>() s = Slice(x, n, n, a) "
                    "a = Constant<value_ints = [1]>() t = Tanh(s) "
                    "c = Concat<axis = 1>(t, x, s, z) y = Relu(c)"),
              HasSubstr("ff.concat(%arg0, %arg1)"));
  EXPECT_THAT(nodes("p = Constant<value_ints = [0, 6]>() "
                    "a, b = Split<axis = 1>(x, p) "
                    "c = Concat<axis = 1>(a, b) y = Relu(c)"),
              HasSubstr("-> tensor<2x6xf32>"));
  EXPECT_THAT(nodes("n = Constant<value_ints = [0]>() y = Slice(x, n, n, n)"),
              HasSubstr("'y' has shape 0x6, expected at most 8 dimensions with "
                        "positive extents"));
}

TEST_F(SequenceTest, ComputedBounds) {
  EXPECT_THAT(nodes("a = ReduceMax<keepdims = 0>(z) y = Clip(x, a)"),
              AllOf(HasSubstr("max("), Not(HasSubstr("clip("))));
  EXPECT_THAT(nodes("a = ReduceMax<keepdims = 0>(z) "
                    "b = Constant<value_float = 1.0>() y = Clip(x, b, a)"),
              AllOf(HasSubstr("max("), HasSubstr("min(")));
}

} // namespace
