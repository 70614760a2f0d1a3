// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @matmul_0_empty(%a: tensor<2x?xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x?xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_1_contracted(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected op(a) with as many columns as op(b) has rows, found 3 and 4}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @matmul_1_result(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+1 {{expected y of shape [3, 4], found [2, 4]}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_2_broadcast(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>,
                              %c: tensor<2xf32>) {
  // expected-error @+1 {{expected c that broadcasts to [2, 4], found 'tensor<2xf32>'}}
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_2_rank(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>,
                         %c: tensor<1x2x4xf32>) {
  // expected-error @+1 {{expected c that broadcasts to [2, 4], found 'tensor<1x2x4xf32>'}}
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<1x2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_3_names(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected 3 different dimension names, found ["n", "c", "n"]}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["n", "c", "n"], trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_3_count(%a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected 4 different dimension names, found ["r", "c", "k"]}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["r", "c", "k"], trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @matmul_4_operands(%a: tensor<5x2x3xf32>, %b: tensor<6x3x4xf32>) {
  // expected-error @+1 {{expected batch dimensions that broadcast, found 'tensor<5x2x3xf32>' and 'tensor<6x3x4xf32>'}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x2x3xf32>, tensor<6x3x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

// The operands have the whole batch; a result cannot be repeated.
func.func @matmul_4_result(%a: tensor<1x5x2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected y with batch dimensions of [1, 5], or 1, found 'tensor<6x5x2x4xf32>'}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<1x5x2x3xf32>, tensor<3x4xf32>) -> tensor<6x5x2x4xf32>
  return
}

// -----

func.func @matmul_5(%a: tensor<1x1x1x1x1x1x2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected at most 5 batch dimensions, found 6}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<1x1x1x1x1x1x2x3xf32>, tensor<3x4xf32>)
      -> tensor<1x1x1x1x1x1x2x4xf32>
  return
}

// -----

func.func @matmul_6_factors(%a: tensor<2x3xbf16>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected operands of one element type, found 'bf16' and 'f32'}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xbf16>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_6_sum(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>,
                        %c: tensor<4xf64>) {
  // expected-error @+1 {{expected 'f32' beside operands of 'bf16', found 'f64'}}
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xbf16>, tensor<3x4xbf16>, tensor<4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_clamp(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected one or two bounds in 'clamp', found 0}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      clamp = array<f64>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_addend(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{expected an addend of type 'tensor<2x4xf32>', found 'tensor<4xf32>'}}
  %y = ff.matmul(%a, %b addend %r) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @sums_1_contracted(%a: tensor<6x5xf32>, %b: tensor<6x7xf32>) {
  // expected-error @+1 {{expected op(a) with as many columns as op(b) has rows, found 5 and 6}}
  %y, %s = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 1 : i64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<6x7xf32>) -> (tensor<6x7xf32>, tensor<7xf32>)
  return
}

// -----

func.func @sums_1_rank(%a: tensor<3x6x5xf32>, %b: tensor<3x6x7xf32>) {
  // expected-error @+1 {{expected y of rank 2, found rank 3}}
  %y, %s = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 1 : i64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<3x6x5xf32>, tensor<3x6x7xf32>) -> (tensor<3x5x7xf32>, tensor<7xf32>)
  return
}

// -----

func.func @sums_2_number(%a: tensor<6x5xf32>, %b: tensor<6x7xf32>) {
  // expected-error @+1 {{expected sums_of 0 or 1, found 2}}
  %y, %s = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 2 : i64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<6x7xf32>) -> (tensor<5x7xf32>, tensor<7xf32>)
  return
}

// -----

func.func @sums_2_a(%a: tensor<5x6xf32>, %b: tensor<6x7xf32>) {
  // expected-error @+1 {{expected a transposed where it is summed}}
  %y, %s = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 0 : i64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x6xf32>, tensor<6x7xf32>) -> (tensor<5x7xf32>, tensor<5xf32>)
  return
}

// -----

func.func @sums_2_b(%a: tensor<6x5xf32>, %b: tensor<7x6xf32>) {
  // expected-error @+1 {{expected b not transposed where it is summed}}
  %y, %s = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 1 : i64,
      trans_a = 1 : i64, trans_b = 1 : i64}
      : (tensor<6x5xf32>, tensor<7x6xf32>) -> (tensor<5x7xf32>, tensor<7xf32>)
  return
}

// -----

func.func @sums_2_batch(%a: tensor<3x6x5xf32>, %b: tensor<6x7xf32>) {
  // expected-error @+1 {{expected batch dimensions [3] where it is summed, found []}}
  %y, %s = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 1 : i64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<3x6x5xf32>, tensor<6x7xf32>) -> (tensor<5x7xf32>, tensor<7xf32>)
  return
}

// -----

