// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @cross_entropy_0(%x: tensor<?x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?x10xf32>'}}
  %l = ff.cross_entropy(%x, %t) {axis = 1}
      : (tensor<?x10xf32>, tensor<8xi32>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_1(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{expected axis within logits of rank 2, found -1}}
  %l = ff.cross_entropy(%x, %t) {axis = -1}
      : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_2_type(%x: tensor<8x10xf32>, %t: tensor<8xi64>) {
  // expected-error @+1 {{expected a target of type 'tensor<8xi32>', found 'tensor<8xi64>'}}
  %l = ff.cross_entropy(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi64>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_2_shape(%x: tensor<8x10xf32>, %t: tensor<10xi32>) {
  // expected-error @+1 {{expected a target of type 'tensor<8xi32>', found 'tensor<10xi32>'}}
  %l = ff.cross_entropy(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<10xi32>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_3(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{expected result type 'tensor<f32>', found 'tensor<1xf32>'}}
  %l = ff.cross_entropy(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<1xf32>
  return
}

// -----

func.func @cross_entropy_4(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{expected a smoothing from 0 to 1, found 1.5}}
  %l = ff.cross_entropy(%x, %t) {axis = 1, smoothing = 1.5 : f64}
      : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_backward_2(%x: tensor<8x10xf32>, %t: tensor<8xf32>) {
  // expected-error @+1 {{expected a target of type 'tensor<8xi32>', found 'tensor<8xf32>'}}
  %l, %dx = ff.cross_entropy_backward(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<8x10xf32>)
  return
}

// -----

func.func @cross_entropy_backward_3(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{expected result type 'tensor<f32>', found 'tensor<8xf32>'}}
  %l, %dx = ff.cross_entropy_backward(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8x10xf32>)
  return
}

// -----

func.func @cross_entropy_backward_5(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{expected result type 'tensor<8x10xf32>', found 'tensor<f32>'}}
  %l, %dx = ff.cross_entropy_backward(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @cross_entropy_backward_6(%x: tensor<8x10xf32>, %t: tensor<8xi32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{expected a slope of type 'tensor<f32>', found 'tensor<1xf32>'}}
  %l, %dx = ff.cross_entropy_backward(%x, %t slope %s) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi32>, tensor<1xf32>) -> (tensor<f32>, tensor<8x10xf32>)
  return
}

// -----

func.func @mse_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %l = ff.mse(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<f32>
  return
}

// -----

func.func @mse_1(%x: tensor<8x3xf32>, %t: tensor<8xf32>) {
  // expected-error @+1 {{requires all operands to have the same type}}
  %l = ff.mse(%x, %t) : (tensor<8x3xf32>, tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @mse_2(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<f32>', found 'tensor<f64>'}}
  %l = ff.mse(%x, %x) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<f64>
  return
}

// -----

func.func @mse_backward(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %l = ff.mse_backward(%x, %x)
      : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @mse_backward_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %l = ff.mse_backward(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @bce_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %l = ff.bce(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<f32>
  return
}

// -----

func.func @bce_1(%x: tensor<8x3xf32>, %t: tensor<8x3xf64>) {
  // expected-error @+1 {{requires all operands to have the same type}}
  %l = ff.bce(%x, %t) : (tensor<8x3xf32>, tensor<8x3xf64>) -> tensor<f32>
  return
}

// -----

func.func @bce_2(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<f32>', found 'tensor<8xf32>'}}
  %l = ff.bce(%x, %x) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @bce_backward_0(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %l = ff.bce_backward(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @bce_backward(%x: tensor<8x3xf32>, %t: tensor<8xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %l = ff.bce_backward(%x, %t)
      : (tensor<8x3xf32>, tensor<8xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @cross_entropy_backward_0(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{expected result 1 to have known extents over 0, found 'tensor<?x10xf32>'}}
  %l, %dx = ff.cross_entropy_backward(%x, %t) {axis = 1}
      : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<?x10xf32>)
  return
}

// -----

func.func @cross_entropy_backward_1(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{expected axis within logits of rank 2, found 2}}
  %l, %dx = ff.cross_entropy_backward(%x, %t) {axis = 2}
      : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8x10xf32>)
  return
}
