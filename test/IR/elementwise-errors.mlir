// RUN: ffc-opt %s --split-input-file --verify-diagnostics

// Constraint 0: static, not empty.
func.func @unary_dynamic(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x4xf32>'}}
  %0 = ff.unary relu(%x) : tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @binary_empty(%x: tensor<0x4xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<0x4xf32>'}}
  %0 = ff.binary add(%x, %x)
      : (tensor<0x4xf32>, tensor<0x4xf32>) -> tensor<0x4xf32>
  return
}

// -----

// The result is checked as well.
func.func @unary_dynamic_result(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{expected result 0 to have known extents over 0, found 'tensor<?x4xf32>'}}
  %0 = ff.unary relu(%x) : tensor<3x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @bitwise_1(%a: tensor<4x3xi32>, %b: tensor<2xi32>) {
  // expected-error @+1 {{expected operands that broadcast to one shape, found 'tensor<4x3xi32>' and 'tensor<2xi32>'}}
  %0 = ff.bitwise and(%a, %b) : (tensor<4x3xi32>, tensor<2xi32>) -> tensor<4x3xi32>
  return
}

// -----

func.func @bitwise_floats(%a: tensor<3xf32>) {
  // expected-error @+1 {{operand #0 must be 0D/1D/2D/3D/4D/5D/6D/7D/8D tensor of 8-bit signless integer or 32-bit signless integer or 64-bit signless integer values}}
  %0 = ff.bitwise and(%a, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @noise_1(%x: tensor<3xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = ff.noise normal(%x) {key = 5 : i64} : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unary_1_missing_alpha(%x: tensor<4xf32>) {
  // expected-error @+1 {{'leaky_relu': expected alpha, found none}}
  %0 = ff.unary leaky_relu(%x) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @unary_1_extra_alpha(%x: tensor<4xf32>) {
  // expected-error @+1 {{'relu': expected no alpha, found one}}
  %0 = ff.unary relu(%x) alpha 0.1 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @unary_1_missing_beta(%x: tensor<4xf32>) {
  // expected-error @+1 {{'clip': expected beta, found none}}
  %0 = ff.unary clip(%x) alpha 0.1 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @unary_1_extra_beta(%x: tensor<4xf32>) {
  // expected-error @+1 {{'elu': expected no beta, found one}}
  %0 = ff.unary elu(%x) alpha 0.1 beta 0.2 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @unary_2(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = ff.unary relu(%x) : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @unary_float(%x: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = ff.unary relu(%x) : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @unary_backward_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.unary_backward relu(%x, %x)
      : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @unary_backward_1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'leaky_relu': expected alpha, found none}}
  %0 = ff.unary_backward leaky_relu(%x, %x)
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unary_backward_2(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = ff.unary_backward relu(%x, %y)
      : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unary_backward_3(%x: tensor<4xf32>) {
  // expected-error @+1 {{'scale': expected a function with a backward kernel}}
  %0 = ff.unary_backward scale(%x, %x) alpha 2.0
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @binary_1_operands(%a: tensor<4x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error @+1 {{expected operands that broadcast to one shape, found 'tensor<4x3xf32>' and 'tensor<4x2xf32>'}}
  %0 = ff.binary mul(%a, %b)
      : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @binary_1_result(%a: tensor<4x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<4x3xf32>', found 'tensor<4x1xf32>'}}
  %0 = ff.binary add(%a, %b)
      : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @binary_2(%a: tensor<3xf32>, %b: tensor<3xf64>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = ff.binary add(%a, %b) : (tensor<3xf32>, tensor<3xf64>) -> tensor<3xf32>
  return
}

// -----

func.func @select_0(%c: tensor<3xf32>, %a: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 1 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.select(%c, %a, %c)
      : (tensor<3xf32>, tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @select_1_operands(%c: tensor<3xf32>, %a: tensor<2xf32>) {
  // expected-error @+1 {{expected operands that broadcast to one shape, found 'tensor<3xf32>', 'tensor<3xf32>' and 'tensor<2xf32>'}}
  %0 = ff.select(%c, %c, %a)
      : (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @select_1_result(%c: tensor<4x1xf32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<4x3xf32>', found 'tensor<3xf32>'}}
  %0 = ff.select(%c, %a, %a)
      : (tensor<4x1xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @select_2(%c: tensor<3xf32>, %a: tensor<3xf64>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = ff.select(%c, %a, %a)
      : (tensor<3xf32>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return
}

// -----

func.func @cast_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.cast(%x) : (tensor<?xf32>) -> tensor<?xi32>
  return
}

// -----

func.func @cast_1(%x: tensor<3xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = ff.cast(%x) : (tensor<3xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @cast_2(%x: tensor<3xf32>) {
  // expected-error @+1 {{expected different element types, found 'tensor<3xf32>' and 'tensor<3xf32>'}}
  %0 = ff.cast(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dropout_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.dropout(%x) {key = 1, ratio = 0.5} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @dropout_1(%x: tensor<3xf32>) {
  // expected-error @+1 {{expected a ratio between 0 and 1, found 1.000000e+00}}
  %0 = ff.dropout(%x) {key = 1, ratio = 1.0} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dropout_1_zero(%x: tensor<3xf32>) {
  // expected-error @+1 {{expected a ratio between 0 and 1, found 0.000000e+00}}
  %0 = ff.dropout(%x) {key = 1, ratio = 0.0} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dropout_2(%x: tensor<3xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = ff.dropout(%x) {key = 1, ratio = 0.5} : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dropout_2_type(%x: tensor<3xbf16>) {
  // expected-error @+1 {{expected result type 'tensor<3xf32>', found 'tensor<3xf64>'}}
  %0 = ff.dropout(%x) {key = 1, ratio = 0.5} : (tensor<3xbf16>) -> tensor<3xf64>
  return
}

// -----

func.func @softmax_0(%x: tensor<0x3xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<0x3xf32>'}}
  %0 = ff.softmax(%x) {axes = array<i64: 1>, log = 0 : i64}
      : (tensor<0x3xf32>) -> tensor<0x3xf32>
  return
}

// -----

func.func @softmax_1_out_of_range(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 2, found [2]}}
  %0 = ff.softmax(%x) {axes = array<i64: 2>, log = 0 : i64}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @softmax_1_twice(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 2, found [1, 1]}}
  %0 = ff.softmax(%x) {axes = array<i64: 1, 1>, log = 0 : i64}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @softmax_1_none(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 2, found []}}
  %0 = ff.softmax(%x) {axes = array<i64>, log = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @softmax_backward_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 2, found [-1]}}
  %0 = ff.softmax_backward(%x, %x) {axes = array<i64: -1>, log = 0 : i64}
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @softmax_2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = ff.softmax(%x) {axes = array<i64: 1>, log = 0 : i64}
      : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @softmax_backward_0(%x: tensor<?x3xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x3xf32>'}}
  %0 = ff.softmax_backward(%x, %x) {axes = array<i64: 1>, log = 0 : i64}
      : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @softmax_backward_2(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = ff.softmax_backward(%x, %y) {axes = array<i64: 1>, log = 0 : i64}
      : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}
