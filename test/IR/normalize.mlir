// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @batch
func.func @batch(%x: tensor<8x16x7x7xf32>, %s: tensor<16xf32>, %b: tensor<16xf32>) {
  // CHECK: %[[Y:.*]], %[[M:.*]], %[[V:.*]] = ff.normalize(%{{.*}} scale %{{.*}} bias %{{.*}}) {axes = array<i64: 0, 2, 3>, epsilon = 1.000000e-05 : f64, param_dims = array<i64: 1>}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2, 3>,
      epsilon = 1.0e-05 : f64, param_dims = array<i64: 1>}
      : (tensor<8x16x7x7xf32>, tensor<16xf32>, tensor<16xf32>)
      -> (tensor<8x16x7x7xf32>, tensor<16xf32>, tensor<16xf32>)
  // CHECK: ff.normalize_backward(%[[Y]], %{{.*}}, %[[M]], %[[V]], %{{.*}}) {axes = array<i64: 0, 2, 3>, epsilon = 1.000000e-05 : f64, param_dims = array<i64: 1>}
  %dx, %ds, %db = ff.normalize_backward(%y, %x, %m, %v, %s)
      {axes = array<i64: 0, 2, 3>, epsilon = 1.0e-05 : f64,
       param_dims = array<i64: 1>}
      : (tensor<8x16x7x7xf32>, tensor<8x16x7x7xf32>, tensor<16xf32>,
         tensor<16xf32>, tensor<16xf32>)
      -> (tensor<8x16x7x7xf32>, tensor<16xf32>, tensor<16xf32>)
  return
}

// Scale and bias are optional, one by one.
// CHECK-LABEL: @optional
func.func @optional(%x: tensor<4x6x8xf32>, %p: tensor<8xf32>) {
  // CHECK: ff.normalize(%{{[^ ]*}}) {
  %0, %1, %2 = ff.normalize(%x) {axes = array<i64: 2>, epsilon = 0.1 : f64,
      param_dims = array<i64: 2>} : (tensor<4x6x8xf32>)
      -> (tensor<4x6x8xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
  // CHECK: ff.normalize(%{{[^ ]*}} scale %{{[^ ]*}}) {
  %3, %4, %5 = ff.normalize(%x scale %p) {axes = array<i64: 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 2>}
      : (tensor<4x6x8xf32>, tensor<8xf32>)
      -> (tensor<4x6x8xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
  // CHECK: ff.normalize(%{{[^ ]*}} bias %{{[^ ]*}}) {
  %6, %7, %8 = ff.normalize(%x bias %p) {axes = array<i64: 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 2>}
      : (tensor<4x6x8xf32>, tensor<8xf32>)
      -> (tensor<4x6x8xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
  // CHECK: ff.normalize_backward(%{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}) {
  %dx, %ds, %db = ff.normalize_backward(%x, %x, %1, %2) {axes = array<i64: 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 2>}
      : (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
      -> (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: ff.normalize_backward(%{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} addend %{{[^ ]*}}) {
  %dx1, %ds1, %db1 = ff.normalize_backward(%x, %x, %1, %2, %p addend %dx) {axes = array<i64: 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 2>}
      : (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<8xf32>,
         tensor<4x6x8xf32>)
      -> (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// Each group of samples has its own statistics.
// CHECK-LABEL: @groups
func.func @groups(%x: tensor<6x4x3xf32>, %s: tensor<4xf32>) {
  // CHECK: %[[Y:.*]], %[[M:.*]], %[[V:.*]] = ff.normalize(%{{[^ ]*}} scale %{{[^ ]*}}) {axes = array<i64: 0, 2>, epsilon = 1.000000e-01 : f64, param_dims = array<i64: 1>, sample_groups = 2 : i64}
  // CHECK-SAME: -> (tensor<6x4x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %y, %m, %v = ff.normalize(%x scale %s) {axes = array<i64: 0, 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>, sample_groups = 2}
      : (tensor<6x4x3xf32>, tensor<4xf32>)
      -> (tensor<6x4x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  // CHECK: ff.normalize_backward(%[[Y]], %{{.*}}, %[[M]], %[[V]], %{{.*}}) {{.*}}sample_groups = 2 : i64}
  %dx, %ds, %db = ff.normalize_backward(%y, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64,
       param_dims = array<i64: 1>, sample_groups = 2}
      : (tensor<6x4x3xf32>, tensor<6x4x3xf32>, tensor<2x4xf32>,
         tensor<2x4xf32>, tensor<4xf32>)
      -> (tensor<6x4x3xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}
