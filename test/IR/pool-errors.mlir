// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @max_pool_0_empty(%x: tensor<1x?x4x4xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0}}
  %y, %i = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x?x4x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi32>)
  return
}

// -----

func.func @max_pool_1_channels(%x: tensor<1x2x4x4xf32>) {
  // expected-error @+1 {{expected y of shape [1, 2, 2, 2], found [1, 3, 2, 2]}}
  %y, %i = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> (tensor<1x3x2x2xf32>, tensor<1x3x2x2xi32>)
  return
}

// -----

func.func @max_pool_1_element_type(%x: tensor<1x2x4x4xf32>) {
  // expected-error @+1 {{expected image and result of one element type, found 'f32' and 'f64'}}
  %y, %i = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf64>, tensor<1x2x2x2xi32>)
  return
}

// -----

func.func @max_pool_1_index_type(%x: tensor<1x2x4x4xf32>) {
  // expected-error @+1 {{expected index of type i32, found 'i64'}}
  %y, %i = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>)
  return
}

// -----

func.func @max_pool_1_index_shape(%x: tensor<1x2x4x4xf32>) {
  // expected-error @+1 {{expected index of shape [1, 2, 2, 2], found [1, 2, 4]}}
  %y, %i = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x4xi32>)
  return
}

// -----

func.func @average_pool_2_exact(%x: tensor<1x2x4x4xf32>) {
  // expected-error @+1 {{expected y with an extent of 2 in h, found 3}}
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x2xf32>
  return
}

// -----

func.func @average_pool_2_rounded(%x: tensor<1x2x4x5xf32>) {
  // expected-error @+1 {{expected y with an extent of 2 or 3 in w, found 4}}
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x5xf32>) -> tensor<1x2x2x4xf32>
  return
}

// -----

func.func @average_pool_3_kernel(%x: tensor<1x2x4x4xf32>) {
  // expected-error @+1 {{expected 2 positive kernel extents, found [2, 2, 2]}}
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 2, 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @average_pool_3_pads(%x: tensor<1x2x4x4xf32>) {
  // expected-error @+1 {{expected 4 pads, none negative, found [0, 0]}}
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @average_pool_4_fits(%x: tensor<1x2x4x4xf32>) {
  // expected-error @+1 {{expected a window that fits the padded image of 5, found one of 6}}
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 6, 2>, pads = array<i64: 1, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x2xf32>
  return
}

// -----

// The fourth window starts at row 6, after the image.
func.func @average_pool_4_touches(%x: tensor<1x2x6x6xf32>) {
  // expected-error @+1 {{expected a position inside the image in every window, found none for h = 3 of y}}
  %y = ff.average_pool(%x) {count_include_pad = 1 : i64,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 2, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x6x6xf32>) -> tensor<1x2x4x3xf32>
  return
}

// -----

func.func @max_pool_backward_2(%dy: tensor<1x2x2x2xf32>,
                               %index: tensor<1x2x2x2xi32>) {
  // expected-error @+1 {{expected dy with an extent of 4 in w, found 2}}
  %dx = ff.max_pool_backward(%dy, %index) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

func.func @average_pool_backward_1(%dy: tensor<1x3x2x2xf32>) {
  // expected-error @+1 {{expected dy of shape [1, 2, 2, 2], found [1, 3, 2, 2]}}
  %dx = ff.average_pool_backward(%dy) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x3x2x2xf32>) -> tensor<1x2x4x4xf32>
  return
}

// -----

func.func @max_pool_1_rank(%x: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected y of shape [1, 2, 2], found [1, 2, 2, 2]}}
  %y, %i = ff.max_pool(%x) {dilations = array<i64: 1>,
      kernel_shape = array<i64: 2>, pads = array<i64: 0, 0>,
      strides = array<i64: 2>}
      : (tensor<1x2x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi32>)
  return
}

// -----

func.func @max_pool_3_dilations(%x: tensor<1x2x4x4x4xf32>) {
  // expected-error @+1 {{expected 3 positive dilations, found []}}
  %y, %i = ff.max_pool(%x) {dilations = array<i64>,
      kernel_shape = array<i64: 2, 2, 2>, pads = array<i64: 0, 0, 0, 0, 0, 0>,
      strides = array<i64: 2, 2, 2>}
      : (tensor<1x2x4x4x4xf32>)
      -> (tensor<1x2x2x2x2xf32>, tensor<1x2x2x2x2xi32>)
  return
}

// -----

func.func @average_pool_1_type(%x: tensor<1x2x4x4xbf16>) {
  // expected-error @+1 {{expected image and result of one element type, found 'f32' and 'f64'}}
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xbf16>) -> tensor<1x2x2x2xf64>
  return
}
