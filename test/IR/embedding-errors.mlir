// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @embedding_0(%w: tensor<?x4xf32>, %ids: tensor<8xi64>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x4xf32>'}}
  %0 = ff.embedding(%w, %ids) : (tensor<?x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_1(%w: tensor<9x4xf32>, %ids: tensor<8xi64>) {
  // expected-error @+1 {{expected y of shape [8, 4], found [8, 9]}}
  %0 = ff.embedding(%w, %ids) : (tensor<9x4xf32>, tensor<8xi64>) -> tensor<8x9xf32>
  return
}

// -----

func.func @embedding_2(%w: tensor<9x4xf32>, %ids: tensor<8xi64>) {
  // expected-error @+1 {{expected y with elements of type 'f32', found 'tensor<8x4xf64>'}}
  %0 = ff.embedding(%w, %ids) : (tensor<9x4xf32>, tensor<8xi64>) -> tensor<8x4xf64>
  return
}

// -----

func.func @embedding_indices(%w: tensor<9x4xf32>, %ids: tensor<8xf32>) {
  // expected-error @+1 {{operand #1 must be 1D/2D/3D/4D/5D/6D tensor of 32-bit signless integer or 64-bit signless integer values}}
  %0 = ff.embedding(%w, %ids) : (tensor<9x4xf32>, tensor<8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_backward_1(%ids: tensor<8x3xi64>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{expected dy of shape [8, 3, 4], found [8, 4]}}
  %0 = ff.embedding_backward(%ids, %dy) : (tensor<8x3xi64>, tensor<8x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @embedding_backward_2(%ids: tensor<8xi64>, %dy: tensor<8x4xf64>) {
  // expected-error @+1 {{expected dy with elements of type 'f32', found 'tensor<8x4xf64>'}}
  %0 = ff.embedding_backward(%ids, %dy) : (tensor<8xi64>, tensor<8x4xf64>) -> tensor<9x4xf32>
  return
}

// -----

func.func @update_rows_1(%w: tensor<9x4xf32>, %ids: tensor<8xi64>, %dy: tensor<7x4xf32>) {
  // expected-error @+1 {{expected dy of shape [8, 4], found [7, 4]}}
  %0 = ff.update_rows sgd(%w, %ids, %dy) {hyper = array<f64: 0.0, 0.0>} : (tensor<9x4xf32>, tensor<8xi64>, tensor<7x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @update_rows_3_numbers(%w: tensor<9x4xf32>, %ids: tensor<8xi64>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{expected hyper of 2 numbers for sgd, found 1}}
  %0 = ff.update_rows sgd(%w, %ids, %dy) {hyper = array<f64: 0.0>} : (tensor<9x4xf32>, tensor<8xi64>, tensor<8x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @update_rows_3_momentum(%w: tensor<9x4xf32>, %ids: tensor<8xi64>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{expected an optimizer that leaves rows without gradient alone, found sgd:momentum=0.5,nesterov=0}}
  %0:2 = ff.update_rows sgd(%w, %ids, %dy slots %w) {hyper = array<f64: 0.5, 0.0>} : (tensor<9x4xf32>, tensor<8xi64>, tensor<8x4xf32>, tensor<9x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xf32>)
  return
}

// -----

func.func @update_rows_3_slots(%w: tensor<9x4xf32>, %ids: tensor<8xi64>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{expected 1 slots and as many results after w_out for adagrad, found 0 and 0}}
  %0 = ff.update_rows adagrad(%w, %ids, %dy) {hyper = array<f64: 1.0e-10>} : (tensor<9x4xf32>, tensor<8xi64>, tensor<8x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @update_rows_4(%w: tensor<9x4xf32>, %ids: tensor<8xi64>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{expected results of type 'tensor<9x4xf32>', found 'tensor<9x5xf32>'}}
  %0 = ff.update_rows sgd(%w, %ids, %dy) {hyper = array<f64: 0.0, 0.0>} : (tensor<9x4xf32>, tensor<8xi64>, tensor<8x4xf32>) -> tensor<9x5xf32>
  return
}

// -----

func.func @update_rows_4_slots(%w: tensor<9x4xf32>, %ids: tensor<8xi64>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{expected slots of type 'tensor<9x4xf32>', found 'tensor<8x4xf32>'}}
  %0:2 = ff.update_rows adagrad(%w, %ids, %dy slots %dy) {hyper = array<f64: 1.0e-10>} : (tensor<9x4xf32>, tensor<8xi64>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xf32>)
  return
}

// -----

func.func @update_rows_4_scale(%w: tensor<9x4xf32>, %ids: tensor<8xi64>, %dy: tensor<8x4xf32>) {
  // expected-error @+1 {{expected scale of type 'tensor<f32>' or 'tensor<2xf32>', found 'tensor<8x4xf32>'}}
  %0 = ff.update_rows sgd(%w, %ids, %dy scale %dy) {hyper = array<f64: 0.0, 0.0>} : (tensor<9x4xf32>, tensor<8xi64>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<9x4xf32>
  return
}
