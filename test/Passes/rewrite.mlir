// RUN: ffc-opt %s --rewrite="rules=merge-narrow-products" --split-input-file | FileCheck %s --check-prefix=NARROW
// RUN: ffc-opt %s --rewrite="rules=merge-wide-products" --split-input-file | FileCheck %s --check-prefix=WIDE
// RUN: ffc-opt %s --rewrite="rules=move-transposes" --split-input-file | FileCheck %s --check-prefix=MOVE
// RUN: ffc-opt %s --rewrite="rules=join-sums" --split-input-file | FileCheck %s --check-prefix=JOIN
// RUN: ffc-opt %s --rewrite="rules=batch-products" --split-input-file | FileCheck %s --check-prefix=BATCH
// RUN: ffc-opt %s --ffc-recognize --rewrite="rules=merge-narrow-products,join-sums,batch-products" \
// RUN:   --ffc-train="loss=mse" --ffc-fuse --split-input-file | FileCheck %s --check-prefix=STEP
// RUN: not ffc-opt %s --rewrite="rules=merge-products" --split-input-file 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: rewrite: expected one of move-transposes, merge-narrow-products, merge-wide-products, join-sums, batch-products, found 'merge-products'

// Queries of ten columns, keys and values of five: five groups of two, one and
// one. The gradient of the operand is one product, those of the weights are
// parts of one.
// NARROW-LABEL: func.func @main
// NARROW: %[[WQ:.*]] = ff.state "wq"
// NARROW: %[[WK:.*]] = ff.state "wk"
// NARROW: %[[WV:.*]] = ff.state "wv"
// NARROW: %[[Q:.*]] = ff.reshape(%[[WQ]]) : (tensor<6x10xf32>) -> tensor<6x5x2xf32>
// NARROW: %[[K:.*]] = ff.reshape(%[[WK]]) : (tensor<6x5xf32>) -> tensor<6x5x1xf32>
// NARROW: %[[V:.*]] = ff.reshape(%[[WV]]) : (tensor<6x5xf32>) -> tensor<6x5x1xf32>
// NARROW: %[[PARTS:.*]] = ff.concat(%[[Q]], %[[K]], %[[V]]) {axis = 2 : i64} {{.*}} -> tensor<6x5x4xf32>
// NARROW: %[[W:.*]] = ff.reshape(%[[PARTS]]) : {{.*}} -> tensor<6x20xf32>
// NARROW: ff.concat{{.*}} -> tensor<5x4xf32>
// NARROW: %[[Y:.*]] = ff.matmul(%arg0, %[[W]], %{{.*}}) {{.*}} -> tensor<8x20xf32>
// NARROW-NOT: ff.matmul
// NARROW: ff.slice({{.*}}) {starts = array<i64: 0, 0, 0>} {{.*}} -> tensor<8x5x2xf32>
// NARROW: ff.slice({{.*}}) {starts = array<i64: 0, 0, 2>} {{.*}} -> tensor<8x5x1xf32>
// NARROW: ff.slice({{.*}}) {starts = array<i64: 0, 0, 3>} {{.*}} -> tensor<8x5x1xf32>
// NARROW: return
// WIDE-LABEL: func.func @main
// WIDE-COUNT-3: ff.matmul
// WIDE-NOT: ff.matmul
// WIDE: return
// STEP-LABEL: func.func @main
// STEP: ff.matmul(
// STEP-NOT: ff.matmul(
// STEP: ff.matmul_sums(
// STEP-NOT: ff.matmul
// STEP: return
func.func @main(%x: tensor<8x6xf32> {ff.name = "x"}) {
  %wq = ff.state "wq" "parameter" init <normal, 0.1 : f64, 0> : tensor<6x10xf32> loc("wq")
  %bq = ff.state "bq" "parameter" init <normal, 0.1 : f64, 0> : tensor<10xf32> loc("bq")
  %q = ff.matmul(%x, %wq, %bq) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x6xf32>, tensor<6x10xf32>, tensor<10xf32>) -> tensor<8x10xf32> loc("q")
  %wk = ff.state "wk" "parameter" init <normal, 0.1 : f64, 0> : tensor<6x5xf32> loc("wk")
  %bk = ff.state "bk" "parameter" init <normal, 0.1 : f64, 0> : tensor<5xf32> loc("bk")
  %k = ff.matmul(%x, %wk, %bk) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x6xf32>, tensor<6x5xf32>, tensor<5xf32>) -> tensor<8x5xf32> loc("k")
  %wv = ff.state "wv" "parameter" init <normal, 0.1 : f64, 0> : tensor<6x5xf32> loc("wv")
  %bv = ff.state "bv" "parameter" init <normal, 0.1 : f64, 0> : tensor<5xf32> loc("bv")
  %v = ff.matmul(%x, %wv, %bv) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x6xf32>, tensor<6x5xf32>, tensor<5xf32>) -> tensor<8x5xf32> loc("v")
  %y = ff.concat(%q, %k, %v) {axis = 1 : i64} : (tensor<8x10xf32>, tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<8x20xf32> loc("y")
  ff.output %y as "out/y" : tensor<8x20xf32>
  return
}

