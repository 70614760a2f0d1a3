// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @attention
func.func @attention(%b: tensor<2x5x3x4xbf16>, %q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x8xf32>, %m: tensor<2x1x1x6xf32>, %c: tensor<5x6xf32>) {
  // CHECK: ff.attention(%{{.*}}, %{{.*}}, %{{.*}}) {hidden = array<f64>, scale = 5.000000e-01 : f64} : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  %0, %1 = ff.attention(%q, %k, %v) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  // CHECK: ff.attention(%{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}})
  %2, %3 = ff.attention(%q, %k, %v mask %m) {hidden = array<f64>, scale = 1.0 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>, tensor<2x1x1x6xf32>)
     -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  // CHECK: hidden = array<f64: -1.000000e+04>
  %4, %5 = ff.attention(%q, %k, %v mask %c) {hidden = array<f64: -1.0e4>, scale = 1.0 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>, tensor<5x6xf32>)
     -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  // CHECK: ff.attention_backward(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}})
  %6, %7, %8 = ff.attention_backward(%q, %k, %v, %4, %5, %0 mask %c) {hidden = array<f64: -1.0e4>, scale = 1.0 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>, tensor<2x5x3x8xf32>, tensor<2x3x5xf32>, tensor<2x5x3x8xf32>, tensor<5x6xf32>)
     -> (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>)
  // CHECK: ff.attention(%{{.*}}) {hidden = array<f64>, key = 7 : i64, ratio = 1.000000e-01 : f64, scale = 1.000000e+00 : f64}
  %9, %10 = ff.attention(%q, %k, %v) {hidden = array<f64>, key = 7 : i64, ratio = 0.1 : f64, scale = 1.0 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  // CHECK: ff.attention(%{{.*}}) {hidden = array<f64>, scale = 1.000000e+00 : f64} : (tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %11, %12 = ff.attention(%b, %b, %b) {hidden = array<f64>, scale = 1.0 : f64}
      : (tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  return
}
