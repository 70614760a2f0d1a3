// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @state_1_unique() {
  // expected-note @+1 {{the first one}}
  %0 = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  // expected-error @+1 {{expected a unique name, found state 'w' again}}
  %1 = ff.state "w" "slot" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  return
}

// -----

func.func @state_2_kind() {
  // expected-error @+1 {{'w': expected kind parameter, slot, statistic, constant, copy or average, found 'weight'}}
  %0 = ff.state "w" "weight" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  return
}

// -----

func.func @state_3_empty() {
  // expected-error @+1 {{expected result 0 to have known extents over 0}}
  %0 = ff.state "w" "slot" init <constant, 0.0 : f64, 0> : tensor<4x0xf32>
  return
}

// -----

func.func @state_4_vector() {
  // expected-error @+1 {{'m': expected init upper of a matrix or several, found 'tensor<4xf32>'}}
  %0 = ff.state "m" "constant" init <upper, 1.0 : f64, 0> : tensor<4xf32>
  return
}

// -----

func.func @state_5_of() {
  // expected-error @+1 {{'c': expected 'of' of copies, of a type of 16 bits, and of averages, of a wider one, and of nothing else}}
  %0 = ff.state "c" "copy" init <constant, 0.0 : f64, 0> : tensor<4xbf16>
  return
}

// -----

func.func @state_5_wide() {
  %0 = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  // expected-error @+1 {{'c': expected 'of' of copies, of a type of 16 bits, and of averages, of a wider one, and of nothing else}}
  %1 = ff.state "c" "copy" of "w" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  return
}

// -----

func.func @state_5_average() {
  // expected-error @+1 {{'w/ema': expected 'of' of copies, of a type of 16 bits, and of averages, of a wider one, and of nothing else}}
  %0 = ff.state "w/ema" "average" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  return
}

// -----

func.func @state_5_parameter() {
  %0 = ff.state "w" "slot" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  // expected-error @+1 {{'c': expected 'w' to be a parameter of type 'tensor<4xf32>' and the same init}}
  %1 = ff.state "c" "copy" of "w" init <constant, 0.0 : f64, 0> : tensor<4xbf16>
  return
}

// -----

func.func @state_5_init() {
  %0 = ff.state "w" "parameter" init <constant, 1.0 : f64, 0> : tensor<4xf32>
  // expected-error @+1 {{'c': expected 'w' to be a parameter of type 'tensor<4xf32>' and the same init}}
  %1 = ff.state "c" "copy" of "w" init <constant, 0.0 : f64, 0> : tensor<4xbf16>
  return
}

// -----

func.func @store_1_unknown() {
  %0 = ff.state "w" "slot" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  // expected-error @+1 {{expected the name of a state, found 'v'}}
  ff.store %0 to "v" : tensor<4xf32>
  return
}

// -----

func.func @store_1_type(%x: tensor<5xf32>) {
  // expected-note @+1 {{the state}}
  %0 = ff.state "w" "slot" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  // expected-error @+1 {{'w': expected a value of type 'tensor<4xf32>', found 'tensor<5xf32>'}}
  ff.store %x to "w" : tensor<5xf32>
  return
}

// -----

func.func @store_1_constant() {
  // expected-note @+1 {{the state}}
  %0 = ff.state "w" "constant" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  // expected-error @+1 {{'w': expected a state that may change, found a constant}}
  ff.store %0 to "w" : tensor<4xf32>
  return
}

// -----

func.func @store_2_twice() {
  %0 = ff.state "w" "slot" init <constant, 0.0 : f64, 0> : tensor<4xf32>
  // expected-note @+1 {{the first one}}
  ff.store %0 to "w" : tensor<4xf32>
  // expected-error @+1 {{expected a unique name, found store to 'w' again}}
  ff.store %0 to "w" : tensor<4xf32>
  return
}

// -----

func.func @output_1_unique(%x: tensor<4xf32>) {
  // expected-note @+1 {{the first one}}
  ff.output %x as "out/y" : tensor<4xf32>
  // expected-error @+1 {{expected a unique name, found output 'out/y' again}}
  ff.output %x as "out/y" : tensor<4xf32>
  return
}
