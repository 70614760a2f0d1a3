// RUN: ffc-opt %s --recognize-patterns --split-input-file --verify-diagnostics | FileCheck %s

// Heads behind the positions, as reshapes of the layers before have them. The
// mask is added to scaled scores.
// CHECK-LABEL: @added_mask
func.func @added_mask(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x4xf32>, %m: tensor<2x1x1x6xf32>) {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = ff.attention(%arg0, %arg1, %arg2 mask %arg3) {ff.aliases = ["context", "weights", "heads"], hidden = array<f64>, scale = 5.000000e-01 : f64}
  // CHECK-NEXT: ff.output %[[Y]]
  %0 = ff.transpose(%q) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32> loc("heads")
  %1 = ff.transpose(%k) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x6x3x4xf32>) -> tensor<2x3x4x6xf32>
  %2 = ff.transpose(%v) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x6x3x4xf32>) -> tensor<2x3x6x4xf32>
  %3 = ff.matmul(%0, %1) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x5x6xf32>
  %4 = ff.unary scale(%3) alpha 0.5 : tensor<2x3x5x6xf32> -> tensor<2x3x5x6xf32>
  %5 = ff.binary add(%4, %m) : (tensor<2x3x5x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x3x5x6xf32>
  %6 = ff.softmax(%5) {axes = array<i64: 3>, log = 0 : i64} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32> loc("weights")
  %7 = ff.matmul(%6, %2) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x5x6xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x4xf32> loc("context")
  // expected-remark @below {{is the end of attention, one operator instead of 9}}
  %8 = ff.transpose(%7) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  ff.output %8 as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// No transpositions before, keys as rows, and a mask that says what is seen.
// CHECK-LABEL: @seen
func.func @seen(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x4xf32>, %m: tensor<5x6xf32>) {
  // CHECK: %[[ZERO:.*]] = ff.state "{{.*}}.zero" "constant" init <constant, 0.000000e+00
  // CHECK: %[[MASK:.*]] = ff.binary equal(%arg3, %[[ZERO]])
  // CHECK: %[[Q:.*]] = ff.transpose(%arg0) {perm = array<i64: 0, 2, 1, 3>}
  // CHECK: %[[K:.*]] = ff.transpose(%arg1) {perm = array<i64: 0, 2, 1, 3>}
  // CHECK: %[[V:.*]] = ff.transpose(%arg2) {perm = array<i64: 0, 2, 1, 3>}
  // CHECK: ff.attention(%[[Q]], %[[K]], %[[V]] mask %[[MASK]]) {{.*}}hidden = array<f64: -1.000000e+04>, scale = 1.000000e+00
  %h = ff.state "h" "constant" init <constant, -10000.0 : f64, 0> : tensor<f32>
  %0 = ff.matmul(%q, %k) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %1 = ff.select(%m, %0, %h) : (tensor<5x6xf32>, tensor<2x3x5x6xf32>, tensor<f32>) -> tensor<2x3x5x6xf32>
  %2 = ff.softmax(%1) {axes = array<i64: 3>, log = 0 : i64} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %3 = ff.matmul(%2, %v) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x5x6xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x4xf32>
  // expected-remark @below {{attention}}
  %4 = ff.transpose(%3) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  ff.output %4 as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// Some of the weights are dropped.
// CHECK-LABEL: @dropped
func.func @dropped(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x4xf32>) {
  // CHECK: ff.attention({{.*}} key = 9 : i64, ratio = 1.000000e-01 : f64
  // CHECK-NOT: ff.dropout
  %0 = ff.matmul(%q, %k) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %1 = ff.softmax(%0) {axes = array<i64: 3>, log = 0 : i64} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %2 = ff.dropout(%1) {key = 9 : i64, ratio = 0.1 : f64} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %3 = ff.matmul(%2, %v) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x5x6xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x4xf32>
  // expected-remark @below {{attention}}
  %4 = ff.transpose(%3) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  ff.output %4 as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// Weights that somebody else reads.
// CHECK-LABEL: @not_alone
// CHECK-NOT: ff.attention
func.func @not_alone(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x4xf32>) {
  %0 = ff.matmul(%q, %k) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %1 = ff.softmax(%0) {axes = array<i64: 3>, log = 0 : i64} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %2 = ff.matmul(%1, %v) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x5x6xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x4xf32>
  %3 = ff.transpose(%2) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  ff.output %1 as "out/weights" : tensor<2x3x5x6xf32>
  ff.output %3 as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// A mask that is trained.
// CHECK-LABEL: @trained_mask
// CHECK-NOT: ff.attention
func.func @trained_mask(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x4xf32>) {
  %b = ff.state "b" "parameter" init <constant, 0.0 : f64, 0> : tensor<5x6xf32>
  %0 = ff.matmul(%q, %k) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %1 = ff.binary add(%0, %b) : (tensor<2x3x5x6xf32>, tensor<5x6xf32>) -> tensor<2x3x5x6xf32>
  %2 = ff.softmax(%1) {axes = array<i64: 3>, log = 0 : i64} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %3 = ff.matmul(%2, %v) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x5x6xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x4xf32>
  %4 = ff.transpose(%3) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  ff.output %4 as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// Queries and keys may be scaled, before heads are made of them or after.
// CHECK-LABEL: @scaled_heads
func.func @scaled_heads(%q: tensor<10x12xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x4xf32>) {
  // CHECK: %[[Q:.*]] = ff.reshape(%arg0)
  // CHECK: %[[K:.*]] = ff.transpose(%arg1)
  // CHECK: ff.attention(%[[Q]], %[[K]], {{.*}}ff.aliases = ["queries", "keys"]{{.*}} scale = 1.500000e+00
  %c = ff.state "c" "constant" init <constant, 0.5 : f64, 0> : tensor<f32>
  %s = ff.unary scale(%q) alpha 3.0 : tensor<10x12xf32> -> tensor<10x12xf32> loc("queries")
  %0 = ff.reshape(%s) : (tensor<10x12xf32>) -> tensor<2x5x3x4xf32>
  %1 = ff.transpose(%0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = ff.binary mul(%k, %c) : (tensor<2x3x6x4xf32>, tensor<f32>) -> tensor<2x3x6x4xf32> loc("keys")
  %3 = ff.matmul(%1, %2) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %4 = ff.softmax(%3) {axes = array<i64: 3>, log = 0 : i64} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %5 = ff.matmul(%4, %v) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x5x6xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x4xf32>
  // expected-remark @below {{attention}}
  // expected-remark @below {{scales scores by what 'queries' scales}}
  // expected-remark @below {{scales scores by what 'keys' scales}}
  %6 = ff.transpose(%5) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  ff.output %6 as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// Somebody else reads the scaled queries.
// CHECK-LABEL: @scaled_for_others
func.func @scaled_for_others(%q: tensor<2x3x5x4xf32>) {
  // CHECK: ff.unary scale
  // CHECK: ff.attention({{.*}} scale = 1.000000e+00
  %0 = ff.unary scale(%q) alpha 3.0 : tensor<2x3x5x4xf32> -> tensor<2x3x5x4xf32>
  %1 = ff.matmul(%0, %q) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x5xf32>
  %2 = ff.softmax(%1) {axes = array<i64: 3>, log = 0 : i64} : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
  %3 = ff.matmul(%2, %q) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  // expected-remark @below {{attention}}
  %4 = ff.transpose(%3) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  ff.output %4 as "out/y" : tensor<2x5x3x4xf32>
  ff.output %0 as "out/q" : tensor<2x3x5x4xf32>
  return
}

// -----

// Weights that are no numbers become 0. A mask that is known leaves something of
// every row: there are none.
// CHECK-LABEL: @guarded_for_nothing
func.func @guarded_for_nothing(%q: tensor<2x4x6x8xf32>) {
  // CHECK: ff.attention(%{{.*}} mask %{{.*}}) {hidden
  // CHECK-NOT: ff.binary
  // CHECK: ff.output
  %m = ff.state "m" "constant" init <upper, 0xFFF0000000000000 : f64, 0> : tensor<6x6xf32>
  %o = ff.state "o" "constant" init <constant, 0.0 : f64, 0> : tensor<f32>
  %k = ff.transpose(%q) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %0 = ff.matmul(%q, %k) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %1 = ff.binary add(%0, %m) : (tensor<2x4x6x6xf32>, tensor<6x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = ff.softmax(%1) {axes = array<i64: 3>, log = 0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = ff.binary equal(%2, %2) : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %4 = ff.unary scale(%3) alpha -1.0 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %5 = ff.unary shift(%4) alpha 1.0 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %6 = ff.select(%5, %o, %2) : (tensor<2x4x6x6xf32>, tensor<f32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %7 = ff.matmul(%6, %q) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // expected-remark @below {{attention, one operator instead of 10}}
  %8 = ff.transpose(%7) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  ff.output %8 as "out/y" : tensor<2x6x4x8xf32>
  return
}

// -----

// A mask of the model's inputs may hide all of a row, whose result is 0; the
// scores of such rows are made numbers, and so are their gradients.
// CHECK-LABEL: @guarded
func.func @guarded(%q: tensor<2x4x6x8xf32>, %m: tensor<2x1x6x6xf32>) {
  // CHECK: %[[MOST:.*]] = ff.reduce_max(%arg1)
  // CHECK: %[[SEEN:.*]] = ff.binary greater_or_equal(%[[MOST]],
  // CHECK: %[[FINITE:.*]] = ff.unary clip(%arg1)
  // CHECK: %[[Y:[^,]*]], %{{.*}} = ff.attention(%{{.*}} mask %[[FINITE]])
  // CHECK: %[[ROWS:.*]] = ff.transpose(%[[SEEN]]) {{.*}} -> tensor<2x6x1x1xf32>
  // CHECK: ff.binary keep(%[[Y]], %[[ROWS]])
  %o = ff.state "o" "constant" init <constant, 0.0 : f64, 0> : tensor<f32>
  %k = ff.transpose(%q) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %0 = ff.matmul(%q, %k) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %1 = ff.binary add(%0, %m) : (tensor<2x4x6x6xf32>, tensor<2x1x6x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = ff.softmax(%1) {axes = array<i64: 3>, log = 0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = ff.binary equal(%2, %2) : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %4 = ff.unary scale(%3) alpha -1.0 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %5 = ff.unary shift(%4) alpha 1.0 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %6 = ff.select(%5, %o, %2) : (tensor<2x4x6x6xf32>, tensor<f32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %7 = ff.matmul(%6, %q) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // expected-remark @below {{attention, one operator instead of 10}}
  %8 = ff.transpose(%7) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  ff.output %8 as "out/y" : tensor<2x6x4x8xf32>
  return
}

// -----

// The rows that are 0 are given: those of a mask of infinities are made numbers
// just the same, of which gradients are numbers.
// CHECK-LABEL: @rows_given
func.func @rows_given(%q: tensor<2x4x6x8xf32>, %m: tensor<2x1x6x6xf32>, %v: tensor<2x1x6x1xf32>) {
  // CHECK-NOT: ff.reduce_max
  // CHECK: %[[FINITE:.*]] = ff.unary clip(%arg1)
  // CHECK: ff.attention(%{{.*}} mask %[[FINITE]])
  %o = ff.state "o" "constant" init <constant, 0.0 : f64, 0> : tensor<f32>
  %k = ff.transpose(%q) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %0 = ff.matmul(%q, %k) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %1 = ff.binary add(%0, %m) : (tensor<2x4x6x6xf32>, tensor<2x1x6x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = ff.softmax(%1) {axes = array<i64: 3>, log = 0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = ff.select(%v, %2, %o) : (tensor<2x1x6x1xf32>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %4 = ff.matmul(%3, %q) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // expected-remark @below {{attention, one operator instead of 7}}
  %5 = ff.transpose(%4) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  ff.output %5 as "out/y" : tensor<2x6x4x8xf32>
  return
}

// -----

// Bounded already.
// CHECK-LABEL: @rows_given_and_bounded
func.func @rows_given_and_bounded(%q: tensor<2x4x6x8xf32>, %m: tensor<2x1x6x6xf32>, %v: tensor<2x1x6x1xf32>) {
  // CHECK: %[[MAX:.*]] = ff.binary max(%arg1
  // CHECK-NOT: ff.unary clip
  // CHECK: ff.attention(%{{.*}} mask %[[MAX]])
  %o = ff.state "o" "constant" init <constant, 0.0 : f64, 0> : tensor<f32>
  %b = ff.state "b" "constant" init <constant, -1.0e+38 : f64, 0> : tensor<f32>
  %n = ff.binary max(%m, %b) : (tensor<2x1x6x6xf32>, tensor<f32>) -> tensor<2x1x6x6xf32>
  %k = ff.transpose(%q) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %0 = ff.matmul(%q, %k) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %1 = ff.binary add(%0, %n) : (tensor<2x4x6x6xf32>, tensor<2x1x6x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = ff.softmax(%1) {axes = array<i64: 3>, log = 0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = ff.select(%v, %2, %o) : (tensor<2x1x6x1xf32>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %4 = ff.matmul(%3, %q) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // expected-remark @below {{attention, one operator instead of 7}}
  %5 = ff.transpose(%4) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  ff.output %5 as "out/y" : tensor<2x6x4x8xf32>
  return
}

// -----

// Minus infinity in place of scores.
// CHECK-LABEL: @rows_given_and_replaced
func.func @rows_given_and_replaced(%q: tensor<2x4x6x8xf32>, %m: tensor<2x1x6x6xf32>, %v: tensor<2x1x6x1xf32>) {
  // CHECK: ff.attention(%{{.*}} mask %arg1) {{.*}}hidden = array<f64: -3.4028234663852886E+38>
  %o = ff.state "o" "constant" init <constant, 0.0 : f64, 0> : tensor<f32>
  %h = ff.state "h" "constant" init <constant, 0xFFF0000000000000 : f64, 0> : tensor<f32>
  %k = ff.transpose(%q) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %0 = ff.matmul(%q, %k) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %1 = ff.select(%m, %h, %0) : (tensor<2x1x6x6xf32>, tensor<f32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = ff.softmax(%1) {axes = array<i64: 3>, log = 0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = ff.select(%v, %2, %o) : (tensor<2x1x6x1xf32>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %4 = ff.matmul(%3, %q) {alpha = 1.0, beta = 1.0, trans_a = 0, trans_b = 0} : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // expected-remark @below {{attention, one operator instead of 7}}
  %5 = ff.transpose(%4) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  ff.output %5 as "out/y" : tensor<2x6x4x8xf32>
  return
}
