// RUN: ffc-opt %s --split-input-file --fuse-losses --mlir-use-nameloc-as-prefix | FileCheck %s

// The gradient gives the loss, in its place, with its name and role.

// CHECK-LABEL: func.func @main
// CHECK: %s = ff.state
// CHECK-NEXT: %[[L:.*]], %[[DX:.*]] = ff.cross_entropy_backward(%{{.*}}, %{{.*}} slope %s) {axis = 1 : i64, ff.aliases = ["loss.backward"], ff.role = "loss"}
// CHECK-NEXT: ff.output %[[L]] as "loss"
// CHECK-NEXT: ff.unary relu(%[[DX]]) {ff.carry = array<i64: 3, 0>, ff.owner = "loss"}
// CHECK-NEXT: ff.unary relu(%[[DX]]) {ff.carry = array<i64: 0, 0>, ff.owner = "loss"}
// CHECK-NEXT: return
func.func @main(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  %s = ff.state "s" "slot" init <constant, 8.0 : f64, 0> : tensor<f32> loc("s")
  %l = ff.cross_entropy(%x, %t) {axis = 1 : i64, ff.role = "loss"}
      : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<f32> loc("loss")
  ff.output %l as "loss" : tensor<f32>
  %u, %dx = ff.cross_entropy_backward(%x, %t slope %s) {axis = 1 : i64, ff.owner = "loss", ff.role = "gradient"}
      : (tensor<8x10xf32>, tensor<8xi32>, tensor<f32>) -> (tensor<f32>, tensor<8x10xf32>) loc("loss.backward")
  %1 = ff.unary relu(%dx) {ff.carry = array<i64: 2, 0>, ff.owner = "loss"} : tensor<8x10xf32> -> tensor<8x10xf32>
  %2 = ff.unary relu(%dx) {ff.carry = array<i64: 0, 0>, ff.owner = "loss"} : tensor<8x10xf32> -> tensor<8x10xf32>
  return
}

// -----

// Not where the slope comes later, nor of other logits, targets or classes.

// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: ff.cross_entropy(
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %t: tensor<8xi32>, %u: tensor<8xi32>) {
  %l = ff.cross_entropy(%x, %t) {axis = 1 : i64} : (tensor<8x8xf32>, tensor<8xi32>) -> tensor<f32> loc("a")
  %s = ff.unary relu(%l) : tensor<f32> -> tensor<f32>
  %0, %1 = ff.cross_entropy_backward(%x, %t slope %s) {axis = 1 : i64}
      : (tensor<8x8xf32>, tensor<8xi32>, tensor<f32>) -> (tensor<f32>, tensor<8x8xf32>)
  %m = ff.cross_entropy(%y, %t) {axis = 1 : i64} : (tensor<8x8xf32>, tensor<8xi32>) -> tensor<f32> loc("b")
  %n = ff.cross_entropy(%x, %u) {axis = 1 : i64} : (tensor<8x8xf32>, tensor<8xi32>) -> tensor<f32> loc("c")
  %o = ff.cross_entropy(%x, %t) {axis = 0 : i64} : (tensor<8x8xf32>, tensor<8xi32>) -> tensor<f32> loc("d")
  return
}
