// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @conv_0_empty(%x: tensor<1x0x4x4xf32>, %w: tensor<1x1x1x1xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x0x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @conv_1_channels(%x: tensor<1x3x4x4xf32>, %w: tensor<4x2x1x1xf32>) {
  // expected-error @+1 {{expected x with 4 channels, the group times the channels of w, found 3}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 2 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x3x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @conv_1_rank(%x: tensor<1x4x4x4xf32>, %w: tensor<4x4x1xf32>) {
  // expected-error @+1 {{expected w of the rank of x, 4, found 3}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x4x4xf32>, tensor<4x4x1xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @conv_1_group(%x: tensor<1x4x4x4xf32>, %w: tensor<3x2x1x1xf32>) {
  // expected-error @+1 {{expected output channels of w in a multiple of the group 2, found 3}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 2 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @conv_1_bias(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>,
                       %b: tensor<3xf32>) {
  // expected-error @+1 {{expected b of shape [2], found [3]}}
  %y = ff.conv(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<3xf32>)
      -> tensor<1x2x4x4xf32>
  return
}

// -----

func.func @conv_2_result(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error @+1 {{expected y of shape [1, 2, 4, 3], found [1, 2, 4, 4]}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 2, 2>}
      : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x4x4xf32>
  return
}

// -----

func.func @conv_3_strides(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error @+1 {{expected 2 positive strides, found [1, 0]}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 0>}
      : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  return
}

// -----

func.func @conv_3_dilations(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error @+1 {{expected 2 positive dilations, found [1]}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  return
}

// -----

func.func @conv_3_group(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error @+1 {{expected a positive group, found 0}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 0 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  return
}

// -----

func.func @conv_3_pads(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error @+1 {{expected 4 pads, none negative, found [0, 0, -1, 0]}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, -1, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  return
}

// -----

func.func @conv_4_window(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error @+1 {{expected a window that fits the padded image of 8, found one of 9}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 4>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x1xf32>
  return
}

// -----

func.func @conv_clamp(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error @+1 {{expected one or two bounds in 'clamp', found 3}}
  %y = ff.conv(%x, %w) {clamp = array<f64: 0.0, 1.0, 2.0>,
      dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  return
}

// -----

func.func @backward_data_2(%dy: tensor<1x2x6x6xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error @+1 {{expected dy of shape [1, 2, 7, 6], found [1, 2, 6, 6]}}
  %dx = ff.conv_backward_data(%dy, %w) {dilations = array<i64: 1, 1>,
      group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x2x6x6xf32>, tensor<2x1x3x3xf32>) -> tensor<1x1x9x8xf32>
  return
}

// -----

func.func @backward_weights_1(%x: tensor<1x1x8x8xf32>, %dy: tensor<1x2x6x6xf32>) {
  // expected-error @+1 {{expected x with 2 channels, the group times the channels of dw, found 1}}
  %dw = ff.conv_backward_weights(%x, %dy) {dilations = array<i64: 1, 1>,
      group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x8xf32>, tensor<1x2x6x6xf32>) -> tensor<2x2x3x3xf32>
  return
}

// -----

func.func @conv3d_2_result(%x: tensor<1x1x8x8x8xf32>, %w: tensor<2x1x3x3x3xf32>) {
  // expected-error @+1 {{expected y of shape [1, 2, 6, 6, 6], found [1, 2, 6, 6, 5]}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1>}
      : (tensor<1x1x8x8x8xf32>, tensor<2x1x3x3x3xf32>) -> tensor<1x2x6x6x5xf32>
  return
}

// -----

func.func @conv1d_3_pads(%x: tensor<1x1x8xf32>, %w: tensor<2x1x3xf32>) {
  // expected-error @+1 {{expected 2 pads, none negative, found [0, 0, 0, 0]}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1>}
      : (tensor<1x1x8xf32>, tensor<2x1x3xf32>) -> tensor<1x2x6xf32>
  return
}

// -----

func.func @conv_5_factors(%x: tensor<2x3x4x4xbf16>, %w: tensor<4x3x1x1xf32>) {
  // expected-error @+1 {{expected operands of one element type, found 'bf16' and 'f32'}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<2x3x4x4xbf16>, tensor<4x3x1x1xf32>) -> tensor<2x4x4x4xf32>
  return
}

// -----

func.func @conv_5_groups(%x: tensor<1x4x5x5xbf16>, %w: tensor<4x2x1x1xbf16>) {
  // expected-error @+1 {{expected 'f32' beside operands of 'bf16', found 'bf16'}}
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 2 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x5x5xbf16>, tensor<4x2x1x1xbf16>) -> tensor<1x4x5x5xbf16>
  return
}
