// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @cross_entropy
func.func @cross_entropy(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // CHECK: ff.cross_entropy(%{{.*}}, %{{.*}}) {axis = 1 : i64}
  %l = ff.cross_entropy(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<f32>
  // CHECK: ff.cross_entropy(%{{.*}}, %{{.*}}) {axis = 1 : i64, smoothing = 1.000000e-01 : f64}
  %s = ff.cross_entropy(%x, %t) {axis = 1, smoothing = 0.1}
      : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<f32>
  // CHECK: ff.cross_entropy_backward(%{{.*}}, %{{.*}}) {axis = 1 : i64}
  %0, %dx = ff.cross_entropy_backward(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8x10xf32>)
  // CHECK: ff.cross_entropy_backward(%{{.*}}, %{{.*}} slope %{{.*}}) {axis = 1 : i64}
  %1, %sdx = ff.cross_entropy_backward(%x, %t slope %l) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi32>, tensor<f32>) -> (tensor<f32>, tensor<8x10xf32>)
  return
}

// CHECK-LABEL: @pairs
func.func @pairs(%x: tensor<8x3xf32>, %t: tensor<8x3xf32>) {
  // CHECK: ff.mse(
  %0 = ff.mse(%x, %t) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<f32>
  // CHECK: ff.mse_backward(
  %1 = ff.mse_backward(%x, %t)
      : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  // CHECK: ff.bce(
  %2 = ff.bce(%x, %t) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<f32>
  // CHECK: ff.bce_backward(
  %3 = ff.bce_backward(%x, %t)
      : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return
}
