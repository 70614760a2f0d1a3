// RUN: ffc-opt %s --ffc-recognize --ffc-train="loss=mse" --ffc-round="type=bf16" --ffc-fuse | FileCheck %s

// The pipelines of ffc by name: the gradient gives the loss, products read
// rounded copies, the update is last and writes them.

// CHECK: ff.state "w.bf16" "copy"
// CHECK: ff.matmul
// CHECK: ff.mse_backward
// CHECK: ff.matmul
// CHECK: ff.update sgd
// CHECK-NEXT: ff.store
func.func @main(%x: tensor<4x8xf32> {ff.name = "x"}) {
  %w = ff.state "w" "parameter" init <normal, 0.1 : f64, 0> : tensor<8x4xf32> loc("w")
  %y = ff.matmul(%x, %w) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> loc("y")
  ff.output %y as "out/y" : tensor<4x4xf32>
  return
}