func.func @sums_3_shape(%a: tensor<6x5xf32>, %b: tensor<6x7xf32>) {
  // expected-error @+1 {{expected sums of shape [7], found [5]}}
  %y, %s = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 1 : i64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<6x7xf32>) -> (tensor<5x7xf32>, tensor<5xf32>)
  return
}

// -----

func.func @sums_4_types(%a: tensor<6x5xbf16>, %b: tensor<6x7xf32>) {
  // expected-error @+1 {{expected operands of one element type, found 'bf16' and 'f32'}}
  %y, %s = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 1 : i64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<6x5xbf16>, tensor<6x7xf32>) -> (tensor<5x7xf32>, tensor<7xf32>)
  return
}

// -----

func.func @gelu_1_contracted(%a: tensor<6x5xf32>, %b: tensor<6x7xf32>) {
  // expected-error @+1 {{expected op(a) with as many columns as op(b) has rows, found 5 and 6}}
  %z, %y = ff.matmul_gelu(%a, %b) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<6x7xf32>) -> (tensor<6x7xf32>, tensor<6x7xf32>)
  return
}

// -----

func.func @gelu_1_batch(%a: tensor<3x6x5xf32>, %b: tensor<3x5x7xf32>) {
  // expected-error @+1 {{expected a result with batch dimensions [3], found 'tensor<6x7xf32>'}}
  %z, %y = ff.matmul_gelu(%a, %b) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x6x5xf32>, tensor<3x5x7xf32>) -> (tensor<6x7xf32>, tensor<6x7xf32>)
  return
}

// -----

func.func @gelu_2_row(%a: tensor<6x5xf32>, %b: tensor<5x7xf32>, %c: tensor<6x1xf32>) {
  // expected-error @+1 {{expected a row of 7 as c, found 'tensor<6x1xf32>'}}
  %z, %y = ff.matmul_gelu(%a, %b, %c) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<5x7xf32>, tensor<6x1xf32>) -> (tensor<6x7xf32>, tensor<6x7xf32>)
  return
}

// -----

func.func @gelu_3_shape(%a: tensor<6x5xf32>, %b: tensor<5x7xf32>) {
  // expected-error @+1 {{expected y of shape [6, 7], found [7, 6]}}
  %z, %y = ff.matmul_gelu(%a, %b) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<5x7xf32>) -> (tensor<6x7xf32>, tensor<7x6xf32>)
  return
}

// -----

func.func @gelu_4_types(%a: tensor<6x5xbf16>, %b: tensor<5x7xbf16>, %c: tensor<7xf64>) {
  // expected-error @+1 {{expected operands and results of 'bf16', as a is, found 'f64'}}
  %z, %y = ff.matmul_gelu(%a, %b, %c) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<6x5xbf16>, tensor<5x7xbf16>, tensor<7xf64>) -> (tensor<6x7xbf16>, tensor<6x7xbf16>)
  return
}

// -----

func.func @gelu_backward_1_names(%a: tensor<6x5xf32>, %b: tensor<5x7xf32>, %z: tensor<6x7xf32>) {
  // expected-error @+1 {{expected 3 different dimension names, found ["n", "c"]}}
  %dz = ff.matmul_gelu_backward(%a, %b, %z) {dim_names = ["n", "c"], trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<5x7xf32>, tensor<6x7xf32>) -> tensor<6x7xf32>
  return
}

// -----

func.func @gelu_backward_2_shape(%a: tensor<6x5xf32>, %b: tensor<5x7xf32>, %z: tensor<7x6xf32>) {
  // expected-error @+1 {{expected z of shape [6, 7], found [7, 6]}}
  %dz = ff.matmul_gelu_backward(%a, %b, %z) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<6x7xf32>
  return
}

// -----

func.func @gelu_backward_3_types(%a: tensor<6x5xf32>, %b: tensor<5x7xbf16>, %z: tensor<6x7xf32>) {
  // expected-error @+1 {{expected operands and results of 'f32', as a is, found 'bf16'}}
  %dz = ff.matmul_gelu_backward(%a, %b, %z) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<5x7xbf16>, tensor<6x7xf32>) -> tensor<6x7xf32>
  return
}

// -----

func.func @matmul_6_narrow(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>, %c: tensor<4xf32>) {
  // expected-error @+1 {{expected 'f32' beside operands of 'bf16', found 'bf16'}}
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xbf16>, tensor<3x4xbf16>, tensor<4xf32>) -> tensor<2x4xbf16>
  return
}

// -----

func.func @matmul_6_other(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>) {
  // expected-error @+1 {{expected 'f32' beside operands of 'bf16', found 'f16'}}
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf16>
  return
}

// -----

// A matrix that is added is wide.
func.func @matmul_6_matrix(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>, %c: tensor<2x4xbf16>) {
  // expected-error @+1 {{expected 'f32' beside operands of 'bf16', found 'bf16'}}
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3xbf16>, tensor<3x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xf32>
  return
}
