// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @conv
func.func @conv(%x: tensor<2x6x8x9xf32>, %w: tensor<4x3x3x2xf32>,
                %b: tensor<4xf32>) {
  // CHECK: ff.conv(%{{.*}}, %{{.*}}, %{{.*}}) {dilations = array<i64: 1, 2>, group = 2 : i64, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 3>}
  %y = ff.conv(%x, %w, %b) {dilations = array<i64: 1, 2>, group = 2 : i64,
      pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 3>}
      : (tensor<2x6x8x9xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>)
      -> tensor<2x4x4x3xf32>
  // CHECK: ff.conv_backward_data(
  %dx = ff.conv_backward_data(%y, %w) {dilations = array<i64: 1, 2>,
      group = 2 : i64, pads = array<i64: 1, 0, 1, 1>,
      strides = array<i64: 2, 3>}
      : (tensor<2x4x4x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x8x9xf32>
  // CHECK: ff.conv_backward_weights(
  %dw = ff.conv_backward_weights(%x, %y) {dilations = array<i64: 1, 2>,
      group = 2 : i64, pads = array<i64: 1, 0, 1, 1>,
      strides = array<i64: 2, 3>}
      : (tensor<2x6x8x9xf32>, tensor<2x4x4x3xf32>) -> tensor<4x3x3x2xf32>
  return
}

// The bias is optional.
// CHECK-LABEL: @conv_without_bias
func.func @conv_without_bias(%x: tensor<1x1x4x4xf64>, %w: tensor<1x1x1x1xf64>) {
  // CHECK: ff.conv(%{{.*}}, %{{[^,]*}}) {
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x4x4xf64>, tensor<1x1x1x1xf64>) -> tensor<1x1x4x4xf64>
  return
}

// CHECK-LABEL: @conv_clamp
func.func @conv_clamp(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) {
  // CHECK: ff.conv(%{{.*}}) {clamp = array<f64: 0.000000e+00, 6.000000e+00>, dilations
  %y = ff.conv(%x, %w) {clamp = array<f64: 0.0, 6.0>,
      dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return
}

// CHECK-LABEL: @conv_1d_and_3d
func.func @conv_1d_and_3d(%x: tensor<1x2x9xf32>, %w: tensor<4x2x3xf32>,
                          %v: tensor<1x2x4x4x4xf32>, %u: tensor<4x2x3x1x2xf32>) {
  // CHECK: ff.conv({{.*}}-> tensor<1x4x4xf32>
  %0 = ff.conv(%x, %w) {dilations = array<i64: 1>, group = 1 : i64,
      pads = array<i64: 0, 0>, strides = array<i64: 2>}
      : (tensor<1x2x9xf32>, tensor<4x2x3xf32>) -> tensor<1x4x4xf32>
  // CHECK: ff.conv({{.*}}-> tensor<1x4x2x4x3xf32>
  %1 = ff.conv(%v, %u) {dilations = array<i64: 1, 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1>}
      : (tensor<1x2x4x4x4xf32>, tensor<4x2x3x1x2xf32>) -> tensor<1x4x2x4x3xf32>
  return
}

// With output padding: the last column lies under no window.
// CHECK-LABEL: @conv_transpose
func.func @conv_transpose(%x: tensor<1x4x3x3xf32>, %w: tensor<4x2x3x3xf32>) {
  // CHECK: ff.conv_backward_data({{.*}} transposed} : {{.*}} -> tensor<1x2x7x8xf32>
  %y = ff.conv_backward_data(%x, %w) {dilations = array<i64: 1, 1>,
      group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>,
      transposed}
      : (tensor<1x4x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<1x2x7x8xf32>
  return
}
