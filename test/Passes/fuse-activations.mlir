// RUN: ffc-opt %s --split-input-file --fuse-activations --mlir-use-nameloc-as-prefix | FileCheck %s

// A convolution takes over what follows it, and its names. The gradient of the
// function belongs to the convolution and reads its result; it has the layout of
// that, as it had of what the function read or made.

// CHECK: %conv = ff.conv(%arg0, %arg1) {clamp = array<f64: 0.000000e+00>,
// CHECK-SAME: ff.aliases = ["conv_out", "relu", "relu_out"]
// CHECK-NEXT: ff.output %conv as "out/y"
// CHECK-NEXT: %dx = ff.unary_backward relu(%arg2, %conv) {ff.carry = array<i64: 3, 0>, ff.owner = "conv", ff.role = "gradient"}
// CHECK-NEXT: %sum = ff.binary add(%dx, %arg2) {ff.carry = array<i64: 3, 1>, ff.owner = "conv", ff.role = "gradient"}
func.func @main(%x: tensor<8x3x9x9xf32>, %w: tensor<4x3x1x1xf32>,
                %dy: tensor<8x4x9x9xf32>) {
  %0 = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      ff.aliases = ["conv_out"], pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x3x9x9xf32>, tensor<4x3x1x1xf32>) -> tensor<8x4x9x9xf32> loc("conv")
  %1 = ff.unary relu(%0) {ff.aliases = ["relu_out"]}
      : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("relu")
  ff.output %1 as "out/y" : tensor<8x4x9x9xf32>
  %2 = ff.unary_backward relu(%dy, %1) {ff.owner = "relu", ff.role = "gradient"}
      : (tensor<8x4x9x9xf32>, tensor<8x4x9x9xf32>) -> tensor<8x4x9x9xf32> loc("dx")
  %3 = ff.binary add(%2, %dy) {ff.carry = array<i64: 0, 1>, ff.owner = "relu",
      ff.role = "gradient"}
      : (tensor<8x4x9x9xf32>, tensor<8x4x9x9xf32>) -> tensor<8x4x9x9xf32> loc("sum")
  return
}

// -----

// So does a normalisation; what follows one function stays where it is.

// CHECK: %norm, %{{.*}} = ff.normalize(%arg0) {axes = array<i64: 0>, clamp = array<f64: 0.000000e+00, 6.000000e+00>
// CHECK-NEXT: %relu = ff.unary relu(%norm)
// CHECK-NEXT: ff.output %relu
func.func @main(%x: tensor<8x4xf32>) {
  %0, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm")
  %1 = ff.unary clip(%0) alpha 0.0 beta 6.0 : tensor<8x4xf32> -> tensor<8x4xf32> loc("clip")
  %2 = ff.unary relu(%1) : tensor<8x4xf32> -> tensor<8x4xf32> loc("relu")
  ff.output %2 as "out/y" : tensor<8x4xf32>
  return
}

// -----

// And a product whose split is known.

// CHECK: %fc = ff.matmul(%arg0, %arg1, %arg2) {alpha = 1.000000e+00 : f64, beta = 1.000000e+00 : f64, clamp = array<f64: 0.000000e+00>
// CHECK-NEXT: ff.output %fc as "out/y"
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x6xf32> loc("fc")
  %1 = ff.unary relu(%0) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : tensor<8x6xf32> -> tensor<8x6xf32> loc("relu")
  ff.output %1 as "out/y" : tensor<8x6xf32>
  return
}

// -----

// And one that is given none.

// CHECK: %fc = ff.matmul({{.*}}clamp = array<f64: 0.000000e+00>
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("fc")
  %1 = ff.unary relu(%0) : tensor<8x6xf32> -> tensor<8x6xf32> loc("relu")
  ff.output %1 as "out/y" : tensor<8x6xf32>
  return
}

// -----

// Not fused: functions that do more than clamp, other results, operators that
// cannot clamp, and values that something else reads as well.

