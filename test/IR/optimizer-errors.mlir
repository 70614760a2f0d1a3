// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @update_0(%w: tensor<0xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<0xf32>'}}
  %0 = ff.update sgd(%w, %w) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @update_1_numbers(%w: tensor<4xf32>) {
  // expected-error @+1 {{expected hyper of 2 numbers for sgd, found 1}}
  %0 = ff.update sgd(%w, %w) {hyper = array<f64: 0.0>}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_1_slots(%w: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 slots and as many results after w_out for sgd, found 0 and 0}}
  %0 = ff.update sgd(%w, %w) {hyper = array<f64: 0.9, 0.0>}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_1_results(%w: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 slots and as many results after w_out for adam, found 2 and 1}}
  %0:2 = ff.update adam(%w, %w slots %w, %w) {hyper = array<f64: 0.9, 0.99, 1.0>}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @update_3_results(%w: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 or 2 results, found 3}}
  %0:3 = ff.update sgd(%w, %w) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @update_3_rounded(%w: tensor<4xf32>) {
  // expected-error @+1 {{expected the last result to be 'tensor<4xf32>' as bf16 or f16, found 'tensor<4xf32>'}}
  %0:2 = ff.update sgd(%w, %w) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @update_2_gradient(%w: tensor<4xf32>, %g: tensor<5xf32>) {
  // expected-error @+1 {{expected g of type 'tensor<4xf32>', found 'tensor<5xf32>'}}
  %0 = ff.update sgd(%w, %g) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_2_result(%w: tensor<4xf32>) {
  // expected-error @+1 {{expected w_out of type 'tensor<4xf32>', found 'tensor<5xf32>'}}
  %0 = ff.update sgd(%w, %w) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @update_2_slot(%w: tensor<4xf32>, %s: tensor<5xf32>) {
  // expected-error @+1 {{expected slots of type 'tensor<4xf32>', found 'tensor<5xf32>'}}
  %0:2 = ff.update adagrad(%w, %w slots %s) {hyper = array<f64: 1.0>}
      : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @update_2_slot_out(%w: tensor<4xf32>) {
  // expected-error @+1 {{expected slots_out of type 'tensor<4xf32>', found 'tensor<5xf32>'}}
  %0:2 = ff.update adagrad(%w, %w slots %w) {hyper = array<f64: 1.0>}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @update_2_scale(%w: tensor<4xf32>) {
  // expected-error @+1 {{expected scale of type 'tensor<f32>' or 'tensor<2xf32>', found 'tensor<4xf32>'}}
  %0 = ff.update sgd(%w, %w scale %w) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @square_sum_1(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected result type 'tensor<f32>', found 'tensor<1xf32>'}}
  %0 = ff.square_sum(%x) : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @clip_scale_1(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected operands of rank 0, found 'tensor<4xf32>'}}
  %0 = ff.clip_scale(%x) {max_norm = 1.0} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clip_scale_2(%x: tensor<f32>) {
  // expected-error @+1 {{expected a positive max_norm, found 0.000000e+00}}
  %0 = ff.clip_scale(%x) {max_norm = 0.0} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @loss_scale_1_sums(%s: tensor<f32>) {
  // expected-error @+1 {{expected sums, found none}}
  %0:4 = ff.loss_scale(%s, %s, %s)
      {interval = 1, least = 1.0, max_norm = 0.0, most = 1.0}
      : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @loss_scale_1_operand(%s: tensor<f32>, %x: tensor<1xf32>) {
  // expected-error @+1 {{expected operands of type 'tensor<f32>', found 'tensor<1xf32>'}}
  %0:4 = ff.loss_scale(%s, %s, %s, %x)
      {interval = 1, least = 1.0, max_norm = 0.0, most = 1.0}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<1xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @loss_scale_1_factor(%s: tensor<f32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<2xf32>', found 'tensor<f32>'}}
  %0:4 = ff.loss_scale(%s, %s, %s, %s)
      {interval = 1, least = 1.0, max_norm = 0.0, most = 1.0}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @loss_scale_1_result(%s: tensor<f32>) {
  // expected-error @+1 {{expected result 3 of type 'tensor<f32>', found 'tensor<2xf32>'}}
  %0:4 = ff.loss_scale(%s, %s, %s, %s)
      {interval = 1, least = 1.0, max_norm = 0.0, most = 1.0}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<2xf32>)
  return
}

// -----

func.func @loss_scale_2_interval(%s: tensor<f32>) {
  // expected-error @+1 {{expected an interval over 0, found 0}}
  %0:4 = ff.loss_scale(%s, %s, %s, %s)
      {interval = 0, least = 1.0, max_norm = 0.0, most = 1.0}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @loss_scale_2_bounds(%s: tensor<f32>) {
  // expected-error @+1 {{expected 0 < least <= most, found 2.000000e+00 and 1.000000e+00}}
  %0:4 = ff.loss_scale(%s, %s, %s, %s)
      {interval = 1, least = 2.0, max_norm = 0.0, most = 1.0}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @loss_scale_2_norm(%s: tensor<f32>) {
  // expected-error @+1 {{expected a max_norm of at least 0, found -1.000000e+00}}
  %0:4 = ff.loss_scale(%s, %s, %s, %s)
      {interval = 1, least = 1.0, max_norm = -1.0, most = 1.0}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @update_2_narrow_slots(%w: tensor<4xf32>, %m: tensor<4xbf16>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected slots of type 'tensor<4xbf16>', found 'tensor<4xf32>'}}
  %0:3 = ff.update adam(%w, %w slots %m, %v) {hyper = array<f64: 0.9, 0.99, 1.0>}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>)
  return
}
