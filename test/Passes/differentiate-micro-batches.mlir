// RUN: ffc-opt %s --ffc-train="loss=mse micro-batches=4" | FileCheck %s
// RUN: ffc-opt %s --ffc-train="loss=mse" | FileCheck %s --check-prefix=ONE --implicit-check-not=ff.micro_batches

// A step that goes over several micro-batches says so.

// CHECK: func.func @main({{.*}}) attributes {ff.micro_batches = 4 : i64}
// ONE: func.func @main
func.func @main(%x: tensor<4x8xf32> {ff.name = "x"}) {
  %w = ff.state "w" "parameter" init <normal, 0.1 : f64, 0> : tensor<8x4xf32> loc("w")
  %y = ff.matmul(%x, %w) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> loc("y")
  ff.output %y as "out/y" : tensor<4x4xf32>
  return
}