// CHECK-NOT: clamp =
func.func @main(%x: tensor<8x4xf32>) {
  %0, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm")
  %1 = ff.unary leaky_relu(%0) alpha 0.1 : tensor<8x4xf32> -> tensor<8x4xf32> loc("leaky")
  %2 = ff.unary relu(%m) : tensor<4xf32> -> tensor<4xf32> loc("mean")
  %3 = ff.dropout(%x) {key = 1, ratio = 0.5} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("drop")
  %4 = ff.unary relu(%3) : tensor<8x4xf32> -> tensor<8x4xf32> loc("relu")
  %5, %m5, %v5 = ff.normalize(%4) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm5")
  %6 = ff.unary relu(%5) : tensor<8x4xf32> -> tensor<8x4xf32> loc("relu6")
  ff.output %1 as "out/1" : tensor<8x4xf32>
  ff.output %2 as "out/2" : tensor<4xf32>
  ff.output %5 as "out/5" : tensor<8x4xf32>
  ff.output %6 as "out/6" : tensor<8x4xf32>
  return
}

// -----

// Nor across roles.

// CHECK-NOT: clamp =
func.func @main(%x: tensor<8x4xf32>) {
  %0, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm")
  %1 = ff.unary relu(%0) {ff.owner = "norm", ff.role = "gradient"}
      : tensor<8x4xf32> -> tensor<8x4xf32> loc("relu")
  ff.output %1 as "out/y" : tensor<8x4xf32>
  return
}

// -----

// The same split of the value, by other names: every point goes on with what it
// has. Replicas are alike, if they are complete.

// CHECK: %a = ff.conv{{.*}}clamp =
// CHECK: %b = ff.conv{{.*}}clamp =
func.func @main(%x: tensor<8x6x9x9xf32>, %w: tensor<4x3x1x1xf32>, %v: tensor<4x4x1x1xf32>) {
  %0 = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 2 : i64,
      ff.config = #ff.config<grid = {n = 2, g = 2}, devices = [0, 2, 1, 3]>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x6x9x9xf32>, tensor<4x3x1x1xf32>) -> tensor<8x4x9x9xf32> loc("a")
  %1 = ff.unary relu(%0) {ff.config = #ff.config<grid = {n = 2, c = 2}, devices = [0, 2, 1, 3]>}
      : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("relu1")
  %2 = ff.conv(%1, %v) {dilations = array<i64: 1, 1>, group = 1 : i64,
      ff.config = #ff.config<grid = {h = 3, replica = 2}, devices = [0, 1, 2, 3, 4, 5]>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x9x9xf32> loc("b")
  %3 = ff.unary relu(%2) {ff.config = #ff.config<grid = {h = 3, replica = 2}, devices = [0, 1, 2, 3, 4, 5]>}
      : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("relu3")
  ff.output %3 as "out/y" : tensor<8x4x9x9xf32>
  return
}

// -----

// Not fused: partial sums, other devices, another split, and a configuration of
// the function alone.

// CHECK-NOT: clamp =
func.func @main(%x: tensor<8x4x9x9xf32>, %w: tensor<4x4x1x1xf32>, %v: tensor<324x6xf32>) {
  %0 = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      ff.config = #ff.config<grid = {k = 2}, devices = [0, 1]>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x9x9xf32> loc("a")
  %1 = ff.unary relu(%0) {ff.config = #ff.config<grid = {replica = 2}, devices = [0, 1]>}
      : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("relu1")
  %2 = ff.conv(%1, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x9x9xf32> loc("b")
  %3 = ff.unary relu(%2) {ff.config = #ff.config<grid = {n = 2}, devices = [1, 0]>}
      : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("relu3")
  %4 = ff.conv(%3, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      ff.config = #ff.config<grid = {h = 2}, devices = [0, 1]>,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x9x9xf32> loc("c")
  %5 = ff.unary relu(%4) {ff.config = #ff.config<grid = {w = 2}, devices = [0, 1]>}
      : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("relu5")
  %6 = ff.conv(%5, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x9x9xf32> loc("d")
  %7 = ff.unary relu(%6) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("relu7")
  %8 = ff.reshape(%7) : (tensor<8x4x9x9xf32>) -> tensor<8x324xf32> loc("flat")
  %9 = ff.matmul(%8, %v) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {k = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x324xf32>, tensor<324x6xf32>) -> tensor<8x6xf32> loc("e")
  %10 = ff.unary relu(%9) {ff.config = #ff.config<grid = {replica = 2}, devices = [0, 1]>}
      : tensor<8x6xf32> -> tensor<8x6xf32> loc("relu10")
  ff.output %10 as "out/y" : tensor<8x6xf32>
  return
}
