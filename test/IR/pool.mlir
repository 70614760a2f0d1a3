// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @max_pool
func.func @max_pool(%x: tensor<1x2x7x7xf32>) {
  // CHECK: ff.max_pool(%{{.*}}) {dilations = array<i64: 1, 1>, kernel_shape = array<i64: 3, 3>
  // CHECK-SAME: (tensor<1x2x7x7xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi32>)
  %y, %i = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x7x7xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi32>)
  // CHECK: ff.max_pool_backward(
  %dx = ff.max_pool_backward(%y, %i) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi32>) -> tensor<1x2x7x7xf32>
  return
}

// 6 rows in windows of 3 with stride 2: 2 positions rounded down, 3 rounded up.
// CHECK-LABEL: @average_pool_both_roundings
func.func @average_pool_both_roundings(%x: tensor<1x2x6x6xf32>) {
  // CHECK: ff.average_pool(%{{.*}}) {count_include_pad = 0 : i64
  // CHECK-SAME: -> tensor<1x2x2x3xf32>
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x6x6xf32>) -> tensor<1x2x2x3xf32>
  // CHECK: ff.average_pool_backward(
  %dx = ff.average_pool_backward(%y) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x2x3xf32>) -> tensor<1x2x6x6xf32>
  return
}
