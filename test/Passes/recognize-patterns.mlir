// RUN: ffc-opt %s --recognize-patterns --split-input-file --verify-diagnostics --mlir-print-debuginfo | FileCheck %s

// x * 0.5 * (1 + erf(x / sqrt(2))), as PyTorch writes it.
// CHECK-LABEL: @gelu_as_pytorch_writes_it
func.func @gelu_as_pytorch_writes_it(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = ff.unary gelu(%arg0) {ff.aliases = ["y", "act.mul", "act.add", "act.erf", "act.div"]} : tensor<4x8xf32> -> tensor<4x8xf32> loc(#[[NAME:.*]])
  // CHECK-NEXT: ff.output %[[Y]]
  %r = ff.state "r" "constant" init <constant, 1.41421354 : f64, 0> : tensor<f32>
  %o = ff.state "o" "constant" init <constant, 1.0 : f64, 0> : tensor<f32>
  %h = ff.state "h" "constant" init <constant, 0.5 : f64, 0> : tensor<f32>
  %0 = ff.binary div(%x, %r) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> loc("act.div")
  %1 = ff.unary erf(%0) : tensor<4x8xf32> -> tensor<4x8xf32> loc("act.erf")
  %2 = ff.binary add(%1, %o) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> loc("act.add")
  %3 = ff.binary mul(%x, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("act.mul")
  // expected-remark @unknown {{'act' is the end of gelu, one operator instead of 5}}
  %4 = ff.binary mul(%3, %h) {ff.aliases = ["y"]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> loc("act")
  ff.output %4 as "out/y" : tensor<4x8xf32>
  return
}
// CHECK: #[[NAME]] = loc("act")

// -----

// Factors and terms in other orders, with scale and shift.
// CHECK-LABEL: @gelu_commuted
func.func @gelu_commuted(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: ff.unary gelu(%arg0)
  // CHECK-NEXT: ff.output
  %0 = ff.unary scale(%x) alpha 0.707106769 : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = ff.unary erf(%0) : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = ff.unary shift(%1) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = ff.unary scale(%x) alpha 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-remark @below {{gelu}}
  %4 = ff.binary mul(%2, %3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %4 as "out/y" : tensor<4x8xf32>
  return
}

// -----

// One after the other: the argument of the second holds the first.
// CHECK-LABEL: @gelu_of_gelu
func.func @gelu_of_gelu(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = ff.unary gelu(%arg0)
  // CHECK-NEXT: %[[B:.*]] = ff.unary gelu(%[[A]])
  // CHECK-NEXT: ff.output %[[B]]
  %0 = ff.unary scale(%x) alpha 0.707106769 : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = ff.unary erf(%0) : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = ff.unary shift(%1) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = ff.binary mul(%x, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{gelu}}
  %4 = ff.unary scale(%3) alpha 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = ff.unary scale(%4) alpha 0.707106769 : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = ff.unary erf(%5) : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = ff.unary shift(%6) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %8 = ff.binary mul(%4, %7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{gelu}}
  %9 = ff.unary scale(%8) alpha 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  ff.output %9 as "out/y" : tensor<4x8xf32>
  return
}

// -----

// The factor 0.5 is missing, the argument of erf is another value, erf is used
// elsewhere.
// CHECK-LABEL: @not_gelu
func.func @not_gelu(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
  // CHECK-NOT: gelu
  %0 = ff.unary scale(%x) alpha 0.707106769 : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = ff.unary erf(%0) : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = ff.unary shift(%1) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = ff.binary mul(%x, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %3 as "out/twice" : tensor<4x8xf32>
  %4 = ff.binary mul(%z, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = ff.unary scale(%4) alpha 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  ff.output %5 as "out/other" : tensor<4x8xf32>
  %6 = ff.unary scale(%z) alpha 0.707106769 : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = ff.unary erf(%6) : tensor<4x8xf32> -> tensor<4x8xf32>
  %8 = ff.unary shift(%7) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %9 = ff.binary mul(%z, %8) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = ff.unary scale(%9) alpha 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  ff.output %10 as "out/y" : tensor<4x8xf32>
  ff.output %7 as "out/erf" : tensor<4x8xf32>
  return
}

// -----

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as transformers have it.
// CHECK-LABEL: @gelu_by_tanh
func.func @gelu_by_tanh(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: ff.unary gelu_tanh(%arg0)
  // CHECK-NEXT: ff.output
  %0 = ff.unary scale(%x) alpha 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = ff.binary mul(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = ff.binary mul(%1, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = ff.unary scale(%2) alpha 4.471500e-02 : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = ff.binary add(%x, %3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = ff.unary scale(%4) alpha 0.797884583 : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = ff.unary tanh(%5) : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = ff.unary shift(%6) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-remark @below {{gelu_tanh, one operator instead of 9}}
  %8 = ff.binary mul(%0, %7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %8 as "out/y" : tensor<4x8xf32>
  return
}

// -----

// Factored: sqrt(2 / pi) x (1 + 0.044715 x x).
// CHECK-LABEL: @gelu_by_tanh_factored
func.func @gelu_by_tanh_factored(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: ff.unary gelu_tanh(%arg0)
  // CHECK-NEXT: ff.output
  %1 = ff.unary scale(%x) alpha 4.471500e-02 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = ff.binary mul(%1, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = ff.unary shift(%2) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = ff.unary scale(%x) alpha 0.797884583 : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = ff.binary mul(%4, %3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = ff.unary tanh(%5) : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = ff.unary shift(%6) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %8 = ff.binary mul(%x, %7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{gelu_tanh}}
  %9 = ff.unary scale(%8) alpha 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  ff.output %9 as "out/y" : tensor<4x8xf32>
  return
}

// -----

// A square instead of the cube, another number, a fourth power.
// CHECK-LABEL: @not_gelu_by_tanh
func.func @not_gelu_by_tanh(%x: tensor<4x8xf32>) {
  // CHECK-NOT: gelu
  %0 = ff.unary scale(%x) alpha 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = ff.binary mul(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = ff.unary scale(%1) alpha 3.567741e-02 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = ff.unary scale(%x) alpha 0.797884583 : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = ff.binary add(%3, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = ff.unary tanh(%4) : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = ff.unary shift(%5) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = ff.binary mul(%0, %6) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %7 as "out/square" : tensor<4x8xf32>
  %8 = ff.binary mul(%2, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = ff.unary scale(%x) alpha 0.79 : tensor<4x8xf32> -> tensor<4x8xf32>
  %10 = ff.binary add(%9, %8) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = ff.unary tanh(%10) : tensor<4x8xf32> -> tensor<4x8xf32>
  %12 = ff.unary shift(%11) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %13 = ff.binary mul(%0, %12) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %13 as "out/number" : tensor<4x8xf32>
  %14 = ff.binary mul(%1, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %15 = ff.unary tanh(%14) : tensor<4x8xf32> -> tensor<4x8xf32>
  %16 = ff.unary shift(%15) alpha 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %17 = ff.binary mul(%0, %16) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %17 as "out/fourth" : tensor<4x8xf32>
  return
}

// -----

// CHECK-LABEL: @silu
func.func @silu(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
  // CHECK-NEXT: ff.unary silu(%arg0)
  %0 = ff.unary sigmoid(%x) : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-remark @below {{silu}}
  %1 = ff.binary mul(%x, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %1 as "out/y" : tensor<4x8xf32>
  // A gate of something else; with a factor inside.
  // CHECK-NOT: silu
  %2 = ff.unary sigmoid(%z) : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = ff.binary mul(%x, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %3 as "out/gated" : tensor<4x8xf32>
  %4 = ff.unary scale(%x) alpha 1.702 : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = ff.unary sigmoid(%4) : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = ff.binary mul(%x, %5) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %6 as "out/quick" : tensor<4x8xf32>
  return
}

// -----

// CHECK-LABEL: @hard_swish
func.func @hard_swish(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: ff.unary hard_swish(%arg0)
  %0 = ff.unary hard_sigmoid(%x) alpha 0.1666667 beta 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-remark @below {{hard_swish}}
  %1 = ff.binary mul(%0, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %1 as "out/a" : tensor<4x8xf32>
  // CHECK: ff.unary hard_swish(%arg0)
  %three = ff.state "3" "constant" init <constant, 3.0 : f64, 0> : tensor<1xf32>
  %six = ff.state "6" "constant" init <constant, 6.0 : f64, 0> : tensor<1xf32>
  %2 = ff.binary add(%x, %three) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %3 = ff.unary clip(%2) alpha 0.0 beta 6.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = ff.binary mul(%x, %3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{hard_swish}}
  %5 = ff.binary div(%4, %six) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  ff.output %5 as "out/b" : tensor<4x8xf32>
  // ONNX's default slope is 0.2.
  // CHECK-NOT: hard_swish
  %6 = ff.unary hard_sigmoid(%x) alpha 0.2 beta 0.5 : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = ff.binary mul(%x, %6) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  ff.output %7 as "out/c" : tensor<4x8xf32>
  return
}

// -----

// As PyTorch writes LayerNorm before opset 17.
// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<2x3x8xf32>) {
  // CHECK: %[[W:.*]] = ff.state "w"
  // CHECK-NEXT: %[[B:.*]] = ff.state "b"
  // CHECK-NEXT: %[[Y:[a-z0-9]*]],{{.*}} = ff.normalize(%arg0 scale %[[W]] bias %[[B]]) {axes = array<i64: 2>, epsilon = 1.000000e-05 : f64, ff.aliases = ["norm.mul", "norm.div", "norm.mean"], param_dims = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>, tensor<2x3xf32>) loc(#[[NAME:.*]])
  // CHECK-NEXT: ff.output %[[Y]]
  %w = ff.state "w" "parameter" init <constant, 1.0 : f64, 0> : tensor<8xf32>
  %b = ff.state "b" "parameter" init <constant, 0.0 : f64, 0> : tensor<8xf32>
  %two = ff.state "two" "constant" init <constant, 2.0 : f64, 0> : tensor<f32>
  %eps = ff.state "eps" "constant" init <constant, 1.0e-5 : f64, 0> : tensor<f32>
  %0 = ff.reduce_sum(%x) {axes = array<i64: 2>, keepdims = 1 : i64} : (tensor<2x3x8xf32>) -> tensor<2x3x1xf32>
  %1 = ff.unary scale(%0) alpha 0.125 : tensor<2x3x1xf32> -> tensor<2x3x1xf32> loc("norm.mean")
  %2 = ff.binary sub(%x, %1) : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %3 = ff.binary pow(%2, %two) : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
  %4 = ff.reduce_sum(%3) {axes = array<i64: 2>, keepdims = 1 : i64} : (tensor<2x3x8xf32>) -> tensor<2x3x1xf32>
  %5 = ff.unary scale(%4) alpha 0.125 : tensor<2x3x1xf32> -> tensor<2x3x1xf32>
  %6 = ff.binary add(%5, %eps) : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
  %7 = ff.unary sqrt(%6) : tensor<2x3x1xf32> -> tensor<2x3x1xf32>
  // expected-remark @unknown {{'norm.div' is the end of layer normalisation, one operator instead of 9}}
  %8 = ff.binary div(%2, %7) : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32> loc("norm.div")
  // expected-remark @unknown {{layer normalisation with a scale}}
  %9 = ff.binary mul(%8, %w) : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32> loc("norm.mul")
  // expected-remark @unknown {{'norm' is the end of layer normalisation with a bias}}
  %10 = ff.binary add(%b, %9) : (tensor<8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("norm")
  ff.output %10 as "out/y" : tensor<2x3x8xf32>
  return
}
// CHECK: #[[NAME]] = loc("norm")

// -----

// The variance is that of another tensor; the divisor is not the extent; the
// dimensions are not the last.
// CHECK-LABEL: @not_layer_norm
func.func @not_layer_norm(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
  // CHECK-NOT: ff.normalize
  %0 = ff.reduce_sum(%x) {axes = array<i64: 1>, keepdims = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = ff.unary scale(%0) alpha 0.125 : tensor<4x1xf32> -> tensor<4x1xf32>
  %2 = ff.binary sub(%x, %1) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %3 = ff.binary mul(%z, %z) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = ff.reduce_sum(%3) {axes = array<i64: 1>, keepdims = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %5 = ff.unary scale(%4) alpha 0.125 : tensor<4x1xf32> -> tensor<4x1xf32>
  %6 = ff.unary shift(%5) alpha 1.0e-5 : tensor<4x1xf32> -> tensor<4x1xf32>
  %7 = ff.unary sqrt(%6) : tensor<4x1xf32> -> tensor<4x1xf32>
  %8 = ff.binary div(%2, %7) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  ff.output %8 as "out/other" : tensor<4x8xf32>

  %10 = ff.reduce_sum(%z) {axes = array<i64: 1>, keepdims = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %11 = ff.unary scale(%10) alpha 0.125 : tensor<4x1xf32> -> tensor<4x1xf32>
  %12 = ff.binary sub(%z, %11) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %13 = ff.binary mul(%12, %12) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %14 = ff.reduce_sum(%13) {axes = array<i64: 1>, keepdims = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  // Bessel's correction.
  %15 = ff.unary scale(%14) alpha 0.142857149 : tensor<4x1xf32> -> tensor<4x1xf32>
  %16 = ff.unary shift(%15) alpha 1.0e-5 : tensor<4x1xf32> -> tensor<4x1xf32>
  %17 = ff.unary sqrt(%16) : tensor<4x1xf32> -> tensor<4x1xf32>
  %18 = ff.binary div(%12, %17) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  ff.output %18 as "out/sample" : tensor<4x8xf32>

  %20 = ff.reduce_sum(%z) {axes = array<i64: 0>, keepdims = 1 : i64} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %21 = ff.unary scale(%20) alpha 0.25 : tensor<1x8xf32> -> tensor<1x8xf32>
  %22 = ff.binary sub(%z, %21) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %23 = ff.binary mul(%22, %22) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %24 = ff.reduce_sum(%23) {axes = array<i64: 0>, keepdims = 1 : i64} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %25 = ff.unary scale(%24) alpha 0.25 : tensor<1x8xf32> -> tensor<1x8xf32>
  %26 = ff.unary shift(%25) alpha 1.0e-5 : tensor<1x8xf32> -> tensor<1x8xf32>
  %27 = ff.unary sqrt(%26) : tensor<1x8xf32> -> tensor<1x8xf32>
  %28 = ff.binary div(%22, %27) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  ff.output %28 as "out/columns" : tensor<4x8xf32>
  return
}

// -----

// A factor of another shape, and one of a result that is also needed as it is.
// CHECK-LABEL: @not_a_scale
func.func @not_a_scale(%x: tensor<4x8xf32>, %w: tensor<4x1xf32>, %v: tensor<8xf32>) {
  // CHECK-NOT: scale
  %y, %mean, %var = ff.normalize(%x) {axes = array<i64: 1>, epsilon = 1.0e-5 : f64,
      param_dims = array<i64: 1>} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %0 = ff.binary mul(%y, %w) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  ff.output %0 as "out/rows" : tensor<4x8xf32>
  %z, %mean2, %var2 = ff.normalize(%x) {axes = array<i64: 1>, epsilon = 1.0e-5 : f64,
      param_dims = array<i64: 1>} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %1 = ff.binary mul(%z, %v) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  ff.output %1 as "out/y" : tensor<4x8xf32>
  ff.output %z as "out/plain" : tensor<4x8xf32>
  return
}

// -----

// As PyTorch writes Linear on sequences.
// CHECK-LABEL: @linear
func.func @linear(%x: tensor<2x3x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = ff.matmul(%arg0, %arg1, %arg2) {alpha = 1.000000e+00 : f64, beta = 1.000000e+00 : f64, trans_a = 0 : i64, trans_b = 1 : i64} : (tensor<2x3x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: ff.output %[[Y]]
  %0 = ff.transpose(%w) {perm = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = ff.matmul(%x, %0) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x8xf32>, tensor<8x4xf32>) -> tensor<2x3x4xf32>
  // expected-remark @+2 {{a product with a bias}}
  // expected-remark @+1 {{a product with a transposed operand}}
  %2 = ff.binary add(%b, %1) : (tensor<4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  ff.output %2 as "out/y" : tensor<2x3x4xf32>
  return
}

// -----

// Another permutation, a transposed weight that is needed elsewhere, an addend
// that is not a vector.
// CHECK-LABEL: @not_linear
func.func @not_linear(%q: tensor<2x3x4x5xf32>, %k: tensor<2x6x3x5xf32>, %w: tensor<4x5xf32>, %r: tensor<2x3x4x4xf32>) {
  // CHECK-COUNT-2: ff.transpose
  // CHECK-COUNT-2: ff.matmul({{[^,]*}}, {{[^,]*}}) {
  %0 = ff.transpose(%k) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x6x3x5xf32>) -> tensor<2x3x5x6xf32>
  %t = ff.transpose(%w) {perm = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = ff.matmul(%q, %0) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x4x5xf32>, tensor<2x3x5x6xf32>) -> tensor<2x3x4x6xf32>
  ff.output %1 as "out/s" : tensor<2x3x4x6xf32>
  %2 = ff.matmul(%q, %t) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x4x5xf32>, tensor<5x4xf32>) -> tensor<2x3x4x4xf32>
  %3 = ff.binary add(%2, %r) : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  ff.output %3 as "out/y" : tensor<2x3x4x4xf32>
  ff.output %t as "out/t" : tensor<5x4xf32>
  return
}
