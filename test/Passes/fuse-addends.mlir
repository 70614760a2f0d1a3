// RUN: ffc-opt %s --split-input-file --fuse-addends --mlir-use-nameloc-as-prefix | FileCheck %s

// A product adds what came before it, whichever summand it is, and takes over
// the names of the sum. The gradient of the sum belongs to the product.

// CHECK: %fc = ff.matmul(%arg0, %arg1, %arg2 addend %arg3) {{.*}}ff.aliases = ["sum", "sum_out"]
// CHECK-NEXT: ff.output %fc as "out/y"
// CHECK-NEXT: %more = ff.matmul(%arg0, %arg1 addend %fc)
// CHECK-NEXT: %dx = ff.unary relu(%arg3) {ff.carry = array<i64: 4, 0>, ff.owner = "fc", ff.role = "gradient"}
// CHECK-NEXT: ff.output %more as "out/z"
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>, %r: tensor<8x6xf32>) {
  %0 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x6xf32> loc("fc")
  %1 = ff.binary add(%0, %r) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>, ff.aliases = ["sum_out"]}
      : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum")
  ff.output %1 as "out/y" : tensor<8x6xf32>
  %2 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("more")
  %3 = ff.binary add(%1, %2) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("last")
  %4 = ff.unary relu(%r) {ff.carry = array<i64: 0, 0>, ff.owner = "sum", ff.role = "gradient"}
      : tensor<8x6xf32> -> tensor<8x6xf32> loc("dx")
  ff.output %3 as "out/z" : tensor<8x6xf32>
  return
}

// -----

// A normalisation adds the result of another one, and then cuts the sum
// (fuse-activations).

// CHECK: %short, %{{.*}}, %{{.*}} = ff.normalize(%arg1) {
// CHECK-NEXT: %norm, %{{.*}}, %{{.*}} = ff.normalize(%arg0 addend %short) {axes
// CHECK-NEXT: %relu = ff.unary relu(%norm)
func.func @main(%x: tensor<8x4xf32>, %r: tensor<8x4xf32>) {
  %0, %m, %v = ff.normalize(%r) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("short")
  %1, %m1, %v1 = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm")
  %2 = ff.binary add(%1, %0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> loc("sum")
  %3 = ff.unary relu(%2) : tensor<8x4xf32> -> tensor<8x4xf32> loc("relu")
  ff.output %3 as "out/y" : tensor<8x4xf32>
  return
}

// -----

// Of two products the later one adds the other.

// CHECK: %a = ff.matmul(%arg0, %arg1) {
// CHECK-NEXT: %b = ff.matmul(%arg0, %arg1 addend %a)
// CHECK-NEXT: ff.output %b
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("a")
  %1 = ff.matmul(%x, %w) {alpha = 2.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("b")
  %2 = ff.binary add(%0, %1) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum")
  ff.output %2 as "out/y" : tensor<8x6xf32>
  return
}

// -----

// Not fused: what is broadcast, comes later, is read by others, is clamped, has
// an addend, or is not added.

// CHECK-NOT: addend
// CHECK: %full = ff.matmul(%arg0, %arg1 addend %arg2)
// CHECK-NOT: addend
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %r: tensor<8x6xf32>, %b: tensor<6xf32>) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("row")
  %1 = ff.binary add(%0, %b) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32> loc("sum1")
  %2 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("early")
  %3 = ff.unary tanh(%r) : tensor<8x6xf32> -> tensor<8x6xf32> loc("late")
  %4 = ff.binary add(%2, %3) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum4")
  %5 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("twice")
  %6 = ff.binary add(%5, %r) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum6")
  %7 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, clamp = array<f64: 0.0>,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("bounds")
  %8 = ff.binary add(%7, %r) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum8")
  %9 = ff.matmul(%x, %w addend %r) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("full")
  %10 = ff.binary add(%9, %r) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum10")
  %11 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("factor")
  %12 = ff.binary mul(%11, %r) {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("product")
  ff.output %1 as "out/1" : tensor<8x6xf32>
  ff.output %4 as "out/4" : tensor<8x6xf32>
  ff.output %5 as "out/5" : tensor<8x6xf32>
  ff.output %6 as "out/6" : tensor<8x6xf32>
  ff.output %8 as "out/8" : tensor<8x6xf32>
  ff.output %10 as "out/10" : tensor<8x6xf32>
  ff.output %12 as "out/12" : tensor<8x6xf32>
  return
}

// -----

// Nor across roles, or where the two are split in different ways or into
// partial sums.

