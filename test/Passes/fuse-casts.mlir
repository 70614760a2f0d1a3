// RUN: ffc-opt %s --split-input-file --fuse-casts --mlir-use-nameloc-as-prefix | FileCheck %s

// A normalisation writes the operand that a product needs; the cast's name is
// among its own. What belonged to the cast has the layout of the result.

// CHECK: %norm, %{{.*}} = ff.normalize(%arg0 addend %arg1) {axes = array<i64: 1>, clamp = array<f64: 0.000000e+00>
// CHECK-SAME: ff.aliases = ["narrow"]
// CHECK-SAME: -> (tensor<8x4xbf16>, tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: ff.matmul(%norm, %arg2) {{.*}} ff.carry = array<i64: 4, 0>, ff.owner = "norm"
func.func @main(%x: tensor<8x4xf32>, %more: tensor<8x4xf32>, %w: tensor<4x6xbf16>) {
  %0, %m, %v = ff.normalize(%x addend %more) {axes = array<i64: 1>, clamp = array<f64: 0.0>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) loc("norm")
  %1 = ff.cast(%0) : (tensor<8x4xf32>) -> tensor<8x4xbf16> loc("narrow")
  %2 = ff.matmul(%1, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, ff.carry = array<i64: 1, 0>,
      ff.owner = "narrow", trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xf32> loc("fc")
  ff.output %2 as "out/y" : tensor<8x6xf32>
  return
}

// -----

// Gradients of normalisations and of losses, f16 too.

// CHECK: ff.cross_entropy_backward(%arg0, %arg1) {{.*}} -> (tensor<f32>, tensor<8x4xf16>)
// CHECK: %dx, %{{.*}} = ff.normalize_backward({{.*}} -> (tensor<8x4xbf16>, tensor<4xf32>, tensor<4xf32>)
// CHECK-NOT: ff.cast
func.func @main(%x: tensor<8x4xf32>, %t: tensor<8xi32>, %s: tensor<4xf32>) {
  %l, %0 = ff.cross_entropy_backward(%x, %t) {axis = 1 : i64}
      : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8x4xf32>) loc("dlogits")
  %1 = ff.cast(%0) : (tensor<8x4xf32>) -> tensor<8x4xf16>
  %2, %3, %4 = ff.normalize_backward(%x, %x, %s, %s, %s) {axes = array<i64: 0>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
     -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("dx")
  %5 = ff.cast(%2) : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  return
}

// -----

// Gradients of attention, each by itself, where tiles have no partial sums of
// it: dk and dv are summed over positions r, dq over s.

// CHECK: %dq, %{{.*}}, %{{.*}} = ff.attention_backward{{.*}} -> (tensor<2x6x3x4xf32>, tensor<2x6x3x4xbf16>, tensor<2x6x3x4xbf16>)
// CHECK: %dq2, %{{.*}}, %{{.*}} = ff.attention_backward{{.*}} -> (tensor<2x6x3x4xbf16>, tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>)
// CHECK-NEXT: ff.cast
// CHECK-NEXT: return
func.func @main(%q: tensor<2x6x3x4xbf16>, %y: tensor<2x6x3x4xf32>, %l: tensor<2x3x6xf32>) {
  %0, %1, %2 = ff.attention_backward(%q, %q, %q, %y, %l, %q) {hidden = array<f64>, scale = 0.5 : f64,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : (tensor<2x6x3x4xbf16>, tensor<2x6x3x4xbf16>, tensor<2x6x3x4xbf16>, tensor<2x6x3x4xf32>, tensor<2x3x6xf32>, tensor<2x6x3x4xbf16>)
     -> (tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>) loc("dq")
  %3 = ff.cast(%1) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>} : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x4xbf16>
  %4 = ff.cast(%2) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>} : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x4xbf16>
  %5, %6, %7 = ff.attention_backward(%q, %q, %q, %y, %l, %q) {hidden = array<f64>, scale = 0.5 : f64,
      ff.config = #ff.config<grid = {r = 2}, devices = [0, 1]>}
      : (tensor<2x6x3x4xbf16>, tensor<2x6x3x4xbf16>, tensor<2x6x3x4xbf16>, tensor<2x6x3x4xf32>, tensor<2x3x6xf32>, tensor<2x6x3x4xbf16>)
     -> (tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>) loc("dq2")
  %8 = ff.cast(%5) {ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>} : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x4xbf16>
  %9 = ff.cast(%6) {ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>} : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x4xbf16>
  return
}

// -----

// Not where somebody else needs the wide value, of other results, of wider
// types, of another role, or where tiles differ.

// CHECK-COUNT-5: ff.cast
func.func @main(%x: tensor<8x4xf32>) {
  %0, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %1 = ff.cast(%0) : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %2 = ff.unary relu(%0) : tensor<8x4xf32> -> tensor<8x4xf32>
  %3 = ff.cast(%m) : (tensor<4xf32>) -> tensor<4xbf16>
  %4, %m2, %v2 = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %5 = ff.cast(%4) : (tensor<8x4xf32>) -> tensor<8x4xf64>
  %6, %m3, %v3 = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %7 = ff.cast(%6) {ff.role = "gradient"} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %8, %m4, %v4 = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %9 = ff.cast(%8) {ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>}
      : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  return
}

// -----

// Products and convolutions round what they write, also sums in parts, unless
// a cast was given a configuration under which it stands apart.

// CHECK: %conv = ff.conv({{.*}} -> tensor<8x4x9x9xbf16>
// CHECK: %dx = ff.conv_backward_data({{.*}} -> tensor<8x3x9x9xbf16>
// CHECK: %fc = ff.matmul({{.*}} -> tensor<8x4xbf16>
// CHECK: %free = ff.matmul({{.*}} -> tensor<8x4xbf16>
// CHECK: %sums = ff.matmul({{.*}} -> tensor<8x4xbf16>
// CHECK: %parts = ff.matmul({{.*}} -> tensor<8x4xf32>
// CHECK-NEXT: ff.cast(%parts)
func.func @main(%x: tensor<8x3x9x9xbf16>, %w: tensor<4x3x1x1xbf16>,
                %a: tensor<8x4xbf16>, %b: tensor<4x4xbf16>) {
  %0 = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x3x9x9xbf16>, tensor<4x3x1x1xbf16>) -> tensor<8x4x9x9xf32> loc("conv")
  %1 = ff.cast(%0) : (tensor<8x4x9x9xf32>) -> tensor<8x4x9x9xbf16>
  %2 = ff.conv_backward_data(%1, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xbf16>, tensor<4x3x1x1xbf16>) -> tensor<8x3x9x9xf32> loc("dx")
  %3 = ff.cast(%2) : (tensor<8x3x9x9xf32>) -> tensor<8x3x9x9xbf16>
  %4 = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xf32> loc("fc")
  %5 = ff.cast(%4) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %6 = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xf32> loc("free")
  %7 = ff.cast(%6) : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %10 = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {k = 2}, devices = [0, 1]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xf32> loc("sums")
  %11 = ff.cast(%10) : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %8 = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {k = 2}, devices = [0, 1]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xf32> loc("parts")
  %9 = ff.cast(%8) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  return
}

