// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @gather_elements_0(%x: tensor<?xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.gather_elements(%x, %i) {axis = 0 : i64}
      : (tensor<?xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_elements_1_axis(%x: tensor<4x6xf32>, %i: tensor<4x2xi64>) {
  // expected-error @+1 {{expected axis within a tensor of rank 2, found 2}}
  %0 = ff.gather_elements(%x, %i) {axis = 2 : i64}
      : (tensor<4x6xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @gather_elements_1_indices(%x: tensor<4x6xf32>, %i: tensor<3x2xi64>) {
  // expected-error @+1 {{expected indices of shape [4, 2], found [3, 2]}}
  %0 = ff.gather_elements(%x, %i) {axis = 1 : i64}
      : (tensor<4x6xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @gather_elements_1_rank(%x: tensor<4x6xf32>, %i: tensor<4xi64>) {
  // expected-error @+1 {{expected indices of shape [4, 6], found [4]}}
  %0 = ff.gather_elements(%x, %i) {axis = 1 : i64}
      : (tensor<4x6xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_elements_2(%x: tensor<4x6xf32>, %i: tensor<4x2xi64>) {
  // expected-error @+1 {{expected y of shape [4, 2], found [4, 3]}}
  %0 = ff.gather_elements(%x, %i) {axis = 1 : i64}
      : (tensor<4x6xf32>, tensor<4x2xi64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_elements_3(%x: tensor<4x6xf32>, %i: tensor<4x2xi64>) {
  // expected-error @+1 {{expected y with elements of type 'f32', found 'tensor<4x2xf64>'}}
  %0 = ff.gather_elements(%x, %i) {axis = 1 : i64}
      : (tensor<4x6xf32>, tensor<4x2xi64>) -> tensor<4x2xf64>
  return
}

// -----

func.func @gather_elements_backward_2(%i: tensor<4x2xi64>, %dy: tensor<4x3xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 2], found [4, 3]}}
  %0 = ff.gather_elements_backward(%i, %dy) {axis = 1 : i64}
      : (tensor<4x2xi64>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return
}
