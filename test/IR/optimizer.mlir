// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @update
func.func @update(%w: tensor<4x3xf32>, %g: tensor<4x3xf32>,
                  %m: tensor<4x3xf32>, %v: tensor<4x3xf32>, %f: tensor<f32>) {
  // CHECK: ff.update sgd(%{{.*}}, %{{.*}}) {hyper = array<f64: 0.000000e+00, 0.000000e+00>}
  %0 = ff.update sgd(%w, %g) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: ff.update sgd(%{{.*}}, %{{.*}} slots %{{.*}}) {hyper = array<f64: 9.000000e-01, 1.000000e+00>}
  %1:2 = ff.update sgd(%w, %g slots %v) {hyper = array<f64: 0.9, 1.0>}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>)
      -> (tensor<4x3xf32>, tensor<4x3xf32>)
  // CHECK: ff.update sgd(%{{.*}}, %{{.*}} slots %{{.*}}) {{.*}} -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xbf16>)
  %3:3 = ff.update sgd(%w, %g slots %v) {hyper = array<f64: 0.9, 1.0>}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>)
      -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xbf16>)
  // CHECK: ff.update adamw(%{{.*}}, %{{.*}} slots %{{.*}}, %{{.*}} scale %{{.*}})
  %2:3 = ff.update adamw(%w, %g slots %m, %v scale %f)
      {hyper = array<f64: 0.9, 0.999, 1.0e-8>}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>)
      -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>)
  return
}

// CHECK-LABEL: @loss_scale
func.func @loss_scale(%w: tensor<4x3xf32>, %g: tensor<4x3xf32>, %s: tensor<f32>,
                      %good: tensor<f32>, %skipped: tensor<f32>) {
  %0 = ff.square_sum(%g) : (tensor<4x3xf32>) -> tensor<f32>
  // CHECK: ff.loss_scale(%{{.*}}) {interval = 2000 : i64, least = 1.000000e+00 : f64, max_norm = 0.000000e+00 : f64, most = 1.024000e+03 : f64}
  %1:4 = ff.loss_scale(%s, %good, %skipped, %0)
      {interval = 2000, least = 1.0, max_norm = 0.0, most = 1024.0}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
      -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
  // CHECK: ff.update sgd(%{{.*}}, %{{.*}} scale %{{.*}}) {{.*}}tensor<2xf32>
  %2 = ff.update sgd(%w, %g scale %1#0) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: @clipping
func.func @clipping(%g: tensor<4x3xf32>, %h: tensor<2xf32>) {
  // CHECK: ff.square_sum(%{{.*}}) : (tensor<4x3xf32>) -> tensor<f32>
  %0 = ff.square_sum(%g) : (tensor<4x3xf32>) -> tensor<f32>
  %1 = ff.square_sum(%h) : (tensor<2xf32>) -> tensor<f32>
  // CHECK: ff.clip_scale(%{{.*}}, %{{.*}}) {max_norm = 1.000000e+00 : f64}
  %2 = ff.clip_scale(%0, %1) {max_norm = 1.0}
      : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}
