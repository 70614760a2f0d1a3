// RUN: ffc-opt %s --split-input-file --ff-differentiate="loss=none" | FileCheck %s

// The cross-entropy that a model computes is its loss as one that is added is.

// CHECK-LABEL: func.func @main
// CHECK-NOT: loss.gradient
// CHECK: %[[L:.*]] = ff.cross_entropy({{.*}}) {axis = 1 : i64, ff.role = "loss"}
// CHECK: ff.output %[[L]] as "loss"
// CHECK: %{{.*}}, %[[DX:.*]] = ff.cross_entropy_backward
// CHECK-NEXT: ff.matmul(%{{.*}}, %[[DX]])
func.func @main(%x: tensor<2x3xf32>, %t: tensor<2xi32>) {
  %w = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<3x7xf32> loc("w")
  %y = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xf32>, tensor<3x7xf32>) -> tensor<2x7xf32> loc("y")
  %l = ff.cross_entropy(%y, %t) {axis = 1 : i64} : (tensor<2x7xf32>, tensor<2xi32>) -> tensor<f32> loc("l")
  ff.output %l as "out/l" : tensor<f32>
  return
}

// -----

// As a part of a loss, it has a gradient like every operator.

// CHECK-LABEL: func.func @main
// CHECK: %[[L:.*]] = ff.cross_entropy({{.*}}) {axis = 1 : i64} :
// CHECK: %[[DL:.*]] = ff.unary scale(%{{.*}}) alpha 5.0{{.*}}-01 {ff.owner = "half"
// CHECK: %{{.*}}, %[[DX:.*]] = ff.cross_entropy_backward(%{{.*}}, %{{.*}} slope %[[DL]])
// CHECK: ff.matmul(%{{.*}}, %[[DX]])
func.func @main(%x: tensor<2x3xf32>, %t: tensor<2xi32>) {
  %w = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<3x7xf32> loc("w")
  %y = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xf32>, tensor<3x7xf32>) -> tensor<2x7xf32> loc("y")
  %l = ff.cross_entropy(%y, %t) {axis = 1 : i64} : (tensor<2x7xf32>, tensor<2xi32>) -> tensor<f32> loc("l")
  %h = ff.unary scale(%l) alpha 0.5 : tensor<f32> -> tensor<f32> loc("half")
  ff.output %h as "out/h" : tensor<f32>
  return
}
