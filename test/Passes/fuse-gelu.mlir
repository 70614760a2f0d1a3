// RUN: ffc-opt %s --split-input-file --fuse-gelu --mlir-use-nameloc-as-prefix | FileCheck %s

// Products compute the function behind them, and its gradient. What belonged to
// one of both belongs to what they are now, and its slots have moved.

// CHECK-LABEL: func.func @main
// CHECK: %fc, %fc_0 = ff.matmul_gelu(%arg0, %arg1, %arg2) {ff.aliases = ["gelu"], ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, trans_a = 0 : i64, trans_b = 1 : i64} : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>)
// CHECK-NEXT: ff.unary relu(%fc) {ff.carry = array<i64: 3, 0>, ff.owner = "fc"}
// CHECK-NEXT: ff.unary relu(%fc_0) {ff.carry = array<i64: 4, 0>, ff.owner = "fc"}
// CHECK-NEXT: ff.unary relu(%arg2) {ff.carry = array<i64: 2, 0>, ff.owner = "fc"}
// CHECK-NEXT: %dproj = ff.matmul_gelu_backward(%arg3, %arg4, %fc) {dim_names = ["n", "k", "c"], ff.aliases = ["dgelu"], ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.owner = "proj", ff.role = "gradient", trans_a = 0 : i64, trans_b = 0 : i64} : (tensor<8x3xf32>, tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
// CHECK-NEXT: ff.unary relu(%dproj)
func.func @main(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>,
                %dy: tensor<8x3xf32>, %v: tensor<3x6xf32>) attributes {ff.tf32} {
  %0 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<8x6xf32> loc("fc")
  %1 = ff.unary gelu_tanh(%0) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : tensor<8x6xf32> -> tensor<8x6xf32> loc("gelu")
  %2 = ff.unary relu(%0) {ff.carry = array<i64: 4, 0>, ff.owner = "fc"} : tensor<8x6xf32> -> tensor<8x6xf32> loc("z")
  %3 = ff.unary relu(%1) {ff.carry = array<i64: 1, 0>, ff.owner = "gelu"} : tensor<8x6xf32> -> tensor<8x6xf32> loc("y")
  %4 = ff.unary relu(%b) {ff.carry = array<i64: 2, 0>, ff.owner = "fc"} : tensor<6xf32> -> tensor<6xf32> loc("c")
  %5 = ff.matmul(%dy, %v) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["n", "k", "c"],
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.owner = "proj",
      ff.role = "gradient", trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x3xf32>, tensor<3x6xf32>) -> tensor<8x6xf32> loc("dproj")
  %6 = ff.unary_backward gelu_tanh(%5, %0) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>,
      ff.role = "gradient"} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("dgelu")
  %7 = ff.unary relu(%6) : tensor<8x6xf32> -> tensor<8x6xf32> loc("dz")
  return
}

// -----

// Narrow products do so, too, and what they make is rounded in the end. Without
// the gradient nobody reads the sum.

