// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @top_k_0(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x4xf32>'}}
  %y, %i = ff.top_k(%x) {axis = 1, largest = 1}
      : (tensor<?x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>)
  return
}

// -----

func.func @top_k_1(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{expected axis within a tensor of rank 2, found 2}}
  %y, %i = ff.top_k(%x) {axis = 2, largest = 1}
      : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>)
  return
}

// -----

func.func @top_k_2_shape(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{expected y of shape [8, 4], found [8, 5]}}
  %y, %i = ff.top_k(%x) {axis = 1, largest = 1}
      : (tensor<8x4xf32>) -> (tensor<8x5xf32>, tensor<8x5xi64>)
  return
}

// -----

func.func @top_k_2_type(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{expected y of 'f32', found 'tensor<8x2xf64>'}}
  %y, %i = ff.top_k(%x) {axis = 1, largest = 1}
      : (tensor<8x4xf32>) -> (tensor<8x2xf64>, tensor<8x2xi64>)
  return
}

// -----

func.func @top_k_3_type(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{expected index of i64, found 'tensor<8x2xi32>'}}
  %y, %i = ff.top_k(%x) {axis = 1, largest = 1}
      : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return
}

// -----

func.func @top_k_backward_3_shape(%dy: tensor<8x2xf32>, %i: tensor<8x3xi64>) {
  // expected-error @+1 {{expected index of shape [8, 2], found [8, 3]}}
  %dx = ff.top_k_backward(%dy, %i) {axis = 1}
      : (tensor<8x2xf32>, tensor<8x3xi64>) -> tensor<8x4xf32>
  return
}

// -----

func.func @cum_sum_1(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected axis within a tensor of rank 1, found -1}}
  %y = ff.cum_sum(%x) {axis = -1, exclusive = 0, reverse = 0} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @cum_sum_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %y = ff.cum_sum(%x) {axis = 0, exclusive = 0, reverse = 0} : (tensor<8xf32>) -> tensor<4xf32>
  return
}
