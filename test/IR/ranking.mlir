// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @ranking
func.func @ranking(%x: tensor<8x9xf32>) {
  // CHECK: ff.top_k(%{{.*}}) {axis = 1 : i64, largest = 1 : i64} : (tensor<8x9xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>)
  %y, %i = ff.top_k(%x) {axis = 1, largest = 1}
      : (tensor<8x9xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>)
  // CHECK: ff.top_k_backward(%{{.*}}, %{{.*}}) {axis = 1 : i64}
  %dx = ff.top_k_backward(%y, %i) {axis = 1}
      : (tensor<8x2xf32>, tensor<8x2xi64>) -> tensor<8x9xf32>
  // CHECK: ff.cum_sum(%{{.*}}) {axis = 0 : i64, exclusive = 1 : i64, reverse = 0 : i64}
  %s = ff.cum_sum(%x) {axis = 0, exclusive = 1, reverse = 0}
      : (tensor<8x9xf32>) -> tensor<8x9xf32>
  return
}