// CHECK-LABEL: func.func @main
// CHECK: %fc, %fc_0 = ff.matmul_gelu(%arg0, %arg1, %arg2) {ff.aliases = ["gelu", "gelu.bf16", "fc.bf16"], trans_a = 0 : i64, trans_b = 1 : i64} : (tensor<8x4xbf16>, tensor<6x4xbf16>, tensor<6xbf16>) -> (tensor<8x6xbf16>, tensor<8x6xbf16>)
// CHECK-NEXT: ff.matmul(%fc_0, %arg4)
// CHECK-NEXT: %dproj = ff.matmul_gelu_backward(%arg3, %arg4, %fc) {dim_names = ["n", "k", "c"], ff.aliases = ["dgelu", "dgelu.bf16"], ff.owner = "proj", ff.role = "gradient", trans_a = 0 : i64, trans_b = 1 : i64} : (tensor<8x3xbf16>, tensor<6x3xbf16>, tensor<8x6xbf16>) -> tensor<8x6xbf16>
// CHECK-NEXT: ff.matmul(%arg3, %dproj)
// CHECK-NEXT: %{{.*}}, %[[Y:.*]] = ff.matmul_gelu(%arg0, %arg1)
// CHECK-NEXT: ff.matmul(%[[Y]], %arg4)
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %b: tensor<6xbf16>,
                %dy: tensor<8x3xbf16>, %v: tensor<6x3xbf16>) {
  %0 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x4xbf16>, tensor<6x4xbf16>, tensor<6xbf16>) -> tensor<8x6xf32> loc("fc")
  %1 = ff.cast(%0) : (tensor<8x6xf32>) -> tensor<8x6xbf16> loc("fc.bf16")
  %2 = ff.unary gelu_tanh(%0) : tensor<8x6xf32> -> tensor<8x6xf32> loc("gelu")
  %3 = ff.cast(%2) : (tensor<8x6xf32>) -> tensor<8x6xbf16> loc("gelu.bf16")
  %4 = ff.matmul(%3, %v) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x6xbf16>, tensor<6x3xbf16>) -> tensor<8x3xf32> loc("proj")
  %5 = ff.matmul(%dy, %v) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["n", "k", "c"], ff.owner = "proj",
      ff.role = "gradient", trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x3xbf16>, tensor<6x3xbf16>) -> tensor<8x6xf32> loc("dproj")
  %6 = ff.fused(%5, %1) attributes {ff.role = "gradient"} {
  ^bb0(%p: tensor<8x6xf32>, %q: tensor<8x6xbf16>):
    %7 = ff.cast(%q) : (tensor<8x6xbf16>) -> tensor<8x6xf32>
    %8 = ff.unary_backward gelu_tanh(%p, %7) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    ff.yield %8 : tensor<8x6xf32>
  } : (tensor<8x6xf32>, tensor<8x6xbf16>) -> tensor<8x6xf32> loc("dgelu")
  %9 = ff.cast(%6) {ff.role = "gradient"} : (tensor<8x6xf32>) -> tensor<8x6xbf16> loc("dgelu.bf16")
  %10 = ff.matmul(%dy, %9) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x3xbf16>, tensor<8x6xbf16>) -> tensor<3x6xf32> loc("dv")
  %11 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x4xbf16>, tensor<6x4xbf16>) -> tensor<8x6xf32> loc("fc2")
  %12 = ff.unary gelu_tanh(%11) : tensor<8x6xf32> -> tensor<8x6xf32> loc("gelu2")
  %13 = ff.cast(%12) : (tensor<8x6xf32>) -> tensor<8x6xbf16> loc("gelu2.bf16")
  %14 = ff.matmul(%13, %v) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x6xbf16>, tensor<6x3xbf16>) -> tensor<8x3xf32> loc("proj2")
  return
}

// -----

// Narrow products stay apart from what is not rounded, from a sum that is read
// wide as well, and from a row that is not as narrow.

// CHECK-LABEL: func.func @main
// CHECK-NOT: ff.matmul_gelu
func.func @main(%x: tensor<8x4xbf16>, %w: tensor<6x4xbf16>, %b: tensor<6xf32>) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x4xbf16>, tensor<6x4xbf16>) -> tensor<8x6xf32> loc("wide")
  %1 = ff.unary gelu_tanh(%0) : tensor<8x6xf32> -> tensor<8x6xf32> loc("wide_gelu")
  %2 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x4xbf16>, tensor<6x4xbf16>) -> tensor<8x6xf32> loc("read")
  %3 = ff.unary gelu_tanh(%2) : tensor<8x6xf32> -> tensor<8x6xf32> loc("read_gelu")
  %4 = ff.cast(%3) : (tensor<8x6xf32>) -> tensor<8x6xbf16> loc("read_gelu.bf16")
  %5 = ff.unary relu(%2) : tensor<8x6xf32> -> tensor<8x6xf32> loc("reader")
  %6 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x4xbf16>, tensor<6x4xbf16>, tensor<6xf32>) -> tensor<8x6xf32> loc("row")
  %7 = ff.unary gelu_tanh(%6) : tensor<8x6xf32> -> tensor<8x6xf32> loc("row_gelu")
  %8 = ff.cast(%7) : (tensor<8x6xf32>) -> tensor<8x6xbf16> loc("row_gelu.bf16")
  return
}

