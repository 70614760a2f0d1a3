// RUN: ffc-opt %s --ff-evaluate --split-input-file | FileCheck %s
// RUN: ffc-opt %s --ff-evaluate=loss=mse --split-input-file | FileCheck %s --check-prefix=NUMBERS
// RUN: ffc-opt %s --ff-evaluate=loss=bce --split-input-file | FileCheck %s --check-prefix=LOGITS

// Running statistics in place of those of the batch; nothing is dropped, and nothing stored.
// CHECK-LABEL: @main
// CHECK-SAME: attributes {ff.rows = "classes"}
// NUMBERS: attributes {ff.rows = "numbers"}
// LOGITS: attributes {ff.rows = "logits"}
func.func @main(%x: tensor<4x3xf32> {ff.name = "x"}) {
  // CHECK-DAG: %[[SCALE:.*]] = ff.state "scale"
  // CHECK-DAG: %[[BIAS:.*]] = ff.state "bias"
  // CHECK-DAG: %[[MEAN:.*]] = ff.state "mean"
  // CHECK-DAG: %[[VAR:.*]] = ff.state "var"
  %scale = ff.state "scale" "parameter" init <constant, 1.0 : f64, 0> : tensor<3xf32>
  %bias = ff.state "bias" "parameter" init <constant, 0.0 : f64, 0> : tensor<3xf32>
  %mean = ff.state "mean" "statistic" init <constant, 0.0 : f64, 0> : tensor<3xf32>
  %var = ff.state "var" "statistic" init <constant, 1.0 : f64, 0> : tensor<3xf32>
  // CHECK-NOT: ff.normalize
  // CHECK: %[[SHIFTED:.*]] = ff.unary shift(%[[VAR]]) alpha 1.000000e-05
  // CHECK: %[[DEVIATION:.*]] = ff.unary sqrt(%[[SHIFTED]])
  // CHECK: %[[FACTOR:.*]] = ff.binary div(%[[SCALE]], %[[DEVIATION]])
  // CHECK: %[[CENTRED:.*]] = ff.binary sub(%{{.*}}, %[[MEAN]])
  // CHECK: %[[SCALED:.*]] = ff.binary mul(%[[CENTRED]], %[[FACTOR]])
  // CHECK: %[[Y:.*]] = ff.binary add(%[[SCALED]], %[[BIAS]])
  %y, %m, %v = ff.normalize(%x scale %scale bias %bias) {axes = array<i64: 0>, epsilon = 1.0e-5 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %km = ff.unary scale(%mean) alpha 0.9 {ff.role = "update"} : tensor<3xf32> -> tensor<3xf32>
  %am = ff.unary scale(%m) alpha 0.1 {ff.role = "update"} : tensor<3xf32> -> tensor<3xf32>
  %nm = ff.binary add(%km, %am) {ff.role = "update"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  ff.store %nm to "mean" : tensor<3xf32>
  %kv = ff.unary scale(%var) alpha 0.9 {ff.role = "update"} : tensor<3xf32> -> tensor<3xf32>
  %av = ff.unary scale(%v) alpha 0.1 {ff.role = "update"} : tensor<3xf32> -> tensor<3xf32>
  %nv = ff.binary add(%kv, %av) {ff.role = "update"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  ff.store %nv to "var" : tensor<3xf32>
  // CHECK-NOT: ff.dropout
  // CHECK-NOT: ff.store
  %d = ff.dropout(%y) {key = 1 : i64, ratio = 5.0e-1 : f64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[LOGS:.*]] = ff.softmax(%[[Y]]) {axes = array<i64: 1>, log = 1 : i64}
  // CHECK: ff.gather_elements(%[[LOGS]], %{{.*}}) {axis = 1 : i64}
  // CHECK: ff.output %{{.*}} as "rows/loss" : tensor<4xf32>
  // CHECK: %{{.*}}, %[[INDEX:.*]] = ff.top_k(%[[Y]]) {axis = 1 : i64, largest = 1 : i64}
  // CHECK: ff.output %[[INDEX]] as "rows/top" : tensor<4x3xi64>
  // CHECK: ff.output %{{.*}} as "rows/target" : tensor<4xi32>
  // CHECK-NOT: out/y
  // NUMBERS: ff.output %{{.*}} as "rows/prediction" : tensor<4x3xf32>
  // NUMBERS: ff.output %{{.*}} as "rows/target" : tensor<4x3xf32>
  ff.output %d as "out/y" : tensor<4x3xf32>
  return
}

// -----

// Classes in front of positions come last, five of them; attention drops nothing.
// CHECK-LABEL: @main
func.func @main(%q: tensor<2x7x3x4xf32> {ff.name = "x"}) {
  // CHECK: ff.attention
  // CHECK-NOT: ratio = 5
  %y, %l = ff.attention(%q, %q, %q) {hidden = array<f64>, key = 3 : i64, ratio = 5.0e-1 : f64, scale = 0.5 : f64}
      : (tensor<2x7x3x4xf32>, tensor<2x7x3x4xf32>, tensor<2x7x3x4xf32>) -> (tensor<2x7x3x4xf32>, tensor<2x3x7xf32>)
  // CHECK: ff.transpose(%{{.*}}) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x5x3x4xi64>) -> tensor<2x3x4x5xi64>
  // CHECK: ff.output %{{.*}} as "rows/target" : tensor<2x3x4xi32>
  ff.output %y as "out/y" : tensor<2x7x3x4xf32>
  return
}
