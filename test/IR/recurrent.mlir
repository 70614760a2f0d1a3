// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @recurrent
func.func @recurrent(%x: tensor<3x5x16xf32>, %r: tensor<16x4xf32>, %h: tensor<5x4xf32>,
                     %u: tensor<3x5x12xf32>, %v: tensor<12x4xf32>, %b: tensor<12xf32>) {
  // CHECK: ff.recurrent lstm(%{{.*}}, %{{.*}} state %{{.*}} cell %{{.*}}) {reverse = 0 : i64}
  %0:4 = ff.recurrent lstm(%x, %r state %h cell %h) {reverse = 0 : i64}
      : (tensor<3x5x16xf32>, tensor<16x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>)
     -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<3x5x20xf32>)
  // CHECK: ff.recurrent gru_reset_after(%{{.*}}, %{{.*}} bias %{{.*}}) {reverse = 1 : i64}
  %1:3 = ff.recurrent gru_reset_after(%u, %v bias %b) {reverse = 1 : i64}
      : (tensor<3x5x12xf32>, tensor<12x4xf32>, tensor<12xf32>)
     -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x16xf32>)
  // CHECK: ff.recurrent_backward lstm(%{{.*}}, %{{.*}} dy %{{.*}} dc %{{.*}} cell %{{.*}})
  %2:4 = ff.recurrent_backward lstm(%r, %0#3 dy %0#0 dc %h cell %h) {reverse = 0 : i64}
      : (tensor<16x4xf32>, tensor<3x5x20xf32>, tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>)
     -> (tensor<3x5x16xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<3x5x16xf32>)
  return
}
