// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @main
func.func @main(%x: tensor<4xf32> {ff.name = "x"}) {
  // CHECK: ff.state "w" "parameter" init <file, 0.000000e+00 : f64, 64> : tensor<4xf32>
  %w = ff.state "w" "parameter" init <file, 0.0 : f64, 64> : tensor<4xf32>
  // CHECK: ff.state "w/momentum" "slot" init <constant, 0.000000e+00 : f64, 0>
  %v = ff.state "w/momentum" "slot" init <constant, 0.0 : f64, 0>
      : tensor<4xf32>
  // CHECK: ff.state "w.bf16" "copy" of "w" init <file, 0.000000e+00 : f64, 64> : tensor<4xbf16>
  %c = ff.state "w.bf16" "copy" of "w" init <file, 0.0 : f64, 64>
      : tensor<4xbf16>
  // CHECK: ff.state "w/ema" "average" of "w" init <file, 0.000000e+00 : f64, 64> : tensor<4xf32>
  %e = ff.state "w/ema" "average" of "w" init <file, 0.0 : f64, 64>
      : tensor<4xf32>
  // CHECK: ff.state "r" "constant" init <uniform, 5.000000e-01 : f64, 0>
  %r = ff.state "r" "constant" init <uniform, 0.5 : f64, 0> : tensor<4xf32>
  // CHECK: ff.unary relu
  // CHECK-SAME: ff.aliases = ["y"], ff.config = #ff.config<grid = {c = 2}, devices = [1, 0]>
  %y = ff.unary relu(%x) {ff.aliases = ["y"],
      ff.config = #ff.config<grid = {c = 2}, devices = [1, 0]>}
      : tensor<4xf32> -> tensor<4xf32>
  // CHECK: ff.store %{{.*}} to "w" : tensor<4xf32>
  ff.store %y to "w" : tensor<4xf32>
  // CHECK: ff.output %{{.*}} as "out/y" : tensor<4xf32>
  ff.output %y as "out/y" : tensor<4xf32>
  return
}
