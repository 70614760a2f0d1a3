// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @recurrent_0(%x: tensor<?x5x16xf32>, %r: tensor<16x4xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x5x16xf32>'}}
  %0:4 = ff.recurrent lstm(%x, %r) {reverse = 0 : i64} : (tensor<?x5x16xf32>, tensor<16x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<3x5x20xf32>)
  return
}

// -----

func.func @recurrent_1_x(%x: tensor<3x5x12xf32>, %r: tensor<16x4xf32>) {
  // expected-error @+1 {{expected x of shape [3, 5, 16], found [3, 5, 12]}}
  %0:4 = ff.recurrent lstm(%x, %r) {reverse = 0 : i64} : (tensor<3x5x12xf32>, tensor<16x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<3x5x20xf32>)
  return
}

// -----

func.func @recurrent_1_r(%x: tensor<3x5x16xf32>, %r: tensor<12x4xf32>) {
  // expected-error @+1 {{expected r of 4 * H rows and H columns, found 'tensor<12x4xf32>'}}
  %0:4 = ff.recurrent lstm(%x, %r) {reverse = 0 : i64} : (tensor<3x5x16xf32>, tensor<12x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<3x5x20xf32>)
  return
}

// -----

func.func @recurrent_2_kind(%x: tensor<3x5x4xf32>, %r: tensor<4x4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected bias to be absent for rnn_tanh}}
  %0:3 = ff.recurrent rnn_tanh(%x, %r bias %b) {reverse = 0 : i64}
      : (tensor<3x5x4xf32>, tensor<4x4xf32>, tensor<4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}

// -----

func.func @recurrent_2_shape(%x: tensor<3x5x12xf32>, %r: tensor<12x4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected bias of shape [12], found 'tensor<4xf32>'}}
  %0:3 = ff.recurrent gru_reset_after(%x, %r bias %b) {reverse = 0 : i64}
      : (tensor<3x5x12xf32>, tensor<12x4xf32>, tensor<4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x16xf32>)
  return
}

// -----

func.func @recurrent_3_absent(%x: tensor<3x5x16xf32>, %r: tensor<16x4xf32>) {
  // expected-error @+1 {{expected c for lstm, found none}}
  %0:3 = ff.recurrent lstm(%x, %r) {reverse = 0 : i64} : (tensor<3x5x16xf32>, tensor<16x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x20xf32>)
  return
}

// -----

func.func @recurrent_3_kind(%x: tensor<3x5x4xf32>, %r: tensor<4x4xf32>, %c: tensor<5x4xf32>) {
  // expected-error @+1 {{expected c0 to be absent for rnn_relu}}
  %0:3 = ff.recurrent rnn_relu(%x, %r cell %c) {reverse = 0 : i64}
      : (tensor<3x5x4xf32>, tensor<4x4xf32>, tensor<5x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}

// -----

func.func @recurrent_3_shape(%x: tensor<3x5x4xf32>, %r: tensor<4x4xf32>, %h: tensor<3x4xf32>) {
  // expected-error @+1 {{expected h0 of shape [5, 4], found [3, 4]}}
  %0:3 = ff.recurrent rnn_relu(%x, %r state %h) {reverse = 0 : i64}
      : (tensor<3x5x4xf32>, tensor<4x4xf32>, tensor<3x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}

// -----

func.func @recurrent_4_y(%x: tensor<3x5x4xf32>, %r: tensor<4x4xf32>) {
  // expected-error @+1 {{expected y of shape [3, 5, 4], found [3, 5, 8]}}
  %0:3 = ff.recurrent rnn_relu(%x, %r) {reverse = 0 : i64} : (tensor<3x5x4xf32>, tensor<4x4xf32>)
      -> (tensor<3x5x8xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}

// -----

func.func @recurrent_4_saved(%x: tensor<3x5x12xf32>, %r: tensor<12x4xf32>) {
  // expected-error @+1 {{expected saved of shape [3, 5, 12], found [3, 5, 16]}}
  %0:3 = ff.recurrent gru(%x, %r) {reverse = 0 : i64} : (tensor<3x5x12xf32>, tensor<12x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x16xf32>)
  return
}

// -----

func.func @recurrent_4_rank(%x: tensor<3x5x12xf32>, %r: tensor<12x4xf32>) {
  // expected-error @+1 {{expected saved of rank 3, found 'tensor<15x12xf32>'}}
  %0:3 = ff.recurrent gru(%x, %r) {reverse = 0 : i64} : (tensor<3x5x12xf32>, tensor<12x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<15x12xf32>)
  return
}

// -----

func.func @recurrent_backward_1(%r: tensor<4x4xf32>, %s: tensor<3x5x4xf32>, %dy: tensor<3x5x4xf32>) {
  // expected-error @+1 {{expected dx of shape [3, 5, 4], found [3, 5, 3]}}
  %0:3 = ff.recurrent_backward rnn_tanh(%r, %s dy %dy) {reverse = 0 : i64}
      : (tensor<4x4xf32>, tensor<3x5x4xf32>, tensor<3x5x4xf32>)
      -> (tensor<3x5x3xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}

// -----

func.func @recurrent_backward_5(%r: tensor<4x4xf32>, %s: tensor<3x5x4xf32>) {
  // expected-error @+1 {{expected one of dy, dh and dc at least, found none}}
  %0:3 = ff.recurrent_backward rnn_tanh(%r, %s) {reverse = 0 : i64}
      : (tensor<4x4xf32>, tensor<3x5x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}

// -----

func.func @recurrent_backward_5_kind(%r: tensor<4x4xf32>, %s: tensor<3x5x4xf32>, %dc: tensor<5x4xf32>) {
  // expected-error @+1 {{expected dc to be absent for rnn_tanh}}
  %0:3 = ff.recurrent_backward rnn_tanh(%r, %s dc %dc) {reverse = 0 : i64}
      : (tensor<4x4xf32>, tensor<3x5x4xf32>, tensor<5x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}

// -----

func.func @recurrent_backward_6(%r: tensor<12x4xf32>, %s: tensor<3x5x12xf32>, %dh: tensor<5x4xf32>) {
  // expected-error @+1 {{expected y for gru, found none}}
  %0:3 = ff.recurrent_backward gru(%r, %s dh %dh) {reverse = 0 : i64}
      : (tensor<12x4xf32>, tensor<3x5x12xf32>, tensor<5x4xf32>)
      -> (tensor<3x5x12xf32>, tensor<5x4xf32>, tensor<3x5x12xf32>)
  return
}

// -----

func.func @recurrent_backward_6_state(%r: tensor<4x4xf32>, %s: tensor<3x5x4xf32>, %h: tensor<5x4xf32>) {
  // expected-error @+1 {{expected h0 to be absent for rnn_relu}}
  %0:3 = ff.recurrent_backward rnn_relu(%r, %s dh %h state %h) {reverse = 0 : i64}
      : (tensor<4x4xf32>, tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>)
      -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}
