// RUN: ffc-opt %s --recognize-patterns | FileCheck %s

// What a layer takes block by block comes from the blocks.

// CHECK-LABEL: @through_moves
// CHECK-SAME: %[[A:[^:]*]]: {{.*}}, %[[B:[^:]*]]: tensor<2x3x4xf32>
func.func @through_moves(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) {
  %0 = ff.concat(%a, %b) {axis = 0 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<4x3x4xf32>
  %1 = ff.reshape(%0) : (tensor<4x3x4xf32>) -> tensor<4x1x3x4xf32>
  %2 = ff.reshape(%1) : (tensor<4x1x3x4xf32>) -> tensor<4x3x4xf32>
  %3 = ff.slice(%2) {starts = array<i64: 2, 0, 0>} : (tensor<4x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: ff.output %[[B]] as "whole"
  ff.output %3 as "whole" : tensor<2x3x4xf32>
  // CHECK: %[[P:.*]] = ff.slice(%[[B]]) {starts = array<i64: 1, 0, 0>}
  // CHECK: %[[T:.*]] = ff.transpose(%[[P]]) {perm = array<i64: 1, 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
  %4 = ff.transpose(%2) {perm = array<i64: 1, 0, 2>} : (tensor<4x3x4xf32>) -> tensor<3x4x4xf32>
  %5 = ff.slice(%4) {starts = array<i64: 0, 3, 0>} : (tensor<3x4x4xf32>) -> tensor<3x1x4xf32>
  // CHECK: ff.output %[[T]] as "part"
  ff.output %5 as "part" : tensor<3x1x4xf32>
  return
}

// CHECK-LABEL: @of_two
func.func @of_two(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // CHECK: ff.concat
  // CHECK: ff.slice
  %0 = ff.concat(%a, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = ff.slice(%0) {starts = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<2x3xf32>
  ff.output %1 as "y" : tensor<2x3xf32>
  return
}
