// RUN: ffc-opt %s --ff-evaluate=loss=none --split-input-file | FileCheck %s

// A cross-entropy of the model's own has rows like any other.
// CHECK-LABEL: @main
// CHECK-SAME: attributes {ff.rows = "classes"}
func.func @main(%x: tensor<4x6xf32> {ff.name = "x"}, %t: tensor<4xi32> {ff.name = "labels"}) {
  // CHECK-NOT: ff.cross_entropy
  // CHECK: ff.output %{{.*}} as "rows/loss" : tensor<4xf32>
  // CHECK: ff.output %{{.*}} as "rows/top" : tensor<4x5xi64>
  // CHECK: ff.output %{{.*}} as "rows/target" : tensor<4xi32>
  %loss = ff.cross_entropy(%x, %t) {axis = 1 : i64} : (tensor<4x6xf32>, tensor<4xi32>) -> tensor<f32>
  ff.output %loss as "out/loss" : tensor<f32>
  return
}

// -----

// Of any other there is one number.
// CHECK-LABEL: @main
// CHECK-SAME: attributes {ff.rows = "losses"}
func.func @main(%x: tensor<4x6xf32> {ff.name = "x"}) {
  // CHECK: %[[SUM:.*]] = ff.reduce_sum
  // CHECK: ff.output %[[SUM]] as "rows/loss" : tensor<f32>
  %loss = ff.reduce_sum(%x) {axes = array<i64: 0, 1>, keepdims = 0 : i64} : (tensor<4x6xf32>) -> tensor<f32>
  ff.output %loss as "out/loss" : tensor<f32>
  return
}
