//===- ImageOpsTest.cpp - operators that sample and put together images ---===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class ImageOpsTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 3, 4, 5].
  std::string import(const std::string &node, const std::string &operands = "",
                     int opset = 24) {
    return importGraph("g (float[2, 3, 4, 5] x" + operands +
                           ") => (float[1] y) { y = " + node + " }",
                       opset);
  }
};

TEST_F(ImageOpsTest, GridSample) {
  EXPECT_THAT(import("GridSample(x, g)", ", float[2, 6, 7, 2] g"),
              AllOf(HasSubstr("ff.embedding("), HasSubstr("floor("),
                    HasSubstr("-> tensor<2x3x6x7xf32>")));
  EXPECT_THAT(
      import("GridSample<mode = \"cubic\", padding_mode = \"reflection\", "
             "align_corners = 1>(x, g)",
             ", float[2, 6, 7, 2] g"),
      HasSubstr("-> tensor<2x3x6x7xf32>"));
  EXPECT_THAT(
      import("GridSample<mode = \"bilinear\">(x, g)", ", float[2, 6, 7, 2] g"),
      HasSubstr("expected mode nearest, linear or cubic, found "
                "'bilinear'"));
  EXPECT_THAT(import("GridSample<mode = \"linear\">(x, g)",
                     ", float[2, 6, 7, 2] g", 16),
              HasSubstr("expected mode nearest, bilinear or bicubic, found "
                        "'linear'"));
  EXPECT_THAT(import("GridSample<padding_mode = \"edge\">(x, g)",
                     ", float[2, 6, 7, 2] g"),
              HasSubstr("node 'y' (GridSample): expected padding_mode zeros, "
                        "border or reflection, found 'edge'"));
  EXPECT_THAT(import("GridSample(x, g)", ", float[2, 6, 7, 3] g"),
              HasSubstr("expected a grid of 2 samples and 2 coordinates, found "
                        "shape 2x6x7x3"));
  EXPECT_THAT(import("GridSample(g, g)", ", float[4, 4] g"),
              HasSubstr("expected an operand 0 of batch, channels and one to "
                        "three spatial dimensions, found shape 4x4"));
  // More rows than floats count.
  EXPECT_THAT(importGraph("g (float[2, 1, 5000, 5000] x, float[2, 1, 1, 2] g) "
                          "=> (float[1] y) { y = GridSample(x, g) }",
                          20),
              HasSubstr("expected at most 16777216 positions along a dimension,"
                        " found 50000000"));
}

TEST_F(ImageOpsTest, AffineGrid) {
  EXPECT_THAT(
      import("AffineGrid(t, s)",
             ", float[2, 2, 3] t, int64[4] s = {2, 3, 4, 5}"),
      AllOf(HasSubstr("ff.matmul"), HasSubstr("-> tensor<2x4x5x2xf32>")));
  EXPECT_THAT(
      import("AffineGrid(t, s)", ", float[2, 2, 3] t, int64[3] s = {2, 3, 4}"),
      HasSubstr("expected extents of 4 or 5 dimensions as operand 1"));
  EXPECT_THAT(import("AffineGrid(t, s)", ", float[2, 2, 3] t, int64[4] s = "
                                         "{2, 3, 100000, 100000}"),
              HasSubstr("expected positive extents of together at most 5592405 "
                        "elements as operand 1, found 100000x100000"));
  EXPECT_THAT(import("AffineGrid(t, s)", ", float[2, 2, 3] t, int64[4] s"),
              HasSubstr("expected a constant as operand 1"));
}

