// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @gather
func.func @gather(%x: tensor<8x9xf32>, %i: tensor<4xi32>, %dy: tensor<8x3xf32>) {
  // CHECK: ff.gather(%{{.*}}) {axis = 1 : i64, indices = array<i64: 8, 0, 8>} : (tensor<8x9xf32>) -> tensor<8x3xf32>
  %0 = ff.gather(%x) {axis = 1, indices = array<i64: 8, 0, 8>}
      : (tensor<8x9xf32>) -> tensor<8x3xf32>
  // CHECK: -> tensor<5xi32>
  %1 = ff.gather(%i) {axis = 0, indices = array<i64: 0, 1, 2, 3, 3>}
      : (tensor<4xi32>) -> tensor<5xi32>
  // CHECK: ff.gather_backward(%{{.*}}) {axis = 1 : i64, indices = array<i64: 8, 0, 8>} : (tensor<8x3xf32>) -> tensor<8x9xf32>
  %2 = ff.gather_backward(%dy) {axis = 1, indices = array<i64: 8, 0, 8>}
      : (tensor<8x3xf32>) -> tensor<8x9xf32>
  return
}
