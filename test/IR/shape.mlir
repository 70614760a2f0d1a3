// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @reshape
func.func @reshape(%x: tensor<8x4x5x6xf32>, %i: tensor<1x1xi32>) {
  // CHECK: ff.reshape(%{{.*}}) : (tensor<8x4x5x6xf32>) -> tensor<8x120xf32>
  %0 = ff.reshape(%x) : (tensor<8x4x5x6xf32>) -> tensor<8x120xf32>
  // CHECK: ff.reshape(%{{.*}}) : (tensor<1x1xi32>) -> tensor<i32>
  %1 = ff.reshape(%i) : (tensor<1x1xi32>) -> tensor<i32>
  return
}

// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<2x3x4xf32>) {
  // CHECK: ff.transpose(%{{.*}}) {perm = array<i64: 2, 0, 1>}
  %0 = ff.transpose(%x) {perm = array<i64: 2, 0, 1>}
      : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return
}

// CHECK-LABEL: @concat
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>) {
  // CHECK: ff.concat(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 1 : i64}
  %0 = ff.concat(%a, %b, %a) {axis = 1}
      : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<2x11xf32>
  return
}

// CHECK-LABEL: @slice
func.func @slice(%x: tensor<8x9xi32>) {
  // CHECK: ff.slice(%{{.*}}) {starts = array<i64: 0, 4>}
  %0 = ff.slice(%x) {starts = array<i64: 0, 4>}
      : (tensor<8x9xi32>) -> tensor<8x5xi32>
  return
}

// CHECK-LABEL: @pad
func.func @pad(%x: tensor<8x9xf32>) {
  // CHECK: ff.pad(%{{.*}}) {pads = array<i64: 1, -2, 0, 3>, value = 5.000000e-01 : f64}
  %0 = ff.pad(%x) {pads = array<i64: 1, -2, 0, 3>, value = 0.5}
      : (tensor<8x9xf32>) -> tensor<9x10xf32>
  return
}

// CHECK-LABEL: @reduce_sum
func.func @reduce_sum(%x: tensor<8x4x5xf32>) {
  // CHECK: ff.reduce_sum(%{{.*}}) {axes = array<i64: 0, 2>, keepdims = 1 : i64}
  %0 = ff.reduce_sum(%x) {axes = array<i64: 0, 2>, keepdims = 1}
      : (tensor<8x4x5xf32>) -> tensor<1x4x1xf32>
  // CHECK: -> tensor<f32>
  %1 = ff.reduce_sum(%x) {axes = array<i64: 0, 1, 2>, keepdims = 0}
      : (tensor<8x4x5xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @expand
func.func @expand(%x: tensor<4x1xf32>) {
  // CHECK: ff.expand(%{{.*}}) : (tensor<4x1xf32>) -> tensor<8x4x5xf32>
  %0 = ff.expand(%x) : (tensor<4x1xf32>) -> tensor<8x4x5xf32>
  return
}