// -----

// The halves of a gated layer are wide: ten columns of two. Another one of the
// same operand that is not trained, and one with a bias, stay apart.
// NARROW-LABEL: func.func @main
// NARROW-COUNT-4: ff.matmul
// NARROW-NOT: ff.matmul
// NARROW: return
// WIDE-LABEL: func.func @main
// WIDE: ff.matmul{{.*}} -> tensor<4x20xf32>
// WIDE: ff.matmul{{.*}} -> tensor<4x10xf32>
// WIDE: ff.matmul{{.*}} -> tensor<4x10xf32>
// WIDE-NOT: ff.matmul
// WIDE: return
func.func @main(%x: tensor<4x2xf32> {ff.name = "x"}) {
  %wg = ff.state "wg" "parameter" init <normal, 0.1 : f64, 0> : tensor<10x2xf32> loc("wg")
  %wu = ff.state "wu" "parameter" init <normal, 0.1 : f64, 0> : tensor<10x2xf32> loc("wu")
  %wf = ff.state "wf" "constant" init <normal, 0.1 : f64, 0> : tensor<10x2xf32> loc("wf")
  %wb = ff.state "wb" "parameter" init <normal, 0.1 : f64, 0> : tensor<10x2xf32> loc("wb")
  %b = ff.state "b" "parameter" init <normal, 0.1 : f64, 0> : tensor<10xf32> loc("b")
  %g = ff.matmul(%x, %wg) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<4x2xf32>, tensor<10x2xf32>) -> tensor<4x10xf32> loc("g")
  %u = ff.matmul(%x, %wu) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<4x2xf32>, tensor<10x2xf32>) -> tensor<4x10xf32> loc("u")
  %f = ff.matmul(%x, %wf) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<4x2xf32>, tensor<10x2xf32>) -> tensor<4x10xf32> loc("f")
  %c = ff.matmul(%x, %wb, %b) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<4x2xf32>, tensor<10x2xf32>, tensor<10xf32>) -> tensor<4x10xf32> loc("c")
  %0 = ff.binary mul(%g, %u) : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32> loc("0")
  %1 = ff.binary mul(%f, %c) : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32> loc("1")
  %y = ff.binary mul(%0, %1) : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32> loc("y")
  ff.output %y as "out/y" : tensor<4x10xf32>
  return
}

// -----

// A row of every position is multiplied where the positions are now. What
// somebody else needs as it was stays, and so does a transposition that would
// only be another one.
// MOVE-LABEL: func.func @main
// MOVE: %[[STATE:.*]] = ff.state "rows"
// MOVE: %[[ROWS:.*]] = ff.reshape(%[[STATE]]) : (tensor<3x4xf32>) -> tensor<1x3x1x4xf32>
// MOVE: %[[Z:.*]] = ff.binary mul(%arg0, %[[ROWS]]) {{.*}} -> tensor<2x3x5x4xf32>
// MOVE: ff.output %[[Z]] as "out/z"
// MOVE: ff.transpose(%arg0)
// MOVE: ff.unary tanh
// MOVE: ff.transpose
// MOVE: return
func.func @main(%x: tensor<2x3x5x4xf32> {ff.name = "x"}) {
  %rows = ff.state "rows" "parameter" init <normal, 0.1 : f64, 0> : tensor<3x4xf32> loc("rows")
  %a = ff.transpose(%x) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32> loc("a")
  %b = ff.binary mul(%a, %rows) : (tensor<2x5x3x4xf32>, tensor<3x4xf32>) -> tensor<2x5x3x4xf32> loc("b")
  %z = ff.transpose(%b) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32> loc("z")
  ff.output %z as "out/z" : tensor<2x3x5x4xf32>
  %c = ff.transpose(%x) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32> loc("c")
  %d = ff.unary tanh(%c) : tensor<2x5x3x4xf32> -> tensor<2x5x3x4xf32> loc("d")
  ff.output %d as "out/d" : tensor<2x5x3x4xf32>
  %e = ff.transpose(%d) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32> loc("e")
  ff.output %e as "out/e" : tensor<2x3x5x4xf32>
  return
}

