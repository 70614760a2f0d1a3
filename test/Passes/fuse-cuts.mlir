// RUN: ffc-opt %s --split-input-file --fuse-cuts --mlir-use-nameloc-as-prefix | FileCheck %s

// The gradient of a rectifier goes into that of the normalisation before it.

// CHECK-LABEL: @main(
// CHECK-SAME: %arg4: tensor<8x4xf32>
// CHECK-NOT: unary_backward
// CHECK: ff.normalize_backward(%arg4, %arg0, %{{.*}}, %{{.*}}, %arg2 bias %arg3) {axes = array<i64: 0>, clamp = array<f64: 0.000000e+00>, {{.*}}ff.aliases = ["cut"]
func.func @main(%x: tensor<8x4xf32>, %unused: tensor<4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>, %dy: tensor<8x4xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0>, clamp = array<f64: 0.0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %g = ff.unary_backward relu(%dy, %y) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> loc("cut")
  %dx, %ds, %db = ff.normalize_backward(%g, %x, %m, %v, %s) {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("dx")
  ff.output %y as "out/y" : tensor<8x4xf32>
  ff.output %dx as "grad/x" : tensor<8x4xf32>
  return
}

// -----

// So does that of narrow numbers, which is rounded to no fewer digits.

// CHECK-LABEL: @main(
// CHECK: ff.normalize_backward(%arg2, %arg0, %{{.*}}, %{{.*}}) {axes = array<i64: 0>, clamp = array<f64: 0.000000e+00>, {{.*}}ff.aliases = ["rounded", "cut"]
func.func @main(%x: tensor<8x4xbf16>, %unused: tensor<4xf32>, %dy: tensor<8x4xbf16>) {
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, clamp = array<f64: 0.0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xbf16>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %n = ff.cast(%y) : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %g = ff.fused(%dy, %n) {
  ^bb0(%a: tensor<8x4xbf16>, %c: tensor<8x4xbf16>):
    %0 = ff.cast(%a) : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %1 = ff.cast(%c) : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %2 = ff.unary_backward relu(%0, %1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ff.yield %2 : tensor<8x4xf32>
  } : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<8x4xf32> loc("cut")
  %r = ff.cast(%g) : (tensor<8x4xf32>) -> tensor<8x4xbf16> loc("rounded")
  %dx, %ds, %db = ff.normalize_backward(%r, %x, %m, %v) {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xbf16>, tensor<8x4xbf16>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xbf16>, tensor<4xf32>, tensor<4xf32>) loc("dx")
  ff.output %n as "out/y" : tensor<8x4xbf16>
  ff.output %dx as "grad/x" : tensor<8x4xbf16>
  return
}

// -----

// Two bounds of wide numbers do, too.

// CHECK-LABEL: @main(
// CHECK: ff.normalize_backward(%arg2, {{.*}} clamp = array<f64: 0.000000e+00, 6.000000e+00>
func.func @main(%x: tensor<8x4xf32>, %unused: tensor<4xf32>, %dy: tensor<8x4xf32>) {
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, clamp = array<f64: 0.0, 6.0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %g = ff.unary_backward clip(%dy, %y) alpha 0.0 beta 6.0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> loc("cut")
  %dx, %ds, %db = ff.normalize_backward(%g, %x, %m, %v) {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("dx")
  ff.output %dx as "grad/x" : tensor<8x4xf32>
  return
}

// -----

// An addend, another reader, other bounds, a parameter for every element: no.

// CHECK-LABEL: @main(
// CHECK-COUNT-4: ff.unary_backward
// CHECK-NOT: clamp
func.func @main(%x: tensor<8x4xf32>, %more: tensor<8x4xf32>, %dy: tensor<8x4xf32>, %s: tensor<8x4xf32>) {
  %y0, %m0, %v0 = ff.normalize(%x addend %more) {axes = array<i64: 0>, clamp = array<f64: 0.0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %y1, %m1, %v1 = ff.normalize(%x) {axes = array<i64: 0>, clamp = array<f64: 0.0>, epsilon = 0.2 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %y2, %m2, %v2 = ff.normalize(%x scale %s) {axes = array<i64: 0, 1>, clamp = array<f64: 0.0>, epsilon = 0.1 : f64, param_dims = array<i64: 0, 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<f32>, tensor<f32>)
  %g0 = ff.unary_backward relu(%dy, %y0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %a, %b, %c = ff.normalize_backward(%g0, %x, %m0, %v0) {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %g1 = ff.unary_backward relu(%dy, %y1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %d, %e, %f = ff.normalize_backward(%g1, %x, %m1, %v1) {axes = array<i64: 0>, epsilon = 0.2 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %g2 = ff.unary_backward clip(%dy, %y1) alpha 0.0 beta 6.0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %h, %i, %j = ff.normalize_backward(%g2, %x, %m1, %v1) {axes = array<i64: 0>, epsilon = 0.2 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %g3 = ff.unary_backward relu(%dy, %y2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %k, %l, %n = ff.normalize_backward(%g3, %x, %m2, %v2, %s) {axes = array<i64: 0, 1>, epsilon = 0.1 : f64, param_dims = array<i64: 0, 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  ff.output %g1 as "out/g" : tensor<8x4xf32>
  ff.output %a as "out/a" : tensor<8x4xf32>
  ff.output %d as "out/d" : tensor<8x4xf32>
  ff.output %h as "out/h" : tensor<8x4xf32>
  ff.output %k as "out/k" : tensor<8x4xf32>
  return
}
