// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @gather_elements
func.func @gather_elements(%x: tensor<8x9xf32>, %i: tensor<8x2xi32>, %l: tensor<8x9xi64>,
                           %dy: tensor<8x2xf32>) {
  // CHECK: ff.gather_elements(%{{.*}}) {axis = 1 : i64} : (tensor<8x9xf32>, tensor<8x2xi32>) -> tensor<8x2xf32>
  %0 = ff.gather_elements(%x, %i) {axis = 1 : i64}
      : (tensor<8x9xf32>, tensor<8x2xi32>) -> tensor<8x2xf32>
  // CHECK: ff.gather_elements(%{{.*}}) {axis = 0 : i64} : (tensor<8x9xf32>, tensor<8x9xi64>) -> tensor<8x9xf32>
  %1 = ff.gather_elements(%x, %l) {axis = 0 : i64}
      : (tensor<8x9xf32>, tensor<8x9xi64>) -> tensor<8x9xf32>
  // CHECK: ff.gather_elements_backward(%{{.*}}) {axis = 1 : i64} : (tensor<8x2xi32>, tensor<8x2xf32>) -> tensor<8x9xf32>
  %2 = ff.gather_elements_backward(%i, %dy) {axis = 1 : i64}
      : (tensor<8x2xi32>, tensor<8x2xf32>) -> tensor<8x9xf32>
  return
}
