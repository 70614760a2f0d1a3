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
