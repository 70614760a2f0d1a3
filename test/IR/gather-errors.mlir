// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @gather_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.gather(%x) {axis = 0, indices = array<i64: 0>}
      : (tensor<?xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @gather_1_axis(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected axis within a tensor of rank 2, found 2}}
  %0 = ff.gather(%x) {axis = 2, indices = array<i64: 0>}
      : (tensor<4x6xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @gather_1_none(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected at least one index}}
  %0 = ff.gather(%x) {axis = 1, indices = array<i64>}
      : (tensor<4x6xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @gather_1_index(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected indices from 0 to 5, found -1}}
  %0 = ff.gather(%x) {axis = 1, indices = array<i64: 5, -1>}
      : (tensor<4x6xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @gather_2(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected y of shape [4, 2], found [4, 3]}}
  %0 = ff.gather(%x) {axis = 1, indices = array<i64: 5, 1>}
      : (tensor<4x6xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_backward_1(%dy: tensor<4x2xf32>) {
  // expected-error @+1 {{expected indices from 0 to 5, found 6}}
  %0 = ff.gather_backward(%dy) {axis = 1, indices = array<i64: 5, 6>}
      : (tensor<4x2xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @gather_backward_2(%dy: tensor<4x2xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 3], found [4, 2]}}
  %0 = ff.gather_backward(%dy) {axis = 1, indices = array<i64: 5, 1, 0>}
      : (tensor<4x2xf32>) -> tensor<4x6xf32>
  return
}
