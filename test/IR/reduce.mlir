// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @reduce_max
func.func @reduce_max(%x: tensor<8x4x5xf32>) {
  // CHECK: ff.reduce_max(%{{.*}}) {axes = array<i64: 0, 2>, keepdims = 1 : i64}
  %0 = ff.reduce_max(%x) {axes = array<i64: 0, 2>, keepdims = 1}
      : (tensor<8x4x5xf32>) -> tensor<1x4x1xf32>
  return
}

// Sums of what is narrow are not.
// CHECK-LABEL: @reduce_sum
func.func @reduce_sum(%x: tensor<8x4xbf16>) {
  // CHECK: ff.reduce_sum(%{{.*}}) {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<8x4xbf16>) -> tensor<4xf32>
  %0 = ff.reduce_sum(%x) {axes = array<i64: 0>, keepdims = 0}
      : (tensor<8x4xbf16>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @reduce_prod
func.func @reduce_prod(%x: tensor<8x4x5xf32>) {
  // CHECK: ff.reduce_prod(%{{.*}}) {axes = array<i64: 1>, keepdims = 0 : i64}
  %0 = ff.reduce_prod(%x) {axes = array<i64: 1>, keepdims = 0}
      : (tensor<8x4x5xf32>) -> tensor<8x5xf32>
  return
}
