// RUN: ffc-opt %s --split-input-file --verify-diagnostics
//
// Those of ff.reduce_sum are in shape-errors.mlir.

func.func @reduce_max_0(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x6xf32>'}}
  %0 = ff.reduce_max(%x) {axes = array<i64: 0>, keepdims = 0}
      : (tensor<?x6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @reduce_max_1(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 2, found []}}
  %0 = ff.reduce_max(%x) {axes = array<i64>, keepdims = 0}
      : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @reduce_max_2(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected result type 'tensor<4x1xf32>', found 'tensor<4xf32>'}}
  %0 = ff.reduce_max(%x) {axes = array<i64: 1>, keepdims = 1}
      : (tensor<4x6xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_prod_1(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 2, found [2]}}
  %0 = ff.reduce_prod(%x) {axes = array<i64: 2>, keepdims = 0}
      : (tensor<4x6xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_prod_2(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected result type 'tensor<6xf32>', found 'tensor<4xf32>'}}
  %0 = ff.reduce_prod(%x) {axes = array<i64: 0>, keepdims = 0}
      : (tensor<4x6xf32>) -> tensor<4xf32>
  return
}
