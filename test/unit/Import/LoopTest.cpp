//===- LoopTest.cpp - Loop and Scan ---------------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class LoopTest : public ImportFixture {
protected:
  /// A Loop of `trips` iterations over x, a float[2, 3].
  std::string loop(const std::string &trips, const std::string &body,
                   const std::string &more = "", int opset = 13) {
    return importGraph("g (float[2, 3] x, int64 m = {" + trips +
                           "}, bool yes = {1}" + more +
                           ") => (float[2, 3] y, float[1] s) {"
                           "  y, s = Loop (m, yes, x) <body = b "
                           "(int64 i, bool c, float[2, 3] v) => "
                           "(bool d, float[2, 3] w, float[3] t) {" +
                           body + "}> }",
                       opset);
  }
  /// A Scan over the columns of x, a float[2, 3], from state z.
  std::string scan(const std::string &attributes,
                   const std::string &inputs = "z, x") {
    return importGraph(
        "g (float[2, 3] x, float[2] z) => (float[2] y, float[1] s) {"
        "  y, s = Scan <num_scan_inputs = 1, " +
        attributes +
        " body = b (float[2] a, float[2] v) => "
        "(float[2] n, float[2] t) { n = Add(a, v) t = Relu(n) }> (" +
        inputs + ") }");
  }
};

TEST_F(LoopTest, Unrolls) {
  const std::string body =
      "d = Identity(c) w = Tanh(v) t = ReduceSum<keepdims = 0>(w, zero)";
  for (int opset : {11, 13})
    EXPECT_THAT(loop("3",
                     opset == 11 ? "d = Identity(c) w = Tanh(v) "
                                   "t = ReduceSum<keepdims = 0, axes = [0]>(w)"
                                 : body,
                     ", int64[1] zero = {0}", opset),
                AllOf(HasSubstr("tanh(%arg0)"), HasSubstr("tanh(%2)"),
                      HasSubstr("(tensor<1x3xf32>, tensor<1x3xf32>, "
                                "tensor<1x3xf32>) -> tensor<3x3xf32>")))
        << opset;
}

// The number of an iteration is a constant in it, and so is what follows.
TEST_F(LoopTest, NumbersIterations) {
  EXPECT_THAT(loop("2",
                   "d = Identity(c) f = Cast<to = 1>(i) "
                   "u = Unsqueeze(f, zero) k = Concat<axis = 0>(u, u, u) "
                   "w = Add(v, k) "
                   "t = Gather<axis = 0>(w, i)",
                   ", int64[1] zero = {0}"),
              AllOf(HasSubstr("ff.state \"k\" \"constant\""),
                    HasSubstr("ff.state \"k_1\" \"constant\""),
                    HasSubstr("starts = array<i64: 0, 0>"),
                    HasSubstr("starts = array<i64: 1, 0>")));
}

// A weight is one, however often it is used.
TEST_F(LoopTest, SharesWeights) {
  const std::string text = importGraph(
      "g (float[2, 3] x, int64 m = {2}) => (float[2, 3] y) {"
      "  y = Loop (m, , x) <body = b (int64 i, bool c, float[2, 3] v) => "
      "(bool d, float[2, 3] w) <float[3, 3] k = {1, 0, 0, 0, 1, 0, 0, 0, 1}> {"
      "d = Identity(c) w = MatMul(v, k) }> }");
  EXPECT_THAT(text, AllOf(HasSubstr("ff.state \"k\" \"parameter\""),
                          Not(HasSubstr("k_1"))));
}

TEST_F(LoopTest, EndsByCondition) {
  const std::string text =
      loop("9",
           "two = Constant<value_int = 1>() d = Less(i, two) "
           "w = Relu(v) t = ReduceSum<keepdims = 0>(w, zero)",
           ", int64[1] zero = {0}");
  EXPECT_THAT(text, AllOf(HasSubstr("tensor<2x3xf32>"),
                          HasSubstr("-> tensor<2x3xf32>")));
}

TEST_F(LoopTest, Scans) {
  // Columns, the results as columns from the last one on.
  EXPECT_THAT(scan("scan_input_axes = [-1], scan_output_axes = [1], "
                   "scan_output_directions = [1],"),
              AllOf(HasSubstr("starts = array<i64: 0, 2>"),
                    HasSubstr("(tensor<2x1xf32>, tensor<2x1xf32>, "
                              "tensor<2x1xf32>) -> tensor<2x3xf32>")));
}

