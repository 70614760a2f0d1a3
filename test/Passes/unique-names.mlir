// RUN: ffc-opt %s --split-input-file --ff-differentiate="loss=mse" --mlir-use-nameloc-as-prefix \
// RUN:   | FileCheck %s

// Sums of gradients of what an operator reads first, and of what it makes, are
// both called after it.

// CHECK-LABEL: func.func @main
// CHECK: %a.gradient_sum = ff.binary add
// CHECK: %a.gradient_sum_1 = ff.binary add
// CHECK: %w.update{{.*}} = ff.update sgd(%w, %a.gradient_sum_1
func.func @main(%x: tensor<4x8xf32>) {
  %w = ff.state "w" "parameter" init <uniform, 0.5 : f64, 0> : tensor<8x8xf32> loc("w")
  %a = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("a")
  %b = ff.matmul(%a, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("b")
  %y = ff.binary add(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("y")
  ff.output %y as "out/y" : tensor<4x8xf32>
  return
}

// -----

// The model's own names stay as they are.

// CHECK-LABEL: func.func @main
// CHECK: %w = ff.state "w"
// CHECK: ff.state "w/momentum_1" "slot"
// CHECK: %w_momentum = ff.state "w/momentum" "parameter"
// CHECK: ff.state "w/momentum/momentum" "slot"
// CHECK: %loss = ff.matmul
// CHECK: %w.update = ff.binary add
// CHECK: %loss_1 = ff.mse(%w.update
// CHECK: ff.output %loss_1 as "loss"
// CHECK: %w.update_1{{.*}} = ff.update
// CHECK: ff.store %w.update_1 to "w"
// CHECK-NEXT: ff.store %{{.*}} to "w/momentum_1"
func.func @main(%x: tensor<4x8xf32>) {
  %w = ff.state "w" "parameter" init <uniform, 0.5 : f64, 0> : tensor<8x8xf32> loc("w")
  %v = ff.state "w/momentum" "parameter" init <uniform, 0.5 : f64, 0> : tensor<8xf32> loc("w_momentum")
  %a = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("loss")
  %b = ff.binary add(%a, %v) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> loc("w.update")
  ff.output %b as "out/loss" : tensor<4x8xf32>
  return
}