TEST_F(ImageOpsTest, RoiAlign) {
  const std::string operands = ", float[6, 4] r, int64[6] b";
  EXPECT_THAT(import("RoiAlign<output_height = 2, output_width = 3, "
                     "sampling_ratio = 2>(x, r, b)",
                     operands),
              AllOf(HasSubstr("ff.embedding("), HasSubstr("ff.reduce_sum"),
                    HasSubstr("-> tensor<6x3x2x3xf32>")));
  EXPECT_THAT(
      import("RoiAlign<mode = \"max\", sampling_ratio = 2>(x, r, b)", operands),
      HasSubstr("ff.reduce_max"));
  EXPECT_THAT(import("RoiAlign(x, r, b)", operands),
              HasSubstr("expected an attribute 'sampling_ratio' from 1 to "
                        "32767, found 0: how many samples"));
  EXPECT_THAT(
      import("RoiAlign<mode = \"min\", sampling_ratio = 2>(x, r, b)", operands),
      HasSubstr("expected mode avg or max, found 'min'"));
  EXPECT_THAT(import("RoiAlign<coordinate_transformation_mode = \"half\", "
                     "sampling_ratio = 2>(x, r, b)",
                     operands),
              HasSubstr("expected coordinate_transformation_mode half_pixel or "
                        "output_half_pixel, found 'half'"));
  EXPECT_THAT(
      import("RoiAlign<output_width = 0, sampling_ratio = 2>(x, r, b)",
             operands),
      HasSubstr("expected results of 1 to 32767 rows and columns, found "
                "1 and 0"));
  EXPECT_THAT(import("RoiAlign<output_height = 30000, sampling_ratio = "
                     "30000>(x, r, b)",
                     operands),
              HasSubstr("expected at most 16777216 samples, regions * rows * "
                        "columns * sampling_ratio^2, found "
                        "6x900000000x30000"));
  EXPECT_THAT(import("RoiAlign<sampling_ratio = 2>(x, r, b)",
                     ", float[6, 4] r, int64[5] b"),
              HasSubstr("expected four coordinates and an image for every "
                        "region as operands 1 and 2, found shapes 6x4 and 5"));
  EXPECT_THAT(import("RoiAlign<sampling_ratio = 2>(x, r, b)",
                     ", float[6, 4] r, float[6] b"),
              HasSubstr("expected integers as operand 2, found type float"));
}

TEST_F(ImageOpsTest, DeformConv) {
  const std::string operands =
      ", float[2, 3, 2, 2] w, float[2, 8, 3, 4] o, float[2] b, "
      "float[2, 4, 3, 4] m";
  EXPECT_THAT(import("DeformConv(x, w, o, b, m)", operands),
              AllOf(HasSubstr("ff.embedding("), HasSubstr("ff.matmul"),
                    HasSubstr("-> tensor<2x2x3x4xf32>")));
  EXPECT_THAT(import("DeformConv<group = 2>(x, w, o)", operands),
              HasSubstr("expected weights of shape (channels) x (3 / group) x "
                        "(kernel), found 2x3x2x2 and group 2"));
  EXPECT_THAT(import("DeformConv<offset_group = 2>(x, w, o)", operands),
              HasSubstr("expected an attribute 'offset_group' that divides 3 "
                        "channels, found 2"));
  EXPECT_THAT(import("DeformConv(x, w, m)", operands),
              HasSubstr("expected offsets of shape 2x8x3x4 as operand 2, found "
                        "2x4x3x4"));
  EXPECT_THAT(import("DeformConv(x, w, o, c)", operands + ", float[3] c"),
              HasSubstr("expected a bias of shape 2, found 3"));
  EXPECT_THAT(import("DeformConv(x, w, o, b, o)", operands),
              HasSubstr("expected a mask of shape 2x4x3x4 as operand 4, found "
                        "2x8x3x4"));
}

TEST_F(ImageOpsTest, Col2Im) {
  EXPECT_THAT(import("Col2Im(c, i, b)", ", float[1, 8, 6] c, int64[2] i = "
                                        "{3, 4}, int64[2] b = {2, 2}"),
              AllOf(HasSubstr("ff.conv_backward_data"),
                    HasSubstr("-> tensor<1x2x3x4xf32>")));
  EXPECT_THAT(
      import("Col2Im(c, i, b)", ", float[1, 8, 5] c, int64[2] i = "
                                "{3, 4}, int64[2] b = {2, 2}"),
      HasSubstr("expected operand 0 of shape (batch) x (channels * 4) x "
                "6, found 1x8x5"));
  EXPECT_THAT(import("Col2Im(c, i, b)", ", float[1, 8, 6] c, int64[2] i = "
                                        "{1, 4}, int64[2] b = {2, 2}"),
              HasSubstr("a block of 2 in dimension 0 does not fit into the "
                        "padded image of 1"));
  EXPECT_THAT(import("Col2Im(c, i, b)", ", float[1, 8, 6] c, int64[2] i = "
                                        "{3, 4}, int64[1] b = {2}"),
              HasSubstr("expected one to three extents of images and blocks as "
                        "operands 1 and 2, found 2 and 1"));
  EXPECT_THAT(import("Col2Im(c, i, b)",
                     ", float[1, 8, 6] c, int64[2] i = {3, 4}, int64[2] b = "
                     "{1000, 1000}"),
              HasSubstr("expected blocks of 1 to 65536 elements"));
  EXPECT_THAT(import("Col2Im<strides = [0, 1]>(c, i, b)",
                     ", float[1, 8, 6] c, int64[2] i = {3, 4}, int64[2] b = "
                     "{2, 2}"),
              HasSubstr("attribute 'strides' has a 0, expected at least 1"));
  EXPECT_THAT(import("Col2Im<pads = [1]>(c, i, b)",
                     ", float[1, 8, 6] c, int64[2] i = {3, 4}, int64[2] b = "
                     "{2, 2}"),
              HasSubstr("attribute 'pads' has 1 numbers, expected 4"));
}

