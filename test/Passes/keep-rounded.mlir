// Updates round parameters that products read rounded in the next step.

// RUN: ffc-opt %s --keep-rounded | FileCheck %s

#zeros = #ff.init<constant, 0.0 : f64, 0>
#file = #ff.init<file, 0.0 : f64, 64>

// CHECK-LABEL: @main
func.func @main(%x: tensor<8x4xbf16>, %g: tensor<4x6xf32>) {
  // CHECK: %[[W:.*]] = ff.state "w" "parameter" init
  %w = ff.state "w" "parameter" init #file : tensor<4x6xf32> loc("w")
  // CHECK-NEXT: %[[COPY:.*]] = ff.state "w.bf16" "copy" of "w" init <file, 0.000000e+00 : f64, 64> : tensor<4x6xbf16>
  // CHECK-NEXT: ff.state "w/momentum"
  %v = ff.state "w/momentum" "slot" init #zeros : tensor<4x6xf32> loc("v")
  // A parameter that nothing updates, and a statistic.
  // CHECK-NEXT: %[[FROZEN:.*]] = ff.state "frozen"
  %frozen = ff.state "frozen" "parameter" init #zeros : tensor<4x6xf32> loc("frozen")
  // CHECK-NEXT: %[[MEAN:.*]] = ff.state "mean"
  %mean = ff.state "mean" "statistic" init #zeros : tensor<4x6xf32> loc("mean")
  %0 = ff.cast(%w) : (tensor<4x6xf32>) -> tensor<4x6xbf16> loc("w.bf16")
  // CHECK-NEXT: %[[F:.*]] = ff.cast(%[[FROZEN]])
  %1 = ff.cast(%frozen) : (tensor<4x6xf32>) -> tensor<4x6xbf16> loc("frozen.bf16")
  // CHECK-NEXT: %[[M:.*]] = ff.cast(%[[MEAN]])
  %2 = ff.cast(%mean) : (tensor<4x6xf32>) -> tensor<4x6xbf16> loc("mean.bf16")
  // CHECK: ff.matmul(%{{.*}}, %[[COPY]])
  %3 = ff.matmul(%x, %0) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xf32> loc("y")
  // CHECK: ff.matmul(%{{.*}}, %[[F]])
  %4 = ff.matmul(%x, %1) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xf32> loc("z")
  // CHECK: ff.matmul(%{{.*}}, %[[M]])
  %5 = ff.matmul(%x, %2) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xf32> loc("a")
  // CHECK: ff.matmul(%{{.*}}, %[[COPY]])
  %6 = ff.matmul(%x, %0) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xf32> loc("b")
  // CHECK: %[[NEW:.*]], %[[OTHERS:.*]]:2 = ff.update sgd(%[[W]], %{{.*}} slots %{{.*}}) {ff.role = "update", hyper = array<f64: 9.000000e-01, 0.000000e+00>} : {{.*}} -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xbf16>)
  %7:2 = ff.update sgd(%w, %g slots %v) {ff.role = "update", hyper = array<f64: 0.9, 0.0>}
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) loc("w.update")
  // CHECK-NEXT: ff.store %[[NEW]] to "w"
  ff.store %7#0 to "w" {ff.role = "update"} : tensor<4x6xf32> loc("w")
  // CHECK-NEXT: ff.store %[[OTHERS]]#1 to "w.bf16" {ff.role = "update"} : tensor<4x6xbf16>
  // CHECK-NEXT: ff.store %[[OTHERS]]#0 to "w/momentum"
  ff.store %7#1 to "w/momentum" {ff.role = "update"} : tensor<4x6xf32> loc("v")
  // CHECK-NEXT: ff.store %[[MEAN]] to "mean"
  ff.store %mean to "mean" : tensor<4x6xf32> loc("mean")
  return
}