// -----

// Operands that are not rounded are not multiplied by what is about as exact.

// CHECK-LABEL: func.func @main
// CHECK-NOT: ff.matmul_gelu
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("fc")
  %1 = ff.unary gelu_tanh(%0) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : tensor<8x6xf32> -> tensor<8x6xf32> loc("gelu")
  return
}

// -----

// Not where a configuration was given that splits what is contracted, and where
// both do not agree.

// CHECK-LABEL: func.func @main
// CHECK: %none, %none_{{.*}} = ff.matmul_gelu
// CHECK-NOT: ff.matmul_gelu
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) attributes {ff.tf32} {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("none")
  %1 = ff.unary gelu_tanh(%0) : tensor<8x6xf32> -> tensor<8x6xf32> loc("none_gelu")
  %2 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {k = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("parts")
  %3 = ff.unary gelu_tanh(%2) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : tensor<8x6xf32> -> tensor<8x6xf32> loc("parts_gelu")
  %6 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {k = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("sums")
  %7 = ff.unary gelu_tanh(%6) : tensor<8x6xf32> -> tensor<8x6xf32> loc("sums_gelu")
  %4 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("split")
  %5 = ff.unary gelu_tanh(%4) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : tensor<8x6xf32> -> tensor<8x6xf32> loc("split_gelu")
  return
}

// -----

// Products and functions that stay apart.

// CHECK-LABEL: func.func @main
// CHECK-NOT: ff.matmul_gelu
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %r: tensor<8x6xf32>,
                %c: tensor<8x1xf32>, %p: tensor<2x8x4xf32>, %q: tensor<2x4x6xf32>,
                %b: tensor<6xf32>) attributes {ff.tf32} {
  // GELU by erf.
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("erf")
  %1 = ff.unary gelu(%0) : tensor<8x6xf32> -> tensor<8x6xf32> loc("erf_gelu")
  // An addend, bounds, an operand, a column, a sum over the batch.
  %2 = ff.matmul(%x, %w addend %r) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("addend")
  %3 = ff.unary gelu_tanh(%2) : tensor<8x6xf32> -> tensor<8x6xf32> loc("addend_gelu")
  %4 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, clamp = array<f64: 0.0>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("clamp")
  %5 = ff.unary gelu_tanh(%4) : tensor<8x6xf32> -> tensor<8x6xf32> loc("clamp_gelu")
  %6 = ff.matmul(%x, %w) {alpha = 0.5 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("alpha")
  %7 = ff.unary gelu_tanh(%6) : tensor<8x6xf32> -> tensor<8x6xf32> loc("alpha_gelu")
  %8 = ff.matmul(%x, %w, %c) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32> loc("column")
  %9 = ff.unary gelu_tanh(%8) : tensor<8x6xf32> -> tensor<8x6xf32> loc("column_gelu")
  %10 = ff.matmul(%p, %q) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x8x4xf32>, tensor<2x4x6xf32>) -> tensor<8x6xf32> loc("batch")
  %11 = ff.unary gelu_tanh(%10) : tensor<8x6xf32> -> tensor<8x6xf32> loc("batch_gelu")
  // Gradients of what others read, too, of a product that adds a row, and of
  // what comes after the product.
  %12 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("read")
  %13 = ff.unary_backward gelu_tanh(%12, %r) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("read_gelu")
  %14 = ff.unary relu(%12) : tensor<8x6xf32> -> tensor<8x6xf32> loc("reader")
  %15 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x6xf32> loc("row")
  %16 = ff.unary_backward gelu_tanh(%15, %r) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("row_gelu")
  %17 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("order")
  %18 = ff.unary relu(%r) : tensor<8x6xf32> -> tensor<8x6xf32> loc("later")
  %19 = ff.unary_backward gelu_tanh(%17, %18) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> loc("order_gelu")
  return
}