// CHECK-NOT: addend
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %r: tensor<8x6xf32>) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("a")
  %1 = ff.binary add(%0, %r) {ff.owner = "a", ff.role = "gradient"}
      : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum1")
  %2 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("b")
  %3 = ff.binary add(%2, %r) {ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>}
      : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum3")
  %4 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {k = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("d")
  %5 = ff.binary add(%4, %r) {ff.config = #ff.config<grid = {replica = 2}, devices = [0, 1]>}
      : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum5")
  ff.output %1 as "out/1" : tensor<8x6xf32>
  ff.output %3 as "out/3" : tensor<8x6xf32>
  ff.output %5 as "out/5" : tensor<8x6xf32>
  return
}

// -----

// A product without a configuration does.

// CHECK: %a = ff.matmul(%arg0, %arg1 addend %arg2)
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %r: tensor<8x6xf32>) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("a")
  %1 = ff.binary add(%0, %r) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("sum")
  ff.output %1 as "out/y" : tensor<8x6xf32>
  return
}

// -----

// A normalisation adds what is narrow, which the sum widened.

// CHECK: %norm, %{{.*}}, %{{.*}} = ff.normalize(%arg0 addend %arg1) {{.*}}ff.aliases = ["sum"]
// CHECK-SAME: (tensor<8x4xf32>, tensor<8x4xbf16>) -> (tensor<8x4xf32>,
// CHECK-NEXT: ff.output %norm
// A product does not.
// CHECK: %fc = ff.matmul(%arg0, %arg2) {
// CHECK-NEXT: ff.fused(%fc, %arg1)
func.func @main(%x: tensor<8x4xf32>, %r: tensor<8x4xbf16>, %w: tensor<4x4xf32>) {
  %0, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm")
  %1 = ff.fused(%0, %r) {
  ^bb0(%a: tensor<8x4xf32>, %b: tensor<8x4xbf16>):
    %c = ff.cast(%b) : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %d = ff.binary add(%a, %c) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ff.yield %d : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xbf16>) -> tensor<8x4xf32> loc("sum")
  ff.output %1 as "out/y" : tensor<8x4xf32>
  %2 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 1}, devices = [0]>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("fc")
  %3 = ff.fused(%2, %r) attributes {ff.config = #ff.config<grid = {n = 1}, devices = [0]>} {
  ^bb0(%a: tensor<8x4xf32>, %b: tensor<8x4xbf16>):
    %c = ff.cast(%b) : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %d = ff.binary add(%a, %c) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ff.yield %d : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xbf16>) -> tensor<8x4xf32> loc("sum2")
  ff.output %3 as "out/z" : tensor<8x4xf32>
  return
}

// -----

// The gradient of a normalisation adds that of the connection around it, also
// where that is narrow. The gradient of what made x belongs to it as before.

// CHECK: %dx, %{{.*}}, %{{.*}} = ff.normalize_backward(%arg0, %arg1, %arg2, %arg3, %arg4 addend %arg5)
// CHECK-SAME: ff.aliases = ["sum"]
// CHECK-NEXT: ff.output %dx
func.func @main(%dy: tensor<8x4xf32>, %x: tensor<8x4xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>,
                %s: tensor<4xf32>, %r: tensor<8x4xbf16>) {
  %0, %1, %2 = ff.normalize_backward(%dy, %x, %m, %v, %s) {axes = array<i64: 1>,
      epsilon = 0.1 : f64, ff.role = "gradient", param_dims = array<i64: 1>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>)
     -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("dx")
  %3 = ff.fused(%r, %0) attributes {ff.role = "gradient"} {
  ^bb0(%a: tensor<8x4xbf16>, %b: tensor<8x4xf32>):
    %c = ff.cast(%a) : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %d = ff.binary add(%c, %b) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ff.yield %d : tensor<8x4xf32>
  } : (tensor<8x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32> loc("sum")
  ff.output %3 as "out/y" : tensor<8x4xf32>
  return
}

// -----

// What is dropped is added to a residual connection, wide or narrow.

// CHECK: %drop = ff.dropout(%arg0, %arg1) {ff.aliases = ["sum"], key = 7 : i64, ratio = 5.000000e-01 : f64} : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<8x4xf32>
// CHECK-NEXT: ff.cast(%drop)
func.func @main(%x: tensor<8x4xbf16>, %r: tensor<8x4xbf16>) {
  %0 = ff.dropout(%x) {key = 7 : i64, ratio = 0.5 : f64} : (tensor<8x4xbf16>) -> tensor<8x4xf32> loc("drop")
  %1 = ff.fused(%0, %r) attributes {} {
  ^bb0(%a: tensor<8x4xf32>, %b: tensor<8x4xbf16>):
    %c = ff.cast(%b) : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %d = ff.binary add(%a, %c) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ff.yield %d : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xbf16>) -> tensor<8x4xf32> loc("sum")
  %2 = ff.cast(%1) : (tensor<8x4xf32>) -> tensor<8x4xbf16> loc("sum.bf16")
  ff.output %2 as "out/y" : tensor<8x4xbf16>
  return
}
