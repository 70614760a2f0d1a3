// RUN: ffc-opt %s --split-input-file --fuse-sums --mlir-use-nameloc-as-prefix | FileCheck %s

// A product sums the operand that is added up over all but its last dimension,
// and takes over the name of the sums, which own other operators.

// CHECK-LABEL: func.func @main
// CHECK: %dw, %dw_0 = ff.matmul_sums(%arg0, %arg1) {alpha = 5.000000e-01 : f64, dim_names = ["n", "k", "c", "r"], ff.aliases = ["db"], ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.role = "gradient", sums_of = 1 : i64, trans_a = 1 : i64, trans_b = 0 : i64} : (tensor<8x5x4xf32>, tensor<8x5x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
// CHECK-NEXT: ff.unary relu(%dw_0) {ff.carry = array<i64: 3, 0>, ff.owner = "dw"}
// CHECK-NEXT: ff.unary relu(%dw) {ff.carry = array<i64: 2, 0>, ff.owner = "dw"}
// CHECK-NEXT: %dv, %dv_1 = ff.matmul_sums(%arg1, %arg0) {{.*}}sums_of = 0 : i64
func.func @main(%x: tensor<8x5x4xf32>, %dy: tensor<8x5x6xf32>) {
  %0 = ff.matmul(%x, %dy) {alpha = 0.5 : f64, beta = 1.0 : f64,
      dim_names = ["n", "k", "c", "r"],
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.role = "gradient",
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x5x4xf32>, tensor<8x5x6xf32>) -> tensor<4x6xf32> loc("dw")
  %1 = ff.reduce_sum(%dy) {axes = array<i64: 0, 1>,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.role = "gradient", keepdims = 0 : i64}
      : (tensor<8x5x6xf32>) -> tensor<6xf32> loc("db")
  %2 = ff.unary relu(%1) {ff.carry = array<i64: 1, 0>, ff.owner = "db"} : tensor<6xf32> -> tensor<6xf32> loc("b")
  %3 = ff.unary relu(%0) {ff.carry = array<i64: 4, 0>, ff.owner = "dw"} : tensor<4x6xf32> -> tensor<4x6xf32> loc("w")
  // The same for weights that are stored the other way round.
  %4 = ff.matmul(%dy, %x) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["n", "c", "k", "r"],
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.role = "gradient",
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x5x6xf32>, tensor<8x5x4xf32>) -> tensor<6x4xf32> loc("dv")
  %5 = ff.reduce_sum(%dy) {axes = array<i64: 0, 1>,
      ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.role = "gradient", keepdims = 0 : i64}
      : (tensor<8x5x6xf32>) -> tensor<6xf32> loc("dc")
  return
}

// -----

// Sums that were not given a configuration are the product's.

// CHECK-LABEL: func.func @main
// CHECK: %dw, %dw{{.*}} = ff.matmul_sums
func.func @main(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>) {
  %0 = ff.matmul(%x, %dy) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> loc("dw")
  %1 = ff.reduce_sum(%dy) {axes = array<i64: 0>, keepdims = 0 : i64}
      : (tensor<8x6xf32>) -> tensor<6xf32> loc("db")
  return
}

// -----

// Strategies that do not agree.

// CHECK-LABEL: func.func @main
// CHECK-NOT: ff.matmul_sums
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x6xf32>, %z: tensor<8x6xf32>,
                %u: tensor<8x6xf32>) {
  // %y: columns of the product are split, as of the sums; but its rows, too.
  %0 = ff.matmul(%x, %y) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["k", "c", "r"],
      ff.config = #ff.config<grid = {k = 2, c = 2}, devices = [0, 1, 2, 3]>,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> loc("rows")
  %1 = ff.reduce_sum(%y) {axes = array<i64: 0>,
      ff.config = #ff.config<grid = {replica = 2, c = 2}, devices = [0, 1, 2, 3]>, keepdims = 0 : i64}
      : (tensor<8x6xf32>) -> tensor<6xf32> loc("rows_sum")
  // %z: another split.
  %2 = ff.matmul(%x, %z) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["k", "c", "r"],
      ff.config = #ff.config<grid = {r = 2}, devices = [0, 1]>,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> loc("split")
  %3 = ff.reduce_sum(%z) {axes = array<i64: 0>,
      ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>, keepdims = 0 : i64}
      : (tensor<8x6xf32>) -> tensor<6xf32> loc("split_sum")
  // %u: other devices.
  %4 = ff.matmul(%x, %u) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["k", "c", "r"],
      ff.config = #ff.config<grid = {r = 2}, devices = [0, 1]>,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> loc("devices")
  %5 = ff.reduce_sum(%u) {axes = array<i64: 0>,
      ff.config = #ff.config<grid = {n = 2}, devices = [1, 0]>, keepdims = 0 : i64}
      : (tensor<8x6xf32>) -> tensor<6xf32> loc("devices_sum")
  return
}

// -----

// Products that cannot take over.

// CHECK-LABEL: func.func @main
// CHECK-NOT: ff.matmul_sums
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x6xf32>, %z: tensor<8x6xf32>,
                %u: tensor<6x8xf32>, %v: tensor<8x6xf32>, %w: tensor<3x8x6xf32>,
                %b: tensor<6xf32>, %s: tensor<8x6xf32>) {
  // %y: needed before.
  %0 = ff.reduce_sum(%y) {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<8x6xf32>) -> tensor<6xf32> loc("early")
  %1 = ff.unary relu(%0) : tensor<6xf32> -> tensor<6xf32> loc("user")
  %2 = ff.matmul(%x, %y) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> loc("late")
  // %z: adds something.
  %3 = ff.matmul(%x, %z, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<4x6xf32> loc("adds")
  %4 = ff.reduce_sum(%z) {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<8x6xf32>) -> tensor<6xf32> loc("adds_sum")
  // %u: stored the other way round.
  %5 = ff.matmul(%x, %u) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 1 : i64}
      : (tensor<8x4xf32>, tensor<6x8xf32>) -> tensor<4x6xf32> loc("stored")
  %6 = ff.reduce_sum(%u) {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<6x8xf32>) -> tensor<8xf32> loc("stored_sum")
  // %v: lacks the batch, and has another role.
  %7 = ff.matmul(%w, %v) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<3x8x6xf32>, tensor<8x6xf32>) -> tensor<6x6xf32> loc("batch")
  %8 = ff.reduce_sum(%v) {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<8x6xf32>) -> tensor<6xf32> loc("batch_sum")
  %9 = ff.matmul(%x, %s) {alpha = 1.0 : f64, beta = 1.0 : f64, ff.role = "gradient",
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> loc("role")
  %10 = ff.reduce_sum(%s) {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<8x6xf32>) -> tensor<6xf32> loc("role_sum")
  // %w: other dimensions.
  %11 = ff.matmul(%w, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<3x8x6xf32>, tensor<3x8x6xf32>) -> tensor<6x6xf32> loc("dims")
  %12 = ff.reduce_sum(%w) {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<3x8x6xf32>) -> tensor<8x6xf32> loc("dims_sum")
  return
}
