// RUN: ffc-opt %s --ff-differentiate="loss=mse" | FileCheck %s

// Nothing is left of gradients that end at a function whose slope is zero:
// kernels would have nowhere to write them to.

// CHECK-LABEL: func.func @main
// CHECK: %[[DY:.*]] = ff.mse_backward
// CHECK-NEXT: ff.matmul(%{{.*}}, %[[DY]])
// CHECK-NEXT: ff.output
// CHECK-NEXT: ff.update
func.func @main(%x: tensor<4x6xf32>) {
  %w = ff.state "w" "parameter" init <uniform, 0.5 : f64, 0> : tensor<6x8xf32> loc("w")
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32> loc("h")
  %1 = ff.unary floor(%0) : tensor<4x8xf32> -> tensor<4x8xf32> loc("floor")
  %2 = ff.binary sub(%0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("y")
  ff.output %2 as "out/y" : tensor<4x8xf32>
  return
}