TEST_F(ImageOpsTest, MaxUnpool) {
  EXPECT_THAT(import("MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(x, i)",
                     ", int64[2, 3, 4, 5] i"),
              AllOf(HasSubstr("ff.gather_elements_backward"),
                    HasSubstr("-> tensor<2x3x8x10xf32>")));
  EXPECT_THAT(
      import("MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(x, i, s)",
             ", int64[2, 3, 4, 5] i, int64[4] s = {2, 3, 7, 10}"),
      HasSubstr("expected extents of at least 2x3x8x10 as operand 2, found "
                "2x3x7x10"));
  EXPECT_THAT(import("MaxUnpool(x, i)", ", int64[2, 3, 4, 5] i"),
              HasSubstr("expected an attribute 'kernel_shape'"));
  EXPECT_THAT(
      import("MaxUnpool<kernel_shape = [2]>(x, i)", ", int64[2, 3, 4, 5] i"),
      HasSubstr("attribute 'kernel_shape' has 1 numbers, expected 2"));
  EXPECT_THAT(
      import("MaxUnpool<kernel_shape = [2, 2]>(x, i)", ", int64[2, 3, 4] i"),
      HasSubstr("expected a position for every element, shape 2x3x4x5, "
                "as operand 1, found 2x3x4"));
}

TEST_F(ImageOpsTest, Pools) {
  EXPECT_THAT(import("LpPool<kernel_shape = [2, 2], p = 3>(x)"),
              AllOf(HasSubstr("ff.conv"), HasSubstr("pow("),
                    HasSubstr("-> tensor<2x3x3x4xf32>")));
  EXPECT_THAT(import("GlobalLpPool<p = 1>(x)"),
              AllOf(HasSubstr("abs("), HasSubstr("-> tensor<2x3x1x1xf32>")));
  EXPECT_THAT(import("GlobalLpPool<p = 0>(x)"),
              HasSubstr("expected an attribute 'p' from 1 on, found 0"));
  EXPECT_THAT(
      import("AveragePool<kernel_shape = [2, 2], dilations = [2, 2]>(x)"),
      AllOf(HasSubstr("ff.conv"), HasSubstr("-> tensor<2x3x2x3xf32>")));
  EXPECT_THAT(import("AveragePool<kernel_shape = [2, 2], dilations = [2, 2], "
                     "pads = [3, 0, 0, 0]>(x)"),
              HasSubstr("expected windows that see an element, found none in "
                        "dimension 2"));
}

TEST_F(ImageOpsTest, CenterCropPad) {
  EXPECT_THAT(import("CenterCropPad(x, s)", ", int64[4] s = {2, 3, 2, 7}"),
              AllOf(HasSubstr("ff.slice"), HasSubstr("ff.pad"),
                    HasSubstr("-> tensor<2x3x2x7xf32>")));
  EXPECT_THAT(
      import("CenterCropPad<axes = [2]>(x, s)", ", int64[2] s = {2, 3}"),
      HasSubstr("expected 1 extents as operand 1, found 2"));
  EXPECT_THAT(import("CenterCropPad<axes = [4]>(x, s)", ", int64[1] s = {2}"),
              HasSubstr("axis 4 is not a dimension of a 4-dimensional tensor"));
  EXPECT_THAT(import("CenterCropPad<axes = [1]>(x, s)", ", int64[1] s = {0}"),
              HasSubstr("expected positive extents as operand 1, found 0"));
}

} // namespace
