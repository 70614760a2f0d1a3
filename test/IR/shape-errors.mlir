// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @reshape_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.reshape(%x) : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reshape_1(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected a result of 24 elements, found 'tensor<5x5xf32>' of 25}}
  %0 = ff.reshape(%x) : (tensor<4x6xf32>) -> tensor<5x5xf32>
  return
}

// -----

func.func @element_type(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = ff.reshape(%x) : (tensor<4x6xf32>) -> tensor<24xi32>
  return
}

// -----

func.func @transpose_0(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x2xf32>'}}
  %0 = ff.transpose(%x) {perm = array<i64: 1, 0>}
      : (tensor<?x2xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @transpose_1(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected a permutation of 2 dimensions, found [1, 1]}}
  %0 = ff.transpose(%x) {perm = array<i64: 1, 1>}
      : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @transpose_1_length(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected a permutation of 2 dimensions, found [1, 0, 2]}}
  %0 = ff.transpose(%x) {perm = array<i64: 1, 0, 2>}
      : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @transpose_2(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected result type 'tensor<6x4xf32>', found 'tensor<4x6xf32>'}}
  %0 = ff.transpose(%x) {perm = array<i64: 1, 0>}
      : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @concat_0(%x: tensor<0x6xf32>, %y: tensor<4x6xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<0x6xf32>'}}
  %0 = ff.concat(%x, %y) {axis = 0}
      : (tensor<0x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @concat_1_none() {
  // expected-error @+1 {{expected 1 or more operands, but found 0}}
  %0 = ff.concat() {axis = 0} : () -> tensor<4x6xf32>
  return
}

// -----

func.func @concat_1_axis(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected axis within a tensor of rank 2, found 2}}
  %0 = ff.concat(%x, %x) {axis = 2}
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  return
}

// -----

func.func @concat_2(%x: tensor<4x6xf32>, %y: tensor<5x6xf32>) {
  // expected-error @+1 {{expected operand 1 to be like 'tensor<4x6xf32>' outside dimension 1, found 'tensor<5x6xf32>'}}
  %0 = ff.concat(%x, %y) {axis = 1}
      : (tensor<4x6xf32>, tensor<5x6xf32>) -> tensor<4x12xf32>
  return
}

// -----

func.func @concat_2_rank(%x: tensor<4x6xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{expected operand 1 to be like 'tensor<4x6xf32>' outside dimension 1, found 'tensor<4xf32>'}}
  %0 = ff.concat(%x, %y) {axis = 1}
      : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @concat_3(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected result type 'tensor<4x12xf32>', found 'tensor<4x13xf32>'}}
  %0 = ff.concat(%x, %x) {axis = 1}
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x13xf32>
  return
}

// -----

func.func @slice_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.slice(%x) {starts = array<i64: 0>} : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_1_rank(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected a result of rank 2, found 'tensor<4xf32>'}}
  %0 = ff.slice(%x) {starts = array<i64: 0, 0>}
      : (tensor<4x6xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_1_starts(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected 2 starts, found 1}}
  %0 = ff.slice(%x) {starts = array<i64: 0>}
      : (tensor<4x6xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @slice_2_end(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected dimension 1 to be taken from within [0:6], found [2:7]}}
  %0 = ff.slice(%x) {starts = array<i64: 0, 2>}
      : (tensor<4x6xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @slice_2_begin(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected dimension 0 to be taken from within [0:4], found [-1:3]}}
  %0 = ff.slice(%x) {starts = array<i64: -1, 0>}
      : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @pad_0(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected result 0 to have known extents over 0, found 'tensor<0xf32>'}}
  %0 = ff.pad(%x) {pads = array<i64: -2, -2>, value = 0.0}
      : (tensor<4xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @pad_1_rank(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected a result of rank 2, found 'tensor<4xf32>'}}
  %0 = ff.pad(%x) {pads = array<i64: 0, 0, 0, 0>, value = 0.0}
      : (tensor<4x6xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_1_pads(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected 4 pads, found 2}}
  %0 = ff.pad(%x) {pads = array<i64: 0, 0>, value = 0.0}
      : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @pad_2(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected extent 8 in dimension 1 of the result, found 7}}
  %0 = ff.pad(%x) {pads = array<i64: 0, 1, 0, 1>, value = 0.0}
      : (tensor<4x6xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @reduce_sum_0(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x6xf32>'}}
  %0 = ff.reduce_sum(%x) {axes = array<i64: 0>, keepdims = 0}
      : (tensor<?x6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @reduce_sum_1(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 2, found [1, 0]}}
  %0 = ff.reduce_sum(%x) {axes = array<i64: 1, 0>, keepdims = 0}
      : (tensor<4x6xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce_sum_2(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected result type 'tensor<4x1xf32>', found 'tensor<4xf32>'}}
  %0 = ff.reduce_sum(%x) {axes = array<i64: 1>, keepdims = 1}
      : (tensor<4x6xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @expand_0(%x: tensor<1x6xf32>) {
  // expected-error @+1 {{expected result 0 to have known extents over 0, found 'tensor<?x6xf32>'}}
  %0 = ff.expand(%x) : (tensor<1x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @expand_1(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expected an operand that broadcasts to 'tensor<1x6xf32>', found 'tensor<4x6xf32>'}}
  %0 = ff.expand(%x) : (tensor<4x6xf32>) -> tensor<1x6xf32>
  return
}

// -----

func.func @expand_1_mismatch(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected an operand that broadcasts to 'tensor<2x6xf32>', found 'tensor<4xf32>'}}
  %0 = ff.expand(%x) : (tensor<4xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @reduce_sum_2_narrow(%x: tensor<4x6xbf16>) {
  // expected-error @+1 {{expected result type 'tensor<6xf32>', found 'tensor<6xf64>'}}
  %y = ff.reduce_sum(%x) {axes = array<i64: 0>, keepdims = 0} : (tensor<4x6xbf16>) -> tensor<6xf64>
  return
}
