// The target of a loss has a name that the model's inputs must not have.

// RUN: not ffc-opt %s --ff-differentiate="loss=mse" 2>&1 | FileCheck %s
// RUN: ffc-opt %s --ff-differentiate="loss=none"

// CHECK: error: input 'target' has the name of the target of --loss=mse; if the model computes its loss, give --loss=none, else expected another name
func.func @main(%t: tensor<1xf32> {ff.name = "target"}) {
  %w = ff.state "w" "parameter" init <constant, 1.0 : f64, 0> : tensor<1xf32> loc("w")
  %y = ff.binary sub(%w, %t) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> loc("y")
  ff.output %y as "out/y" : tensor<1xf32> loc("y")
  return
}