TEST_F(LoopTest, Errors) {
  const std::string fine = "d = Identity(c) w = Tanh(v) "
                           "t = Gather<axis = 0>(w, i)";
  EXPECT_THAT(
      loop("10001",
           "d = Identity(c) w = Identity(v) "
           "t = ReduceSum<keepdims = 0>(x, zero)",
           ", int64[1] zero = {0}"),
      HasSubstr("expected at most 10000 iterations of all loops together"));
  EXPECT_THAT(loop("0", fine),
              HasSubstr("no iteration runs, so that result 1 has no elements"));
  EXPECT_THAT(loop("2", "d = Identity(c) w = Tanh(v) t = Nothing(w)"),
              HasSubstr("unsupported operators: Nothing (1: 't')"));
  EXPECT_THAT(
      loop("2", "d = Less(q, p) w = Tanh(v) t = Gather<axis = 0>(w, i)",
           ", float p, float q"),
      HasSubstr("unsupported operators: Loop with a computed condition"));
  EXPECT_THAT(
      importGraph("g (float[2] x, int64 m) => (float[2] y) { y = Loop (m, , x) "
                  "<body = b (int64 i, bool c, float[2] v) => "
                  "(bool d, float[2] w) { d = Identity(c) w = Relu(v) }> }"),
      HasSubstr("unsupported operators: Loop with a computed trip count"));
  EXPECT_THAT(importGraph("g (float[2] x, int64 m = {1}) => (float[2] y) "
                          "{ y = Loop (m, , x) }"),
              HasSubstr("expected attribute 'body'"));
  EXPECT_THAT(
      importGraph("g (float[2] x, int64 m = {1}) => (float[2] y) "
                  "{ y = Loop (m, , x) <body = b (int64 i) => (bool d) "
                  "{ d = Cast<to = 9>(i) }> }"),
      HasSubstr("expected a body with 3 inputs and 2 outputs, found 1 and 1"));
  EXPECT_THAT(
      importGraph("g (float[2] x, int64 m = {1}) => (float[2] y, float[2] z) "
                  "{ y, z = Loop (m, , x, ) <body = b (int64 i, bool c, "
                  "float[2] v, float[2] u) => (bool d, float[2] w, float[2] t) "
                  "{ d = Identity(c) w = Relu(v) t = Relu(v) }> }"),
      HasSubstr("operand 3 is missing"));
  EXPECT_THAT(
      importGraph("g (float[2] x, int64 m = {1}) => (float[2] y) "
                  "{ y = Loop (m, , x, x) <body = b (int64 i) => (bool d) "
                  "{ d = Cast<to = 9>(i) }> }"),
      HasSubstr("expected at least 2 results, found 1"));
  EXPECT_THAT(loop("2", "d = Identity(c) w = Tanh(v)"),
              HasSubstr("nothing defines its input 't'"));
  EXPECT_THAT(loop("2", "d = Identity(c) w = Concat<axis = 0>(v, v) "
                        "t = Identity(w)"),
              HasSubstr("expected results of one shape from all iterations, "
                        "found 4x3 and 8x3"));
  EXPECT_THAT(scan("scan_input_axes = [2],"),
              HasSubstr("expected an axis of operand 1 within its rank 2, "
                        "found 2"));
  EXPECT_THAT(scan("scan_input_axes = [1], scan_output_axes = [2],"),
              HasSubstr("expected an axis of result 1 within its rank 2, "
                        "found 2"));
  EXPECT_THAT(scan("scan_input_axes = [0, 1],"),
              HasSubstr("expected 1 numbers in 'scan_input_axes', found 2"));
  EXPECT_THAT(
      importGraph("g (float[2] x) => (float[2] y) { y = Scan "
                  "<num_scan_inputs = 2, body = b (float v) => (float t) "
                  "{ t = Relu(v) }> (x) }"),
      HasSubstr("expected num_scan_inputs from 1 to 1, found 2"));
  EXPECT_THAT(
      importGraph("g (float[2] x, float[3] z) => (float[2] y, float[2] s) "
                  "{ y, s = Scan <num_scan_inputs = 2, body = b (float v, "
                  "float u) => (float t, float r) { t = Relu(v) r = Relu(u) "
                  "}> (x, z) }"),
      HasSubstr("expected operands of one length to scan, found 2 and 3"));
}

// Before opset 9 a batch of sequences is walked through.
TEST_F(LoopTest, ScansSamples) {
  // Text has no way to leave the first operand out.
  auto withoutLengths = [&](const std::string &graph) {
    onnx::ModelProto model = parseModel(graph);
    model.mutable_opset_import(0)->set_version(8);
    for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
      node.set_input(0, "");
    return importProto(model);
  };
  auto scan = [&](const std::string &attributes) {
    return "g (float[2, 3] x, int64[2] l) => (float[2, 3] y) { y = Scan "
           "<num_scan_inputs = 1, " +
           attributes +
           " body = b (float v) => (float t) { t = Relu(v) }> (l, "
           "x) }";
  };
  // Three elements of each of two samples.
  const std::string text = withoutLengths(scan("directions = [1],"));
  EXPECT_EQ(count(text, "relu("), 6u);
  EXPECT_THAT(text, HasSubstr("-> tensor<2x3xf32>"));
  EXPECT_THAT(withoutLengths(scan("directions = [1, 0],")),
              HasSubstr("expected 1 numbers in 'directions', found 2"));
  EXPECT_THAT(
      importGraph(scan(""), 8),
      HasSubstr("unsupported operators: Scan with lengths of sequences"));
  EXPECT_THAT(
      withoutLengths(
          "g (float[2, 3] x, float[3, 3] z) => (float[2, 3] y, "
          "float[2, 3] s) { y, s = Scan <num_scan_inputs = 2, body = "
          "b (float v, float u) => (float t, float r) { t = Relu(v) "
          "r = Relu(u) }> (x, x, z) }"),
      HasSubstr("expected operands of one batch, found 'z' of shape 3x3"));
  // Nothing to walk through.
  const std::string empty =
      "g (float[2, 3] x, float[2, 0] e = {}) => (float[2, 3] y) { y = Scan "
      "<num_scan_inputs = 1, body = b (float v) => (float t) { t = Relu(v) }> "
      "(x, e) }";
  EXPECT_THAT(withoutLengths(empty),
              HasSubstr("no iteration runs: expected elements to scan, found "
                        "none"));
}

} // namespace
