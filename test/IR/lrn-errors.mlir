// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @lrn_0_empty(%x: tensor<1x0xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0}}
  %y, %s = ff.lrn(%x) {alpha = 1.0 : f64, beta = 0.75 : f64, bias = 1.0 : f64,
      size = 5 : i64} : (tensor<1x0xf32>) -> (tensor<1x0xf32>, tensor<1x0xf32>)
  return
}

// -----

func.func @lrn_1_rank(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, found 'tensor<8xf32>'}}
  %y, %s = ff.lrn(%x) {alpha = 1.0 : f64, beta = 0.75 : f64, bias = 1.0 : f64,
      size = 5 : i64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @lrn_1_types(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %y, %s = ff.lrn(%x) {alpha = 1.0 : f64, beta = 0.75 : f64, bias = 1.0 : f64,
      size = 5 : i64} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x9xf32>)
  return
}

// -----

func.func @lrn_backward_2_size(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected a positive size, found 0}}
  %dx = ff.lrn_backward(%x, %x, %x) {alpha = 1.0 : f64, beta = 0.75 : f64,
      bias = 1.0 : f64, size = 0 : i64}
      : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}
