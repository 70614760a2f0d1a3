// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @matmul
func.func @matmul(%a: tensor<8x16xf32>, %b: tensor<10x16xf32>,
                  %c: tensor<10xf32>, %s: tensor<f32>) {
  // CHECK: ff.matmul(%{{.*}}, %{{.*}}, %{{.*}}) {alpha = 1.000000e+00 : f64, beta = 5.000000e-01 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 0.5 : f64,
      trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x16xf32>, tensor<10x16xf32>, tensor<10xf32>)
      -> tensor<8x10xf32>
  // CHECK: ff.matmul(%{{.*}}, %{{[^,]*}}) {alpha = 1.000000e+00 : f64, beta = 1.000000e+00 : f64, dim_names = ["c", "k", "n"]
  %db = ff.matmul(%y, %a) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["c", "k", "n"], trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x10xf32>, tensor<8x16xf32>) -> tensor<10x16xf32>
  // CHECK: ff.matmul({{.*}}tensor<f32>)
  %z = ff.matmul(%a, %b, %s) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x16xf32>, tensor<10x16xf32>, tensor<f32>) -> tensor<8x10xf32>
  return
}

// Batches: heads, a linear layer, its weight gradient (summed over the batch).
// CHECK-LABEL: @batches
func.func @batches(%q: tensor<8x12x5x16xf32>, %k: tensor<8x12x7x16xf32>,
                   %x: tensor<8x5x16xf32>, %w: tensor<16x10xf32>) {
  // CHECK: ff.matmul({{.*}}) -> tensor<8x12x5x7xf32>
  %s = ff.matmul(%q, %k) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x12x5x16xf32>, tensor<8x12x7x16xf32>) -> tensor<8x12x5x7xf32>
  // CHECK: ff.matmul({{.*}}) -> tensor<8x5x10xf32>
  %y = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x5x16xf32>, tensor<16x10xf32>) -> tensor<8x5x10xf32>
  // CHECK: ff.matmul({{.*}}) {{.*}}dim_names = ["n", "k", "c", "r"]{{.*}} -> tensor<16x10xf32>
  %dw = ff.matmul(%x, %y) {alpha = 1.0 : f64, beta = 1.0 : f64,
      dim_names = ["n", "k", "c", "r"], trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x5x16xf32>, tensor<8x5x10xf32>) -> tensor<16x10xf32>
  return
}

// With GELU, and with its gradient.
// CHECK-LABEL: @gelu
func.func @gelu(%x: tensor<8x16xf32>, %w: tensor<10x16xf32>, %b: tensor<10xf32>,
                %dy: tensor<8x4xbf16>, %v: tensor<4x10xbf16>,
                %s: tensor<8x10xbf16>) {
  // CHECK: %{{.*}}, %{{.*}} = ff.matmul_gelu(%{{.*}}, %{{.*}}, %{{.*}}) {trans_a = 0 : i64, trans_b = 1 : i64} : (tensor<8x16xf32>, tensor<10x16xf32>, tensor<10xf32>) -> (tensor<8x10xf32>, tensor<8x10xf32>)
  %z, %y = ff.matmul_gelu(%x, %w, %b) {trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x16xf32>, tensor<10x16xf32>, tensor<10xf32>)
      -> (tensor<8x10xf32>, tensor<8x10xf32>)
  // CHECK: ff.matmul_gelu(%{{.*}}, %{{.*}}) {{{.*}}} : (tensor<8x16xf32>, tensor<10x16xf32>)
  %u, %t = ff.matmul_gelu(%x, %w) {trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x16xf32>, tensor<10x16xf32>) -> (tensor<8x10xf32>, tensor<8x10xf32>)
  // CHECK: ff.matmul_gelu_backward(%{{.*}}, %{{.*}}, %{{.*}}) {trans_a = 0 : i64, trans_b = 0 : i64} : (tensor<8x4xbf16>, tensor<4x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %dz = ff.matmul_gelu_backward(%dy, %v, %s) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xbf16>, tensor<4x10xbf16>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  return
}

// The gradients of weights and bias at once.
// CHECK-LABEL: @sums
func.func @sums(%x: tensor<8x5x16xbf16>, %dy: tensor<8x5x10xbf16>) {
  // CHECK: ff.matmul_sums(%{{.*}}, %{{.*}}) {alpha = 1.000000e+00 : f64, sums_of = 1 : i64, trans_a = 1 : i64, trans_b = 0 : i64} : (tensor<8x5x16xbf16>, tensor<8x5x10xbf16>) -> (tensor<16x10xf32>, tensor<10xf32>)
  %dw, %db = ff.matmul_sums(%x, %dy) {alpha = 1.0 : f64, sums_of = 1 : i64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x5x16xbf16>, tensor<8x5x10xbf16>) -> (tensor<16x10xf32>, tensor<10xf32>)
  return
}
