// RUN: ffc-opt %s --raise-precision | FileCheck %s
// RUN: ffc-opt %s --ffc-round=type=f64 | FileCheck %s

// All numbers, those in bodies too, and nothing else.

// CHECK: func.func @main(%[[X:.*]]: tensor<4x8xf64> {ff.name = "x"}, %[[T:.*]]: tensor<4xi32> {ff.name = "target"})
// CHECK: ff.state {{.*}} : tensor<8x4xf64>
// CHECK: ff.matmul{{.*}} : (tensor<4x8xf64>, tensor<8x4xf64>) -> tensor<4x4xf64>
// CHECK: ff.fused
// CHECK: ff.unary relu{{.*}} : tensor<4x4xf64> -> tensor<4x4xf64>
// CHECK: ff.cross_entropy(%{{.*}}, %[[T]]){{.*}} : (tensor<4x4xf64>, tensor<4xi32>) -> {{.*}}tensor<f64>
// CHECK-NOT: f32
func.func @main(%x: tensor<4x8xf32> {ff.name = "x"}, %t: tensor<4xi32> {ff.name = "target"}) {
  %w = ff.state "w" "parameter" init <normal, 0.1 : f64, 0> : tensor<8x4xf32> loc("w")
  %y = ff.matmul(%x, %w) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> loc("y")
  %z = ff.fused(%y) {
  ^bb0(%in: tensor<4x4xf32>):
    %0 = ff.unary relu(%in) : tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = ff.unary tanh(%0) : tensor<4x4xf32> -> tensor<4x4xf32>
    ff.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("z")
  %loss = ff.cross_entropy(%z, %t) {axis = 1 : i64} : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<f32> loc("loss")
  ff.output %loss as "loss" : tensor<f32>
  return
}
