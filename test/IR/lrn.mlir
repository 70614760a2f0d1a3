// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @lrn
func.func @lrn(%x: tensor<1x8x4x4xf32>) {
  // CHECK: ff.lrn(%{{.*}}) {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 5 : i64}
  %y, %s = ff.lrn(%x) {alpha = 1.0e-4 : f64, beta = 0.75 : f64,
      bias = 1.0 : f64, size = 5 : i64}
      : (tensor<1x8x4x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>)
  // CHECK: ff.lrn_backward(
  %dx = ff.lrn_backward(%y, %x, %s) {alpha = 1.0e-4 : f64, beta = 0.75 : f64,
      bias = 1.0 : f64, size = 5 : i64}
      : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>)
      -> tensor<1x8x4x4xf32>
  return
}
