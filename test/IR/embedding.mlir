// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @embedding
func.func @embedding(%w: tensor<9x4xf32>, %ids: tensor<8x3xi64>, %dy: tensor<8x3x4xf32>, %f: tensor<2xf32>) {
  // CHECK: ff.embedding(%{{.*}}) : (tensor<9x4xf32>, tensor<8x3xi64>) -> tensor<8x3x4xf32>
  %0 = ff.embedding(%w, %ids) : (tensor<9x4xf32>, tensor<8x3xi64>) -> tensor<8x3x4xf32>
  // CHECK: ff.embedding_backward(%{{.*}}) : (tensor<8x3xi64>, tensor<8x3x4xf32>) -> tensor<9x4xf32>
  %1 = ff.embedding_backward(%ids, %dy) : (tensor<8x3xi64>, tensor<8x3x4xf32>) -> tensor<9x4xf32>
  // CHECK: ff.update_rows sgd(%{{.*}}) {hyper = array<f64: 0.000000e+00, 0.000000e+00>} : (tensor<9x4xf32>, tensor<8x3xi64>, tensor<8x3x4xf32>) -> tensor<9x4xf32>
  %2 = ff.update_rows sgd(%w, %ids, %dy) {hyper = array<f64: 0.0, 0.0>} : (tensor<9x4xf32>, tensor<8x3xi64>, tensor<8x3x4xf32>) -> tensor<9x4xf32>
  // CHECK: ff.update_rows adagrad(%{{.*}} slots %{{.*}}) {hyper = array<f64: 1.000000e-10>} : (tensor<9x4xf32>, tensor<8x3xi64>, tensor<8x3x4xf32>, tensor<9x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xf32>)
  %3:2 = ff.update_rows adagrad(%w, %ids, %dy slots %w) {hyper = array<f64: 1.0e-10>} : (tensor<9x4xf32>, tensor<8x3xi64>, tensor<8x3x4xf32>, tensor<9x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xf32>)
  // CHECK: ff.update_rows sgd(%{{.*}} scale %{{.*}})
  %4 = ff.update_rows sgd(%w, %ids, %dy scale %f) {hyper = array<f64: 0.0, 0.0>} : (tensor<9x4xf32>, tensor<8x3xi64>, tensor<8x3x4xf32>, tensor<2xf32>) -> tensor<9x4xf32>
  return
}