// -----

// What cuBLASLt does not round: a product that adds a wide bias.

// CHECK: %fc = ff.matmul({{.*}} -> tensor<8x4xf32>
// CHECK-NEXT: ff.cast(%fc)
// CHECK: %row = ff.matmul({{.*}} -> tensor<8x4xbf16>
func.func @main(%a: tensor<8x4xbf16>, %b: tensor<4x4xbf16>, %c: tensor<4xf32>, %d: tensor<4xbf16>) {
  %0 = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xbf16>, tensor<4x4xbf16>, tensor<4xf32>) -> tensor<8x4xf32> loc("fc")
  %1 = ff.cast(%0) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %2 = ff.matmul(%a, %b, %d) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xbf16>, tensor<4x4xbf16>, tensor<4xbf16>) -> tensor<8x4xf32> loc("row")
  %3 = ff.cast(%2) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  return
}

// -----

// Kernels of convolutions with groups write f32.

// CHECK: %conv = ff.conv({{.*}} -> tensor<8x4x9x9xf32>
// CHECK-NEXT: ff.cast(%conv)
func.func @main(%x: tensor<8x4x9x9xf32>, %w: tensor<4x1x1x1xf32>) {
  %0 = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 4 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x1x1x1xf32>) -> tensor<8x4x9x9xf32> loc("conv")
  %1 = ff.cast(%0) : (tensor<8x4x9x9xf32>) -> tensor<8x4x9x9xbf16>
  return
}