// -----

// The layers behind attention and a gated layer that are side by side.
// JOIN-LABEL: func.func @main
// JOIN: %[[A:.*]] = ff.concat({{.*}}) {axis = 2 : i64} {{.*}} -> tensor<8x2x5xf32>
// JOIN: %[[B:.*]] = ff.concat({{.*}}) {axis = 1 : i64} {{.*}} -> tensor<2x5x3xf32>
// JOIN: %[[Y:.*]] = ff.matmul({{.*}} : (tensor<8x10xf32>, tensor<10x3xf32>, tensor<3xf32>)
// JOIN: ff.binary add(%[[Y]], %arg2)
// JOIN-NOT: ff.matmul
// JOIN: return
func.func @main(%x: tensor<8x4xf32> {ff.name = "x"}, %z: tensor<8x6xf32> {ff.name = "z"}, %r: tensor<8x3xf32> {ff.name = "r"}) {
  %w = ff.state "w" "parameter" init <normal, 0.1 : f64, 0> : tensor<4x3xf32> loc("w")
  %v = ff.state "v" "parameter" init <normal, 0.1 : f64, 0> : tensor<6x3xf32> loc("v")
  %b = ff.state "b" "parameter" init <normal, 0.1 : f64, 0> : tensor<3xf32> loc("b")
  %p = ff.matmul(%x, %w, %b) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<8x3xf32> loc("p")
  %q = ff.matmul(%z, %v) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32> loc("q")
  %s = ff.binary add(%r, %p) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32> loc("s")
  %y = ff.binary add(%s, %q) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32> loc("y")
  ff.output %y as "out/y" : tensor<8x3xf32>
  return
}

// -----

// Two experts, one after the other in the text; a layer that needs the first
// one is in no batch with it. Outputs stay in their order: the first one has the
// loss.
// BATCH-LABEL: func.func @main
// BATCH: ff.matmul({{.*}} : (tensor<2x8x4xf32>, tensor<2x4x4xf32>) -> tensor<2x8x4xf32>
// BATCH: ff.matmul({{.*}} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
// BATCH-NOT: ff.matmul
// BATCH: ff.output %{{.*}} as "out/y"
// BATCH-NEXT: ff.output %{{.*}} as "out/m"
// BATCH-NEXT: return
func.func @main(%x: tensor<8x4xf32> {ff.name = "x"}, %z: tensor<8x4xf32> {ff.name = "z"}) {
  %w = ff.state "w" "parameter" init <normal, 0.1 : f64, 0> : tensor<4x4xf32> loc("w")
  %p = ff.matmul(%x, %w) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("p")
  %u = ff.state "u" "parameter" init <normal, 0.1 : f64, 0> : tensor<4x4xf32> loc("u")
  %n = ff.matmul(%p, %u) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("n")
  %m = ff.unary tanh(%z) : tensor<8x4xf32> -> tensor<8x4xf32> loc("m")
  %v = ff.state "v" "parameter" init <normal, 0.1 : f64, 0> : tensor<4x4xf32> loc("v")
  %q = ff.matmul(%m, %v) {alpha = 1.0, beta = 1.0, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("q")
  %y = ff.binary mul(%n, %q) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> loc("y")
  ff.output %y as "out/y" : tensor<8x4xf32>
  ff.output %m as "out/m" : tensor<8x4xf32>
  return
}
