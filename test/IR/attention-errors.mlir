// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @keys(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x5xf32>, %v: tensor<2x6x3x8xf32>) {
  // expected-error @below {{expected k of shape [2, 6, 3, 4], found [2, 6, 3, 5]}}
  %0, %1 = ff.attention(%q, %k, %v) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x5xf32>, tensor<2x6x3x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @values(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x2x8xf32>) {
  // expected-error @below {{expected v of shape [2, 6, 3, 8], found [2, 6, 2, 8]}}
  %0, %1 = ff.attention(%q, %k, %v) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @mask(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x8xf32>, %m: tensor<6x5xf32>) {
  // expected-error @below {{expected mask that broadcasts to [2, 3, 5, 6], found 'tensor<6x5xf32>'}}
  %0, %1 = ff.attention(%q, %k, %v mask %m) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>, tensor<6x5xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @hidden(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x8xf32>) {
  // expected-error @below {{expected no number in hidden, found 1}}
  %0, %1 = ff.attention(%q, %k, %v) {hidden = array<f64: 1.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @hidden_twice(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x8xf32>, %m: tensor<6xf32>) {
  // expected-error @below {{expected one number at most in hidden, found 2}}
  %0, %1 = ff.attention(%q, %k, %v mask %m) {hidden = array<f64: 1.0, 2.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>, tensor<6xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @result(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x8xf32>) {
  // expected-error @below {{expected y of shape [2, 5, 3, 8], found [2, 5, 3, 4]}}
  %0, %1 = ff.attention(%q, %k, %v) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @sums(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x8xf32>) {
  // expected-error @below {{expected lse of shape [2, 3, 5], found [2, 5, 3]}}
  %0, %1 = ff.attention(%q, %k, %v) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x5x3xf32>)
  return
}

// -----

func.func @gradient(%q: tensor<2x5x3x4xf32>, %y: tensor<2x5x3x4xf32>, %l: tensor<2x3x5xf32>, %dy: tensor<2x5x3x2xf32>) {
  // expected-error @below {{expected dy of shape [2, 5, 3, 4], found [2, 5, 3, 2]}}
  %0, %1, %2 = ff.attention_backward(%q, %q, %q, %y, %l, %dy) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>, tensor<2x5x3x2xf32>)
     -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
  return
}

// -----

func.func @ratio(%q: tensor<2x5x3x4xf32>) {
  // expected-error @below {{expected a ratio from 0 to below 1, found 1.000000e+00 : f64}}
  %0, %1 = ff.attention(%q, %q, %q) {hidden = array<f64>, ratio = 1.0 : f64, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @operands(%q: tensor<2x5x3x4xbf16>, %v: tensor<2x5x3x4xf32>) {
  // expected-error @below {{expected operands of one element type, found 'bf16' and 'f32'}}
  %0, %1 = ff.attention(%q, %q, %v) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @sums_type(%q: tensor<2x5x3x4xbf16>) {
  // expected-error @below {{expected 'f32' beside operands of 'bf16', found 'f64'}}
  %0, %1 = ff.attention(%q, %q, %q) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>) -> (tensor<2x5x3x4xf64>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @gradient_factors(%q: tensor<2x5x3x4xbf16>, %y: tensor<2x5x3x4xf32>, %l: tensor<2x3x5xf32>) {
  // expected-error @below {{expected operands of one element type, found 'bf16' and 'f32'}}
  %0, %1, %2 = ff.attention_backward(%q, %q, %q, %y, %l, %y) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>, tensor<2x5x3x4xf32>)
     -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
  return
}

// -----

// Gradients are as wide as the result, or as narrow as operands.
func.func @wide_gradient(%q: tensor<2x5x3x4xbf16>, %y: tensor<2x5x3x4xf32>, %l: tensor<2x3x5xf32>) {
  // expected-error @below {{expected result type 'tensor<2x5x3x4xf32>', found 'tensor<2x5x3x4xf64>'}}
  %0, %1, %2 = ff.attention_backward(%q, %q, %q, %y, %l, %q) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>, tensor<2x5x3x4xbf16>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>, tensor<2x5x3x4xbf16>)
     -> (tensor<2x5x3x4xf16>, tensor<2x5x3x4xf64>, tensor<2x5x3x4xf32>)
  return
}

// -----

func.func @causal_of_what(%q: tensor<2x5x3x4xf32>, %m: tensor<5x5xf32>) {
  // expected-error @below {{expected causal to be 0, or 1 with a mask, hidden and as many rows as positions, found 1 with 0 hidden, 5 rows and 5 positions}}
  %0, %1 = ff.attention(%q, %q, %q mask %m) {hidden = array<f64>, scale = 0.5 : f64, causal = 1 : i64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @causal_rectangle(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %m: tensor<5x6xf32>) {
  // expected-error @below {{found 1 with 1 hidden, 5 rows and 6 positions}}
  %0, %1 = ff.attention(%q, %k, %k mask %m) {hidden = array<f64: -1.0>, scale = 0.5 : f64, causal = 1 : i64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>, tensor<5x6xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @causal_2(%q: tensor<2x5x3x4xf32>, %m: tensor<5x5xf32>) {
  // expected-error @below {{found 2 with 1 hidden}}
  %0, %1 = ff.attention(%q, %q, %q mask %m) {hidden = array<f64: -1.0>, scale = 0.5 : f64, causal = 2 : i64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  return
}
