// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @resize_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "linear",
      nearest = "floor", scales = array<f64: 2.0>}
      : (tensor<?xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @resize_1_rank(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected operand and result of one rank, found 2 and 1}}
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "linear",
      nearest = "floor", scales = array<f64: 2.0, 1.0>}
      : (tensor<4x6xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @resize_1_scales(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected 2 positive scales, found [2.000000e+00]}}
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "linear",
      nearest = "floor", scales = array<f64: 2.0>}
      : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @resize_1_positive(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected 2 positive scales, found [2.000000e+00, 0.000000e+00]}}
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "linear",
      nearest = "floor", scales = array<f64: 2.0, 0.0>}
      : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @resize_2_coordinates(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected coordinates to be one of half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize, found 'corners'}}
  %0 = ff.resize(%x) {coordinates = "corners", mode = "linear",
      nearest = "floor", scales = array<f64: 2.0>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @resize_2_mode(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected mode to be one of nearest, linear, cubic, found 'bilinear'}}
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "bilinear",
      nearest = "floor", scales = array<f64: 2.0>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @resize_2_nearest(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected nearest to be one of floor, ceil, round_prefer_floor, round_prefer_ceil, found 'round'}}
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "nearest",
      nearest = "round", scales = array<f64: 2.0>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @resize_3(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected extent 8 in dimension 0 after scaling, found 9}}
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "nearest",
      nearest = "floor", scales = array<f64: 2.0>}
      : (tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @resize_4_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a roi of 2 numbers from 0 to 1, found []}}
  %0 = ff.resize(%x) {coordinates = "tf_crop_and_resize", mode = "nearest",
      nearest = "floor", scales = array<f64: 2.0>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @resize_4_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a roi of 2 numbers from 0 to 1, found [0.000000e+00, 1.500000e+00]}}
  %0 = ff.resize(%x) {coordinates = "tf_crop_and_resize", mode = "nearest",
      nearest = "floor", roi = array<f64: 0.0, 1.5>, scales = array<f64: 2.0>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @resize_4_none(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a roi of 0 numbers from 0 to 1, found [0.000000e+00, 1.000000e+00]}}
  %0 = ff.resize(%x) {coordinates = "asymmetric", mode = "nearest",
      nearest = "floor", roi = array<f64: 0.0, 1.0>, scales = array<f64: 2.0>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @resize_backward_1(%dy: tensor<8xf32>) {
  // expected-error @+1 {{expected 1 positive scales, found [2.000000e+00, 2.000000e+00]}}
  %0 = ff.resize_backward(%dy) {coordinates = "half_pixel", mode = "nearest",
      nearest = "floor", scales = array<f64: 2.0, 2.0>}
      : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @resize_backward_2(%dy: tensor<8xf32>) {
  // expected-error @+1 {{expected mode to be one of nearest, linear, cubic, found 'area'}}
  %0 = ff.resize_backward(%dy) {coordinates = "half_pixel", mode = "area",
      nearest = "floor", scales = array<f64: 2.0>}
      : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @resize_backward_3(%dy: tensor<9xf32>) {
  // expected-error @+1 {{expected extent 8 in dimension 0 after scaling, found 9}}
  %0 = ff.resize_backward(%dy) {coordinates = "half_pixel", mode = "nearest",
      nearest = "floor", scales = array<f64: 2.0>}
      : (tensor<9xf32>) -> tensor<4xf32>
  return
}
