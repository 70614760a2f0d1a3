// Losses that mean nothing, and what to do instead.

// RUN: not ffc-opt %s --split-input-file --ff-differentiate 2>&1 | FileCheck %s
// RUN: ffc-opt %s --split-input-file --ff-differentiate="loss=bce" 2>&1 | FileCheck %s --check-prefix=BCE

// CHECK: error: cross-entropy over one class is always 0, expected more than one in dimension 1 of output 'y', found 'tensor<8x1xf32>'; for numbers, give --loss=mse, for yes or no --loss=bce, for classes in another dimension --class-axis
// BCE: ff.bce
func.func @main(%x: tensor<8x1xf32>) {
  %w = ff.state "w" "parameter" init <constant, 1.0 : f64, 0> : tensor<1xf32> loc("w")
  %y = ff.binary mul(%x, %w) : (tensor<8x1xf32>, tensor<1xf32>) -> tensor<8x1xf32> loc("y")
  ff.output %y as "out/y" : tensor<8x1xf32> loc("y")
  return
}

// -----

// CHECK: error: cross-entropy needs logits with a class axis, expected a model output of rank 2 or more, found 'tensor<8xf32>'; for numbers, give --loss=mse or --loss=bce
// BCE: ff.bce
func.func @main(%x: tensor<8xf32>) {
  %w = ff.state "w" "parameter" init <constant, 1.0 : f64, 0> : tensor<1xf32> loc("w")
  %y = ff.binary mul(%x, %w) : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32> loc("y")
  ff.output %y as "out/y" : tensor<8xf32> loc("y")
  return
}
