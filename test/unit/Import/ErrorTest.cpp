//===- ErrorTest.cpp - every message, and the model that causes it --------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::HasSubstr;

namespace {

struct ErrorCase {
  const char *graph;
  const char *message;
  int opset = 13;
};

class GraphErrorTest : public ImportFixture,
                       public testing::WithParamInterface<ErrorCase> {};

TEST_P(GraphErrorTest, IsReported) {
  std::string result = importGraph(GetParam().graph, GetParam().opset);
  EXPECT_THAT(result, HasSubstr(GetParam().message));
  EXPECT_THAT(result, HasSubstr("error: loc(\"m.onnxtxt\":0:0): "));
}

// Structure.
INSTANTIATE_TEST_SUITE_P(
    Graph, GraphErrorTest,
    testing::Values(
        ErrorCase{"g (float[2] x) => (float[2] y) { y = Relu(z) }",
                  "node 'y' (Relu): nothing defines its input 'z'"},
        ErrorCase{"g (float[2] x) => (float[2] y) { y = Relu(x) y = Tanh(x) }",
                  "node 'y_1' (Tanh): its output 'y' is defined already"},
        ErrorCase{"g (float[2] x) => (float[2] y) { a = Relu(b) b = Tanh(a) "
                  "y = Add(x, a) }",
                  "node 'a' (Relu) depends on its own result"},
        ErrorCase{"g (float[2] x) => (float[2] z) { y = Relu(x) }",
                  "nothing defines output 'z'"},
        ErrorCase{"g (float[2] x) => () { y = Relu(x) }", "has no outputs"},
        ErrorCase{"g (float[2] x) => (float[2] y, float[2] y) { y = Relu(x) }",
                  "output 'y' is listed twice"},
        ErrorCase{"g (float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }",
                  "input 'x' is defined twice"},
        ErrorCase{"g (float[2] x, string[2] w = {\"a\", \"b\"}) => "
                  "(string[2] w) { y = Relu(x) }",
                  "'w': element type string is not supported"},
        ErrorCase{"g (float[2] x) => (float[2] y) { a = Foo(x) b = Bar(x) "
                  "c = Foo(a) y = Add(b, c) }",
                  "unsupported operators: Foo (2: 'a', 'c'), Bar (1: "
                  "'b')"},
        ErrorCase{"g (float[2] x) => (float[2] y) { y = com.acme.Relu(x) }",
                  "unsupported operators: com.acme.Relu (1: 'y')"},
        ErrorCase{"g (int64[2] x) => (float[2] y) { y = Tanh(x) }",
                  "unsupported operators: Tanh of int64 (1: 'y')"},
        ErrorCase{"g (float[2] x) => (float[2] y) { y = Cast<to = 8>(x) }",
                  "unsupported operators: Cast from float to string"},
        ErrorCase{"g (float[2] x) => (float[2] y) { y = Cast<to = 22>(x) }",
                  "unsupported operators: Cast from float to int4"},
        ErrorCase{"g (bool c, float[2] x) => (float[2] y) { y = If (c) "
                  "<then_branch = a () => (float[2] p) { p = Relu(x) }, "
                  "else_branch = b () => (float[2] q) { q = Tanh(x) }> }",
                  "unsupported operators: If on a computed condition"},
        ErrorCase{"g (float[2] x) => (float[2] y) "
                  "{ q = QuantizeLinear(x, x) y = DequantizeLinear(q, x) }",
                  "unsupported operators: QuantizeLinear (1: 'q'), "
                  "DequantizeLinear (1: 'y'); models after "
                  "quantisation are not supported, expected the one before "
                  "it"}));

// Inputs.
INSTANTIATE_TEST_SUITE_P(
    Inputs, GraphErrorTest,
    testing::Values(
        ErrorCase{"g (string[2] x) => (float[2] y) { y = Relu(x) }",
                  "input 'x' has element type string, expected floats of 16 to "
                  "64 bits, integers of 8 to 64 or bool"},
        ErrorCase{"g (float[0] x) => (float[2] y) { y = Relu(x) }",
                  "dimension 0 of input 'x' is 0 in the model; give --dim "
                  "x:0=VALUE or --batch-size"},
        ErrorCase{"g (float[2, N] x) => (float[2] y) { y = Relu(x) }",
                  "dimension 1 of input 'x' is symbolic; give --dim N=VALUE"},
        ErrorCase{"g (float[N] x) => (float[2] y) { y = Relu(x) }",
                  "dimension 0 of input 'x' is symbolic; give --dim N=VALUE or "
                  "--batch-size"},
        ErrorCase{"g (float[2, ?] x) => (float[2] y) { y = Relu(x) }",
                  "dimension 1 of input 'x' is unknown and has no name; give "
                  "--dim x:1=VALUE"},
        ErrorCase{"g (float[] x) => (float[2] y) { y = Relu(x) }",
                  "input 'x': expected a tensor of known rank"},
        ErrorCase{"g (float[4294967296, 4294967296] x) => (float[2] y) "
                  "{ y = Relu(x) }",
                  "input 'x' has shape 4294967296x4294967296, which is too "
                  "large"},
        ErrorCase{"g (float[1,1,1,1,1,1,1,1,1] x) => (float[2] y) "
                  "{ y = Relu(x) }",
                  "expected at most 8 dimensions"},
        ErrorCase{"g (float[2] x, float[3] w = {1, 2}) => (float[2] y) "
                  "{ y = Add(x, w) }",
                  "initializer 'w': expected 3 elements for shape 3, found 2"},
        ErrorCase{"g (float[2] x, double[2] w = {1, 2}) => (float[2] y) "
                  "{ y = Add(x, w) }",
                  "node 'y' (Add): expected operands of one type, found float "
                  "and double"}));

// Operators.
INSTANTIATE_TEST_SUITE_P(
    Nodes, GraphErrorTest,
    testing::Values(
        ErrorCase{"g (float[2] x) => (float[2] y) { y = Relu(x, x) }",
                  "node 'y' (Relu): expected at most 1 operands in "
                  "version 13 of Relu, which opset 13 has, found 2"},
        ErrorCase{"g (float[2] x) => (float[2] y) { y = Add(x) }",
                  "node 'y' (Add): expected at least 2 operands, found 1"},
        ErrorCase{"g (float[2] x) => (float[2] y) { a, b = Relu(x) "
                  "y = Tanh(b) }",
                  "(Relu): its result 1 ('b') is used, expected only result 0"},
        ErrorCase{"g (float[2] x, float[3] z) => (float[2] y) "
                  "{ y = Max(x, x, z) }",
                  "node 'y' (Max): cannot broadcast 2 and 3"},
        ErrorCase{"g (float[2] x, float[2, 2] s) => (float[2] y) "
                  "{ y = PRelu(x, s) }",
                  "node 'y' (PRelu): expected a slope that broadcasts to 2, "
                  "found shape 2x2"},
        ErrorCase{"g (float[2] x, int64[1] z) => (float[2] y) "
                  "{ y = Reshape(x, z) }",
                  "node 'y' (Reshape): expected a constant as operand 1, found "
                  "'z', which is computed or an input"},
        ErrorCase{"g (float[2] x) => (float[2] y) { y = Celu<alpha = 0.0>(x) }",
                  "node 'y' (Celu): expected an alpha other than 0"},
        ErrorCase{"g (float[2] x) => (float[2] y) "
                  "{ y = Gelu<approximate = \"erf\">(x) }",
                  "node 'y' (Gelu): expected approximate 'none' or 'tanh', "
                  "found 'erf'"},
        ErrorCase{"g (float[2] x) => (float[2] y) { y = And(x, x) }",
                  "unsupported operators: And of float (1: 'y')"},
        ErrorCase{"g (bool[2] x) => (bool[2] y) { y = Add(x, x) }",
                  "unsupported operators: Add of bool (1: 'y')"},
        ErrorCase{"g (int64[2] x, int64 z = {16777217}) => (bool[2] y) "
                  "{ y = Less(x, z) }",
                  "'z' holds 16777217, expected integers that are floats too"},
        ErrorCase{"g (float[2] x) => (float[2] y) { y = Relu<a = 1>(x) }",
                  "node 'y' (Relu): unknown attribute 'a'"},
        ErrorCase{"g (float[2] x) => (float[2] y) "
                  "{ y = LeakyRelu<alpha = 1>(x) }",
                  "attribute 'alpha' is of type INT, expected FLOAT"},
        ErrorCase{"g (float[2] x, float[3] z) => (float[2] y) "
                  "{ y = Add(x, z) }",
                  "node 'y' (Add): cannot broadcast 2 and 3"},
        ErrorCase{"g (float[4,2,3] x, float[5,3,2] w) => (float[2] y) "
                  "{ y = MatMul(x, w) }",
                  "cannot multiply 4x2x3 by 5x3x2"},
        ErrorCase{"g (float[3] x, float w) => (float[3] y) "
                  "{ y = MatMul(x, w) }",
                  "expected an operand 1 of rank 1 to 7, found 'w' of shape "
                  "scalar"},
        ErrorCase{"g (float[2,3] x, float[2,3] w) => (float[2] y) "
                  "{ y = MatMul(x, w) }",
                  "cannot multiply 2x3 by 2x3"},
        ErrorCase{"g (float[2,3] x, float[4,3] w, float[5] b) => (float[2] y) "
                  "{ y = Gemm<transB = 1>(x, w, b) }",
                  "cannot broadcast operand 2 of shape 5 to 2x4"},
        ErrorCase{"g (float[1,3] x, float[4,3] w) => (float[2] y) "
                  "{ y = Conv(x, w) }",
                  "expected an operand 0 of batch, channels and one to three "
                  "spatial dimensions, found 'x' of shape 1x3"},
        ErrorCase{"g (float[1,3,8] x, float[4,3,3,3] w) => (float[2] y) "
                  "{ y = Conv(x, w) }",
                  "expected a 3-dimensional operand 1, found 'w' of shape "
                  "4x3x3x3"},
        ErrorCase{"g (float[1,3,8] x, float[4,3,3] w) => (float[2] y) "
                  "{ y = Conv<pads = [1, 1, 1, 1]>(x, w) }",
                  "attribute 'pads' has 4 numbers, expected 2"},
        ErrorCase{"g (float[1,3,8,8] x, float[4,2,3,3] w) => (float[2] y) "
                  "{ y = Conv(x, w) }",
                  "found 4x2x3x3 and group 1"},
        ErrorCase{"g (float[1,3,8,8] x, float[4,3,3,3] w, float[3] b) => "
                  "(float[2] y) { y = Conv(x, w, b) }",
                  "expected a bias of shape 4, found 3"},
        ErrorCase{"g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[2] y) "
                  "{ y = Conv<kernel_shape = [5, 5]>(x, w) }",
                  "attribute 'kernel_shape' is 5x5, the weights have 3x3"},
        ErrorCase{"g (float[1,3,8,8] x, float[4,3,9,9] w) => (float[2] y) "
                  "{ y = Conv(x, w) }",
                  "a window of 9 in dimension 2 does not fit into the padded "
                  "image of 8"},
        ErrorCase{"g (float[1,4,8,8] x, float[3,4,3,3] w) => (float[2] y) "
                  "{ y = ConvTranspose(x, w) }",
                  "expected weights of shape 4 x (channels / group) x (kernel) "
                  "and a group that divides 4, found 3x4x3x3 and group 1"},
        ErrorCase{"g (float[1,4,8,8] x, float[4,3,3,3] w, float[3] b) => "
                  "(float[2] y) { y = ConvTranspose<group = 2>(x, w, b) }",
                  "expected a bias of shape 6, found 3"},
        ErrorCase{"g (float[1,4,2] x, float[4,3,3] w) => (float[2] y) "
                  "{ y = ConvTranspose<pads = [2, 2]>(x, w) }",
                  "the pads of dimension 2 leave nothing of a result of 4"},
        ErrorCase{"g (float[1,4,2] x, float[4,3,3] w) => (float[2] y) { y = "
                  "ConvTranspose<strides = [2], output_padding = [2]>(x, w) }",
                  "expected less output padding in dimension 2 than 2, the "
                  "larger one of stride and dilation, found 2"},
        ErrorCase{"g (float[1,3,8,8] x) => (float[2] y) { y = MaxPool(x) }",
                  "expected an attribute 'kernel_shape'"},
        ErrorCase{"g (float[1,3,8,8] x) => (float[2] y) "
                  "{ y = MaxPool<kernel_shape = [2, 2, 2]>(x) }",
                  "attribute 'kernel_shape' has 3 numbers, expected 2"},
        ErrorCase{"g (float[1,3,8,8] x) => (float[2] y) "
                  "{ y = MaxPool<kernel_shape = [2, 2], strides = [0, 1]>(x) }",
                  "attribute 'strides' has a 0, expected at least 1"},
        ErrorCase{"g (float[1,3,8,8] x) => (float[2] y) { y = "
                  "MaxPool<kernel_shape = [2, 2], pads = [2, 0, 0, 0]>(x) }",
                  "expected pads smaller than the window of 2, found 2"},
        ErrorCase{"g (float[1,3,8,8] x) => (float[2] y) { y = "
                  "MaxPool<kernel_shape = [2, 2], auto_pad = \"SAME\">(x) }",
                  "attribute 'auto_pad' is 'SAME', expected NOTSET"},
        ErrorCase{"g (float[1,3,8,8] x) => (float[2] y) { y = "
                  "MaxPool<kernel_shape = [2, 2], auto_pad = \"VALID\", "
                  "pads = [1, 0, 0, 0]>(x) }",
                  "expected 'pads' or 'auto_pad', found both"},
        ErrorCase{"g (float[1,3,8,8] x) => (float[2] y, int64[2] i) { y, i = "
                  "MaxPool<kernel_shape = [2, 2], storage_order = 2>(x) }",
                  "expected storage_order 0 or 1, found 2"},
        ErrorCase{"g (float[17,1,1024,1024] x) => (float[2] y, int64[2] i) "
                  "{ y, i = MaxPool<kernel_shape = [2, 2]>(x) }",
                  "its result 1 counts 17825792 elements, expected at most "
                  "16777216"},
        ErrorCase{"g (float[1,1,2048,2049] x) => (float[2] y, int64[2] i) { y, "
                  "i = MaxPool<kernel_shape = [2, 2], storage_order = 1>(x) }",
                  "its result 1 counts 4196352 elements of a channel by "
                  "columns, expected at most 4194304"},
        ErrorCase{"g (float[3] x) => (float[2] y) { y = LRN<size = 3>(x) }",
                  "expected an operand with a channel dimension"},
        ErrorCase{"g (float[1,3,8,8] x) => (float[2] y) { y = LRN(x) }",
                  "expected a positive attribute 'size', found 0"},
        ErrorCase{"g (float[2,3] x) => (float[2] y) { y = Softmax<axis=2>(x) }",
                  "axis 2 is not a dimension of a 2-dimensional tensor"},
        ErrorCase{
            "g (float[2] x) => (float[2] y) { y = Dropout<ratio=1.0>(x) }",
            "expected a ratio from 0 to below 1, found 1", 9},
        ErrorCase{"g (float[2] x, float[2] r = {0.1, 0.2}) => (float[2] y) "
                  "{ y = Dropout(x, r) }",
                  "expected a scalar as operand 1, found shape 2"},
        ErrorCase{"g (float[2] x, float r = {0.5}, bool t = {1}) => (float[2] "
                  "y, bool[2] m) { y, m = Dropout(x, r, t) }",
                  "its result 1 ('m') is used, expected only result 0 to be"}));

// Normalisations.
INSTANTIATE_TEST_SUITE_P(
    Normalisations, GraphErrorTest,
    testing::Values(
        ErrorCase{"g (float[2,3] x, float[3] s, float[3] b, float[3] m, "
                  "float[3] v) => (float[2,3] y) { y = BatchNormalization "
                  "<spatial = 0> (x, s, b, m, v) }",
                  "node 'y' (BatchNormalization): statistics per position "
                  "(spatial = 0) are not supported",
                  8},
        ErrorCase{"g (float[3] x, float[3] s, float[3] b, float[3] m, "
                  "float[3] v) => (float[3] y) { y = BatchNormalization "
                  "(x, s, b, m, v) }",
                  "expected an operand with a channel dimension, found shape "
                  "3"},
        ErrorCase{"g (float[2,3] x, float[3] s, float[3] b, float[2] m, "
                  "float[3] v) => (float[2,3] y) { y = BatchNormalization "
                  "(x, s, b, m, v) }",
                  "expected operand 3 of shape 3, found 2"},
        ErrorCase{"g (float[2,3] x, float[3] s, float[3] b, float[3] m, "
                  "float[3] v) => (float[2,3] y) { y = BatchNormalization "
                  "<epsilon = 0.0> (x, s, b, m, v) }",
                  "expected a positive attribute 'epsilon', found 0"},
        ErrorCase{"g (float[2,3] x, float[3] s, float[3] b, float[3] m, "
                  "float[3] v) => (float[2,3] y) { t, n, w = "
                  "BatchNormalization <training_mode = 1> (x, s, b, m, v) "
                  "y, o, u = BatchNormalization <training_mode = 1> "
                  "(t, s, b, m, v) }",
                  "node 'y' (BatchNormalization): 'm' is updated by another "
                  "node already",
                  15},
        ErrorCase{"g (float[2,3] x, float[3] s, float[3] b, float[3] m, "
                  "float[3] v) => (float[2,3] y) { z = BatchNormalization "
                  "(x, s, m, m, v) y = Add (z, b) }",
                  "'m' is a running statistic, expected no other use"},
        ErrorCase{"g (float[2,3] x, float[3] s, float[3] b) => (float[2,3] y) "
                  "{ y = InstanceNormalization (x, s, b) }",
                  "expected an operand with channels and positions, found "
                  "shape 2x3"},
        ErrorCase{"g (float[2,3,4] x, float[3] s) => (float[2,3,4] y) "
                  "{ y = LayerNormalization (x, s) }",
                  "expected operand 1 of shape 4, found 3", 17},
        ErrorCase{"g (float[2,3] x) => (float[2,3] y) "
                  "{ y = LpNormalization <p = 3> (x) }",
                  "expected p to be 1 or 2, found 3"},
        ErrorCase{"g (float[2,3,4] x) => (float[2,3,4] y) "
                  "{ y = MeanVarianceNormalization <axes = [1, -2]> (x) }",
                  "expected distinct axes, found 1 twice"}));

// Operators that move elements.
INSTANTIATE_TEST_SUITE_P(
    Shapes, GraphErrorTest,
    testing::Values(
        ErrorCase{"g (float[2,3] x, int64[1] s) => (float[2] y) "
                  "{ y = Reshape(x, s) }",
                  "expected a constant as operand 1, found 's', which is "
                  "computed or an input"},
        ErrorCase{"g (float[2,3] x, int64[2] s = {4, -1}) => (float[2] y) "
                  "{ y = Reshape(x, s) }",
                  "cannot reshape 2x3 to [4x-1]"},
        ErrorCase{"g (float[2,3] x, float[1] s = {6}) => (float[2] y) "
                  "{ y = Reshape(x, s) }",
                  "expected a list of integers as operand 1"},
        ErrorCase{"g (float[2,3] x, int64[1] a = {0}) => (float[2] y) "
                  "{ y = Squeeze(x, a) }",
                  "cannot squeeze dimension 0 of 2x3, expected extent 1"},
        ErrorCase{"g (float[2,3] x, int64[2] a = {0, 0}) => (float[2] y) "
                  "{ y = Unsqueeze(x, a) }",
                  "axis 0 is given twice"},
        ErrorCase{"g (float[2,3] x) => (float[2] y) { y = Unsqueeze(x) }",
                  "expected axes"},
        ErrorCase{"g (float[2,3] x) => (float[2] y) "
                  "{ y = Transpose<perm = [0, 0]>(x) }",
                  "expected attribute 'perm' to be a permutation of 2"},
        ErrorCase{"g (float[2,3] x, float[3,3] z) => (float[2] y) "
                  "{ y = Concat<axis = 1>(x, z) }",
                  "cannot concatenate 2x3 and 3x3 along dimension 1"},
        ErrorCase{"g (float[2,3] x) => (float[2] y) { y = Concat(x, x) }",
                  "expected an attribute 'axis'"},
        ErrorCase{"g (float[2] x, int64[2] p = {1, 1}) => (float[2] y) "
                  "{ y = Pad<mode = \"mirror\">(x, p) }",
                  "'constant', 'edge', 'reflect' or 'wrap', found 'mirror'"},
        ErrorCase{"g (float[2] x, int64[3] p = {1, 1, 1}) => (float[2] y) "
                  "{ y = Pad(x, p) }",
                  "expected 2 pads, found 3"},
        ErrorCase{"g (float[2] x, int64[2] p = {-1, -1}) => (float[2] y) "
                  "{ y = Pad(x, p) }",
                  "'y' has shape 0, expected at most 8 dimensions"},
        ErrorCase{"g (float[2] x, int64[2] p = {9999999999, 1}) => "
                  "(float[2] y) { y = Pad(x, p) }",
                  "pad 9999999999 is too large"}));

// Constants.
INSTANTIATE_TEST_SUITE_P(
    Constants, GraphErrorTest,
    testing::Values(
        ErrorCase{"g (float[2] x) => (float[2] y) "
                  "{ c = Constant<value_string = \"a\">() y = Add(x, c) }",
                  "node 'c' (Constant): a constant of STRING is not "
                  "supported"},
        ErrorCase{"g (float[2] x) => (float[2] y) "
                  "{ c = Constant() y = Add(x, c) }",
                  "expected one attribute, found 0"},
        ErrorCase{"g (float[2] x, int64[2] s = {-1, 2}) => (float[2] y) "
                  "{ c = ConstantOfShape(s) y = Add(x, c) }",
                  "shape -1x2 has a negative extent or too many elements"},
        ErrorCase{"g (float[2] x, int64[1] s = {99999999}) => (float[2] y) "
                  "{ c = ConstantOfShape<value = int64[1] {7}>(s) "
                  "y = Reshape(x, c) }",
                  "a constant of shape 99999999 is too large to be evaluated"},
        ErrorCase{"g (float[2] x, int64[2] a = {1, 2}, int64 i = {2}) => "
                  "(float[2] y) { s = Gather(a, i) y = Reshape(x, s) }",
                  "node 's' (Gather): index 2 is out of range for "
                  "extent 2"},
        ErrorCase{"g (float[2] x, int64[1] a = {1}, int64[1] b = {0}) => "
                  "(float[2] y) { s = Div(a, b) y = Reshape(x, s) }",
                  "node 's' (Div): division by zero"},
        ErrorCase{"g (float[2] x, int64[1] a = {1}, int32[1] b = {0}) => "
                  "(float[2] y) { s = Add(a, b) y = Reshape(x, s) }",
                  "expected two operands of one type, found int64 and int32"},
        ErrorCase{"g (float[2] x, int64[2] a = {1, 2}, int64[3] b = {1, 2, 3})"
                  " => (float[2] y) { s = Add(a, b) y = Reshape(x, s) }",
                  "cannot broadcast 2 and 3 of constants"},
        ErrorCase{"g (float[2] x, int64[2] a = {1, 2}, int64[1] b = {0}) => "
                  "(float[2] y) { s = Slice(a, b) y = Reshape(x, s) }",
                  "expected as many starts as ends, axes and steps"},
        ErrorCase{"g (float[2] x) => (float[2] y) "
                  "{ a = Constant<value_ints = [1]>() "
                  "s = Concat<axis = 0.5>(a, a) y = Reshape(x, s) }",
                  "node 's' (Concat): attribute 'axis' is of type FLOAT, "
                  "expected INT"},
        ErrorCase{"g (float[2] x, int64 c = {1}) => (float[2] y) { y = If (c) "
                  "<then_branch = a () => (float[2] p) { p = Relu(x) }, "
                  "else_branch = b () => (float[2] q) { q = Tanh(x) }> }",
                  "expected a condition of one bool, found int64"}));

// What asks for more memory than anybody has is refused before it is asked for.
INSTANTIATE_TEST_SUITE_P(
    Sizes, GraphErrorTest,
    testing::Values(
        ErrorCase{"g (int64[2] x) => (float[2] y) { "
                  "d = Constant<value_int = 2147483648>() "
                  "v = Constant<value_floats = [0.0, 1.0]>() "
                  "y = OneHot(x, d, v) }",
                  "node 'y' (OneHot): expected a depth from 1 to 65536, found "
                  "2.14748e+09"},
        ErrorCase{"g (float[2] x) => (float[2] y) { "
                  "i = Constant<value_ints = [1, 2]>() "
                  "d = Constant<value_int = -3>() "
                  "v = Constant<value_floats = [0.0, 1.0]>() "
                  "h = OneHot(i, d, v) y = Add(x, h) }",
                  "node 'h' (OneHot): expected a depth from 1 to 65536, found "
                  "-3"},
        ErrorCase{
            "g (float[2] x) => (float[2] y) { "
            "r = Constant<value_ints = [2147483647]>() "
            "a = Tile(x, r) b = Tile(a, r) y = Tile(b, r) }",
            "node 'b' (Tile): its result has shape 2147483647x4294967294, "
            "expected at most 8 dimensions with positive extents and "
            "2^50 elements"},
        ErrorCase{"g (float[4] x) => (float[2] y) "
                  "{ y = Pad<mode = \"edge\", pads = [2000000000, 0]>(x) }",
                  "node 'y' (Pad): expected at most 16777216 positions along a "
                  "dimension, found 2000000004",
                  10},
        ErrorCase{"g (float[1000000000] x) => (float[2] y) { "
                  "a = Constant<value_ints = [0]>() "
                  "b = Constant<value_ints = [1000000000]>() "
                  "s = Constant<value_ints = [2]>() y = Slice(x, a, b, a, s) }",
                  "node 'y' (Slice): expected at most 16777216 positions along "
                  "a dimension, found 500000000"},
        ErrorCase{"g (float[100000000, 2] x) => (float[2] y) { y = Trilu(x) }",
                  "node 'y' (Trilu): expected at most 16777216 positions along "
                  "a dimension, found 100000000",
                  14},
        ErrorCase{
            "g (float[1, 1, 4, 4] x) => (float[2] y) { "
            "r = Constant<value_floats = [1.0]>() "
            "s = Constant<value_floats = [1.0, 1.0, 1.0, 100000000.0]>() "
            "y = Resize(x, r, s) }",
            "node 'y' (Resize): expected at most 16777216 positions along "
            "a dimension, found 400000000"},
        ErrorCase{"g (float[2] x) => (float[2] y) { "
                  "s = Constant<value_ints = [70000, 1]>() "
                  "z = ConstantOfShape<value = int64[1] {1}>(s) "
                  "c = Cast<to = 1>(z) y = Add(x, c) }",
                  "a constant of shape 70000x1 is too large to be evaluated, "
                  "expected at most 65536 elements"},
        ErrorCase{"g (float[2] x) => (float[2] y) { "
                  "c = Constant<value_ints = [7]>() "
                  "s = Constant<value_ints = [65536, 65536, 0]>() "
                  "e = Expand(c, s) y = Reshape(x, e) }",
                  "expected a list of integers as operand 1, found 'e' of type "
                  "int64 and shape 65536x65536x0"},
        ErrorCase{"g (float[2] x) => (float[2] y) { "
                  "a = Constant<value_int = 0>() "
                  "b = Constant<value_int = 1000000000>() "
                  "s = Constant<value_int = 1>() r = Range(a, b, s) "
                  "c = Cast<to = 1>(r) y = Add(x, c) }",
                  "cannot evaluate a range from 0 to 1e+09 in steps of 1, "
                  "expected at most 65536 numbers"}));

} // namespace
