// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<8x16xf32>, %s: tensor<f64>) {
  // CHECK: ff.unary relu(%{{.*}}) : tensor<8x16xf32> -> tensor<8x16xf32>
  %0 = ff.unary relu(%x) : tensor<8x16xf32> -> tensor<8x16xf32>
  // CHECK: ff.unary leaky_relu(%{{.*}}) alpha 1.000000e-01 : tensor<8x16xf32>
  %1 = ff.unary leaky_relu(%x) alpha 0.1 : tensor<8x16xf32> -> tensor<8x16xf32>
  // CHECK: ff.unary scale(%{{.*}}) alpha 2.000000e+00 : tensor<f64> -> tensor<f64>
  %2 = ff.unary scale(%s) alpha 2.0 : tensor<f64> -> tensor<f64>
  // CHECK: ff.unary hard_sigmoid(%{{.*}}) alpha 2.000000e-01 beta 5.000000e-01 : tensor<8x16xf32>
  %beta = ff.unary hard_sigmoid(%x) alpha 0.2 beta 0.5
      : tensor<8x16xf32> -> tensor<8x16xf32>
  // CHECK: ff.unary_backward tanh(%{{.*}}, %{{.*}}) : (tensor<8x16xf32>, tensor<8x16xf32>)
  %3 = ff.unary_backward tanh(%0, %1)
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: ff.unary_backward leaky_relu(%{{.*}}, %{{.*}}) alpha 1.000000e-01
  %4 = ff.unary_backward leaky_relu(%0, %1) alpha 0.1
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<8x4x5x6xf32>, %b: tensor<4x1x1xf32>,
                  %s: tensor<f32>) {
  // CHECK: ff.binary add(%{{.*}}, %{{.*}}) : (tensor<8x4x5x6xf32>, tensor<4x1x1xf32>)
  %0 = ff.binary add(%x, %b)
      : (tensor<8x4x5x6xf32>, tensor<4x1x1xf32>) -> tensor<8x4x5x6xf32>
  // CHECK: ff.binary sub
  %1 = ff.binary sub(%s, %x)
      : (tensor<f32>, tensor<8x4x5x6xf32>) -> tensor<8x4x5x6xf32>
  // CHECK: ff.binary less_or_equal
  %le = ff.binary less_or_equal(%x, %b)
      : (tensor<8x4x5x6xf32>, tensor<4x1x1xf32>) -> tensor<8x4x5x6xf32>
  // CHECK: ff.binary mul
  %2 = ff.binary mul(%0, %1)
      : (tensor<8x4x5x6xf32>, tensor<8x4x5x6xf32>) -> tensor<8x4x5x6xf32>
  return
}

// CHECK-LABEL: @select
func.func @select(%c: tensor<5x1xf32>, %a: tensor<8x1x6xf32>, %s: tensor<f32>) {
  // CHECK: ff.select(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<5x1xf32>, tensor<8x1x6xf32>, tensor<f32>) -> tensor<8x5x6xf32>
  %0 = ff.select(%c, %a, %s)
      : (tensor<5x1xf32>, tensor<8x1x6xf32>, tensor<f32>) -> tensor<8x5x6xf32>
  return
}

// CHECK-LABEL: @cast
func.func @cast(%x: tensor<8x4xf32>) {
  // CHECK: ff.cast(%{{.*}}) : (tensor<8x4xf32>) -> tensor<8x4xi64>
  %0 = ff.cast(%x) : (tensor<8x4xf32>) -> tensor<8x4xi64>
  // CHECK: ff.cast(%{{.*}}) : (tensor<8x4xi64>) -> tensor<8x4xi1>
  %1 = ff.cast(%0) : (tensor<8x4xi64>) -> tensor<8x4xi1>
  return
}

// CHECK-LABEL: @noise
func.func @noise(%x: tensor<8x16xf32>) {
  // CHECK: ff.noise normal(%{{.*}}) {key = 5 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %0 = ff.noise normal(%x) {key = 5 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// CHECK-LABEL: @bitwise
func.func @bitwise(%a: tensor<4x3xi32>, %b: tensor<3xi32>) {
  // CHECK: ff.bitwise shift_right(%{{.*}}, %{{.*}}) : (tensor<4x3xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  %0 = ff.bitwise shift_right(%a, %b) : (tensor<4x3xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  return
}

// CHECK-LABEL: @dropout
func.func @dropout(%x: tensor<8x16xf32>) {
  // CHECK: ff.dropout(%{{.*}}) {key = -7 : i64, ratio = 5.000000e-01 : f64}
  %0 = ff.dropout(%x) {key = -7, ratio = 0.5}
      : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<8x10x3xf32>) {
  // CHECK: ff.softmax(%{{.*}}) {axes = array<i64: 1, 2>, log = 0 : i64}
  %y = ff.softmax(%x) {axes = array<i64: 1, 2>, log = 0 : i64}
      : (tensor<8x10x3xf32>) -> tensor<8x10x3xf32>
  // CHECK: ff.softmax_backward(%{{.*}}, %{{.*}}) {axes = array<i64: 1, 2>, log = 0 : i64}
  %dx = ff.softmax_backward(%x, %y) {axes = array<i64: 1, 2>, log = 0 : i64}
      : (tensor<8x10x3xf32>, tensor<8x10x3xf32>) -> tensor<8x10x3xf32>
  return
}
