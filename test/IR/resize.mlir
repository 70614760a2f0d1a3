// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @resize
func.func @resize(%x: tensor<2x3x4x6xf32>, %dy: tensor<2x3x8x9xf32>) {
  // CHECK: ff.resize(%{{.*}}) {coordinates = "half_pixel", mode = "linear", nearest = "floor", scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 1.500000e+00>}
  // CHECK-SAME: (tensor<2x3x4x6xf32>) -> tensor<2x3x8x9xf32>
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "linear",
      nearest = "floor", scales = array<f64: 1.0, 1.0, 2.0, 1.5>}
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x8x9xf32>
  // CHECK: ff.resize_backward(%{{.*}}) {coordinates = "half_pixel"
  // CHECK-SAME: (tensor<2x3x8x9xf32>) -> tensor<2x3x4x6xf32>
  %1 = ff.resize_backward(%dy) {coordinates = "half_pixel", mode = "linear",
      nearest = "floor", scales = array<f64: 1.0, 1.0, 2.0, 1.5>}
      : (tensor<2x3x8x9xf32>) -> tensor<2x3x4x6xf32>
  // CHECK: ff.resize(%{{.*}}) {coordinates = "tf_crop_and_resize", cubic_coeff_a = -5.000000e-01 : f64, exclude_outside = 1 : i64, mode = "cubic", nearest = "floor", roi = array<f64: 0.000000e+00,
  %2 = ff.resize(%x) {coordinates = "tf_crop_and_resize", cubic_coeff_a = -0.5,
      exclude_outside = 1 : i64, mode = "cubic", nearest = "floor",
      roi = array<f64: 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0>,
      scales = array<f64: 1.0, 1.0, 2.0, 1.5>}
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x8x9xf32>
  // CHECK: ff.resize(%{{.*}}) {antialias = 1 : i64, coordinates = "half_pixel_symmetric"
  %3 = ff.resize(%x) {antialias = 1 : i64, coordinates = "half_pixel_symmetric",
      mode = "linear", nearest = "floor",
      scales = array<f64: 1.0, 1.0, 0.5, 0.4>}
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x2x2xf32>
  return
}
