// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @embedding
func.func @embedding(%w: tensor<9x4xf32>, %ids: tensor<8x3xi64>, %dy: tensor<8x3x4xf32>) {
  // CHECK: ff.embedding(%{{.*}}) : (tensor<9x4xf32>, tensor<8x3xi64>) -> tensor<8x3x4xf32>
  %0 = ff.embedding(%w, %ids) : (tensor<9x4xf32>, tensor<8x3xi64>) -> tensor<8x3x4xf32>
  // CHECK: ff.embedding_backward(%{{.*}}) : (tensor<8x3xi64>, tensor<8x3x4xf32>) -> tensor<9x4xf32>
  %1 = ff.embedding_backward(%ids, %dy) : (tensor<8x3xi64>, tensor<8x3x4xf32>) -> tensor<9x4xf32>
  // CHECK: ff.sgd_update_rows(%{{.*}}) : (tensor<9x4xf32>, tensor<8x3xi64>, tensor<8x3x4xf32>) -> tensor<9x4xf32>
  %2 = ff.sgd_update_rows(%w, %ids, %dy) : (tensor<9x4xf32>, tensor<8x3xi64>, tensor<8x3x4xf32>) -> tensor<9x4xf32>
  return
}
