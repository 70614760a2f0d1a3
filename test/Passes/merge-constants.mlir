// RUN: ffc-opt %s --merge-constants --split-input-file | FileCheck %s

// The masks of two layers, whatever their names, and what is made of both.
// CHECK-LABEL: @main
func.func @main(%x: tensor<3x4xf32>) {
  // CHECK: %[[A:.*]] = ff.state "a" "constant"
  // CHECK-NOT: ff.state "b"
  // CHECK: %[[M:.*]] = ff.unary sqrt(%[[A]]) {ff.aliases = ["later"]}
  // CHECK-NOT: ff.unary sqrt
  // CHECK: %[[Y:.*]] = ff.binary add(%arg0, %[[M]])
  // CHECK: ff.binary add(%[[Y]], %[[M]])
  %a = ff.state "a" "constant" init <positions, 0.0 : f64, 0> : tensor<3x1xf32>
  %m = ff.unary sqrt(%a) : tensor<3x1xf32> -> tensor<3x1xf32> loc("first")
  %y = ff.binary add(%x, %m) : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %b = ff.state "b" "constant" init <positions, 0.0 : f64, 0> : tensor<3x1xf32>
  %n = ff.unary sqrt(%b) : tensor<3x1xf32> -> tensor<3x1xf32> loc("later")
  %z = ff.binary add(%y, %n) : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  ff.output %z as "out/z" : tensor<3x4xf32>
  return
}

// -----

// Other contents, other functions, and what depends on an input.
// CHECK-LABEL: @main
func.func @main(%x: tensor<3x1xf32>) {
  // CHECK: ff.state "a"
  // CHECK: ff.state "b"
  // CHECK: ff.unary sqrt
  // CHECK: ff.unary exp
  // CHECK: ff.unary sqrt
  // CHECK: ff.unary sqrt(%arg0)
  // CHECK: ff.unary sqrt(%arg0)
  %a = ff.state "a" "constant" init <positions, 0.0 : f64, 0> : tensor<3x1xf32>
  %b = ff.state "b" "constant" init <positions, 1.0 : f64, 0> : tensor<3x1xf32>
  %0 = ff.unary sqrt(%a) : tensor<3x1xf32> -> tensor<3x1xf32>
  %1 = ff.unary exp(%a) : tensor<3x1xf32> -> tensor<3x1xf32>
  %2 = ff.unary sqrt(%b) : tensor<3x1xf32> -> tensor<3x1xf32>
  %3 = ff.unary sqrt(%x) : tensor<3x1xf32> -> tensor<3x1xf32>
  %4 = ff.unary sqrt(%x) : tensor<3x1xf32> -> tensor<3x1xf32>
  ff.output %0 as "out/0" : tensor<3x1xf32>
  ff.output %1 as "out/1" : tensor<3x1xf32>
  ff.output %2 as "out/2" : tensor<3x1xf32>
  ff.output %3 as "out/3" : tensor<3x1xf32>
  ff.output %4 as "out/4" : tensor<3x1xf32>
  return
}

// -----

// Parameters that begin alike are not the same.
// CHECK-LABEL: @main
func.func @main() {
  // CHECK: ff.state "v" "parameter"
  // CHECK: ff.state "w" "parameter"
  %v = ff.state "v" "parameter" init <constant, 1.0 : f64, 0> : tensor<3xf32>
  %w = ff.state "w" "parameter" init <constant, 1.0 : f64, 0> : tensor<3xf32>
  ff.output %v as "out/v" : tensor<3xf32>
  ff.output %w as "out/w" : tensor<3xf32>
  return
}
