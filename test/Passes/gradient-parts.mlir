// RUN: ffc-opt %s --split-input-file --ff-differentiate="loss=mse optimizer=sgd:momentum=0" | FileCheck %s

// A weight that blocks of steps share gets one product over all steps, not a sum of
// products, each of which would be made whole; so does a bias one sum. The gradient of
// slices that cover x is their concatenation.

// CHECK-LABEL: @main
func.func @main(%x: tensor<4x3x5xf32> {ff.name = "x"}) {
  %w = ff.state "w" "parameter" init <constant, 1.0 : f64, 0> : tensor<5x2xf32>
  %v = ff.state "v" "parameter" init <constant, 1.0 : f64, 0> : tensor<5xf32>
  %b = ff.state "b" "parameter" init <constant, 1.0 : f64, 0> : tensor<2xf32>
  %s = ff.binary mul(%x, %v) : (tensor<4x3x5xf32>, tensor<5xf32>) -> tensor<4x3x5xf32>
  %x0 = ff.slice(%s) {starts = array<i64: 0, 0, 0>} : (tensor<4x3x5xf32>) -> tensor<3x3x5xf32>
  %x1 = ff.slice(%s) {starts = array<i64: 3, 0, 0>} : (tensor<4x3x5xf32>) -> tensor<1x3x5xf32>
  %y0 = ff.matmul(%x0, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, dim_names = ["t", "n", "c", "k"],
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x3x5xf32>, tensor<5x2xf32>, tensor<2xf32>) -> tensor<3x3x2xf32>
  %y1 = ff.matmul(%x1, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, dim_names = ["t", "n", "c", "k"],
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<1x3x5xf32>, tensor<5x2xf32>, tensor<2xf32>) -> tensor<1x3x2xf32>
  %t0 = ff.unary tanh(%y0) : tensor<3x3x2xf32> -> tensor<3x3x2xf32>
  %t1 = ff.unary tanh(%y1) : tensor<1x3x2xf32> -> tensor<1x3x2xf32>
  %y = ff.concat(%t0, %t1) {axis = 0 : i64} : (tensor<3x3x2xf32>, tensor<1x3x2xf32>) -> tensor<4x3x2xf32>
  ff.output %y as "out/y" : tensor<4x3x2xf32>
  return
  // The slices are those of one tensor, the gradients of tanh are not.
  // CHECK: %[[S:.*]] = ff.binary mul
  // CHECK: %[[DY1:.*]] = ff.unary_backward tanh
  // CHECK: %[[DY0:.*]] = ff.unary_backward tanh
  // CHECK: %[[DY:.*]] = ff.concat(%[[DY0]], %[[DY1]]) {axis = 0 : i64, ff.carry = array<i64: 4, 2>
  // CHECK-NEXT: ff.matmul(%[[S]], %[[DY]]) {{.*}}dim_names = ["t", "k", "c", "n"]
  // CHECK-SAME: (tensor<4x3x5xf32>, tensor<4x3x2xf32>) -> tensor<5x2xf32>
  // CHECK: ff.reduce_sum(%[[DY]]) {axes = array<i64: 0, 1>
  // CHECK: ff.concat(%{{.*}}, %{{.*}}) {axis = 0 : i64, {{.*}}-> tensor<4x3x5xf32>
  // CHECK-NOT: ff.pad
}

// -----

// The weights of two layers that read one value may be updated before the sum.

// CHECK-LABEL: @main
// CHECK-NOT: ff.concat
func.func @main(%x: tensor<3x5xf32> {ff.name = "x"}) {
  %v = ff.state "v" "parameter" init <constant, 1.0 : f64, 0> : tensor<5xf32>
  %w0 = ff.state "w0" "parameter" init <constant, 1.0 : f64, 0> : tensor<5x2xf32>
  %w1 = ff.state "w1" "parameter" init <constant, 1.0 : f64, 0> : tensor<5x2xf32>
  %s = ff.binary mul(%x, %v) : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %y0 = ff.matmul(%s, %w0) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x5xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  %y1 = ff.matmul(%s, %w1) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x5xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  %y = ff.binary mul(%y0, %y1) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  ff.output %y as "out/y" : tensor<3x2xf32>
  return
}
