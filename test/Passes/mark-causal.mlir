// RUN: ffc-opt %s --mark-causal --split-input-file | FileCheck %s

// Positions that are compared, and a number in place of scores.
// CHECK-LABEL: @compared
func.func @compared(%q: tensor<2x5x3x4xf32>) {
  // CHECK: ff.attention{{.*}} {causal = 1 : i64, hidden = array<f64: -1.000000e+04>
  %row = ff.state "row" "constant" init <positions, 0.0 : f64, 0> : tensor<5x1xf32>
  %column = ff.state "column" "constant" init <positions, 0.0 : f64, 0> : tensor<1x5xf32>
  %m = ff.binary less(%row, %column) : (tensor<5x1xf32>, tensor<1x5xf32>) -> tensor<5x5xf32>
  %y, %l = ff.attention(%q, %q, %q mask %m) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  ff.output %y as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// What is seen, the other way round; both readers are told.
// CHECK-LABEL: @seen
func.func @seen(%q: tensor<2x5x3x4xf32>) {
  // CHECK-COUNT-2: ff.attention{{.*}} {causal = 1 : i64
  %seen = ff.state "seen" "constant" init <lower, 1.0 : f64, 0> : tensor<1x1x5x5xf32>
  %zero = ff.state "zero" "constant" init <constant, 0.0 : f64, 0> : tensor<f32>
  %m = ff.binary equal(%seen, %zero) : (tensor<1x1x5x5xf32>, tensor<f32>) -> tensor<1x1x5x5xf32>
  %y, %l = ff.attention(%q, %q, %q mask %m) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<1x1x5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %z, %k = ff.attention(%y, %y, %y mask %m) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<1x1x5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  ff.output %z as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// What is added hides altogether.
// CHECK-LABEL: @added
func.func @added(%q: tensor<2x5x3x4xf32>) {
  // CHECK: ff.attention{{.*}} {causal = 1 : i64, hidden = array<f64: 0xFFF0000000000000>
  %m = ff.state "m" "constant" init <upper, -1.0e9 : f64, 0> : tensor<5x5xf32>
  %y, %l = ff.attention(%q, %q, %q mask %m) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  ff.output %y as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// Masks that hide less, more or weakly, inputs, files, parts of the square, and a
// number that may be seen.
// CHECK-LABEL: @others
// CHECK-NOT: causal
func.func @others(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %given: tensor<5x5xf32>) {
  %weak = ff.state "weak" "constant" init <upper, -100.0 : f64, 0> : tensor<5x5xf32>
  %own = ff.state "own" "constant" init <lower, -1.0e9 : f64, 0> : tensor<5x5xf32>
  %file = ff.state "file" "constant" init <file, 0.0 : f64, 0> : tensor<5x5xf32>
  %trained = ff.state "trained" "parameter" init <upper, -1.0e9 : f64, 0> : tensor<5x5xf32>
  %part = ff.state "part" "constant" init <upper, 1.0 : f64, 0> : tensor<5x6xf32>
  %later = ff.state "later" "constant" init <upper, 1.0 : f64, 0> : tensor<5x5xf32>
  %column = ff.state "column" "constant" init <upper, 1.0 : f64, 0> : tensor<1x5xf32>
  %y0, %l0 = ff.attention(%q, %q, %q mask %weak) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %y1, %l1 = ff.attention(%y0, %q, %q mask %own) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %y2, %l2 = ff.attention(%y1, %q, %q mask %file) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %y3, %l3 = ff.attention(%y2, %q, %q mask %trained) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %y4, %l4 = ff.attention(%y3, %k, %k mask %part) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>, tensor<5x6xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %y5, %l5 = ff.attention(%y4, %q, %q mask %later) {hidden = array<f64: -1.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %y6, %l6 = ff.attention(%y5, %q, %q mask %column) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<1x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %y7, %l7 = ff.attention(%y6, %q, %q mask %given) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %y8, %l8 = ff.attention(%y7, %q, %q) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  ff.output %y8 as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// Elements that are moved are followed.
// CHECK-LABEL: @moved
func.func @moved(%q: tensor<2x5x3x4xf32>) {
  // CHECK: ff.attention{{.*}} {causal = 1 : i64
  %earlier = ff.state "earlier" "constant" init <lower, 1.0 : f64, 0> : tensor<6x6xf32>
  %t = ff.transpose(%earlier) {perm = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %s = ff.slice(%t) {starts = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<5x5xf32>
  %m = ff.reshape(%s) : (tensor<5x5xf32>) -> tensor<1x1x5x5xf32>
  %y, %l = ff.attention(%q, %q, %q mask %m) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<1x1x5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  ff.output %y as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// What the compiler has no kernel for is not known.
// CHECK-LABEL: @unknown
// CHECK-NOT: causal
func.func @unknown(%q: tensor<2x5x3x4xf32>) {
  %later = ff.state "later" "constant" init <upper, 1.0 : f64, 0> : tensor<5x5xf32>
  %m = ff.cum_sum(%later) {axis = 1, exclusive = 0, reverse = 0} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %y, %l = ff.attention(%q, %q, %q mask %m) {hidden = array<f64: -10000.0>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  ff.output %y as "out/y" : tensor<2x5x3x4xf32>
  return
}
