// RUN: ffc-opt %s --split-input-file --fuse-elementwise --mlir-use-nameloc-as-prefix | FileCheck %s

// A chain becomes one operator with the name of its last member.

// CHECK: %relu = ff.fused(%arg0, %arg1) attributes {ff.aliases = ["relu_out", "add", "add_out"]} {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<16xf32>):
// CHECK-NEXT:   %add = ff.binary add(%[[A]], %[[B]]) : (tensor<8x16xf32>, tensor<16xf32>)
// CHECK-NEXT:   %[[T:.*]] = ff.unary relu(%add) : tensor<8x16xf32>
// CHECK-NEXT:   ff.yield %[[T]] : tensor<8x16xf32>
// CHECK-NEXT: } : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: ff.output %relu as "out/y"
func.func @main(%x: tensor<8x16xf32>, %b: tensor<16xf32>) {
  %0 = ff.binary add(%x, %b) {ff.aliases = ["add_out"]}
      : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32> loc("add")
  %1 = ff.unary relu(%0) {ff.aliases = ["relu_out"]}
      : tensor<8x16xf32> -> tensor<8x16xf32> loc("relu")
  ff.output %1 as "out/y" : tensor<8x16xf32>
  return
}

// -----

// What others need as well becomes another result; they follow the operator.
// Operators fuse into a graph, not only a chain.

// CHECK: %mul:2 = ff.fused(%arg0) attributes {ff.aliases = ["c", "b", "a"]} {
// CHECK:   %a = ff.unary exp
// CHECK:   %b = ff.unary relu(%a)
// CHECK:   %c = ff.unary tanh(%a)
// CHECK:   %[[M:.*]] = ff.binary mul(%b, %c)
// CHECK:   ff.yield %[[M]], %a
// CHECK: ff.dropout(%mul#1)
// CHECK: ff.output %mul#0
func.func @main(%x: tensor<8x16xf32>) {
  %a = ff.unary exp(%x) : tensor<8x16xf32> -> tensor<8x16xf32> loc("a")
  %b = ff.unary relu(%a) : tensor<8x16xf32> -> tensor<8x16xf32> loc("b")
  %c = ff.unary tanh(%a) : tensor<8x16xf32> -> tensor<8x16xf32> loc("c")
  %d = ff.dropout(%a) {key = 1, ratio = 0.5}
      : (tensor<8x16xf32>) -> tensor<8x16xf32> loc("d")
  %m = ff.binary mul(%b, %c)
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("mul")
  ff.output %m as "out/m" : tensor<8x16xf32>
  ff.output %d as "out/d" : tensor<8x16xf32>
  return
}

// -----

// The consumer needs the producer through another operator as well: no cycles.

// CHECK: %a = ff.unary exp
// CHECK-NEXT: %d = ff.dropout(%a)
// CHECK-NEXT: %mul = ff.binary mul(%a, %d)
func.func @main(%x: tensor<8x16xf32>) {
  %a = ff.unary exp(%x) : tensor<8x16xf32> -> tensor<8x16xf32> loc("a")
  %d = ff.dropout(%a) {key = 1, ratio = 0.5}
      : (tensor<8x16xf32>) -> tensor<8x16xf32> loc("d")
  %m = ff.binary mul(%a, %d)
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("mul")
  ff.output %m as "out/m" : tensor<8x16xf32>
  return
}

// -----

// A small tensor is computed once, outside the operator that broadcasts it.

// CHECK: %bias = ff.unary exp(%arg1) : tensor<16xf32>
// CHECK-NEXT: %tanh = ff.fused(%arg0, %bias)
func.func @main(%x: tensor<8x16xf32>, %b: tensor<16xf32>) {
  %0 = ff.unary exp(%b) : tensor<16xf32> -> tensor<16xf32> loc("bias")
  %1 = ff.binary add(%x, %0)
      : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32> loc("add")
  %2 = ff.unary tanh(%1) : tensor<8x16xf32> -> tensor<8x16xf32> loc("tanh")
  ff.output %2 as "out/y" : tensor<8x16xf32>
  return
}

// -----

// Other configurations are a border; one that splits nothing more is not. What
// has none takes that of what it is merged with.

// CHECK: %b = ff.fused(%arg0) attributes {ff.aliases = ["a"], ff.config = #ff.config<grid = {n = 2, c = 1}, devices = [0, 1]>}
// CHECK: %d = ff.fused(%b) attributes {ff.aliases = ["c"], ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>}
func.func @main(%x: tensor<8x16xf32>) {
  %a = ff.unary exp(%x) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : tensor<8x16xf32> -> tensor<8x16xf32> loc("a")
  %b = ff.unary relu(%a) {ff.config = #ff.config<grid = {n = 2, c = 1}, devices = [0, 1]>}
      : tensor<8x16xf32> -> tensor<8x16xf32> loc("b")
  %c = ff.unary tanh(%b) {ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>}
      : tensor<8x16xf32> -> tensor<8x16xf32> loc("c")
  %d = ff.unary sigmoid(%c) : tensor<8x16xf32> -> tensor<8x16xf32> loc("d")
  ff.output %d as "out/y" : tensor<8x16xf32>
  return
}

// -----

// Forward and gradient operators stay apart. Owners are called by their new
// names, and slots through which configurations carry over are those of the new
// operators.

// CHECK: %b:2 = ff.fused(%arg1, %arg0) attributes {ff.aliases = ["a"]}
// CHECK: %g2 = ff.fused(%arg0, %arg1, %b#0, %b#1)
// CHECK-SAME: ff.aliases = ["g1", "sum"], ff.owner = "b", ff.role = "gradient"
// CHECK: ff.update sgd
// CHECK-SAME: ff.carry = array<i64: 3, 0>, ff.owner = "b", ff.role = "update"
func.func @main(%x: tensor<8x16xf32>, %w: tensor<8x16xf32>) {
  %a = ff.binary add(%w, %x)
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("a")
  %b = ff.unary relu(%a) : tensor<8x16xf32> -> tensor<8x16xf32> loc("b")
  ff.output %b as "out/y" : tensor<8x16xf32>
  %s = ff.binary add(%x, %w) {ff.carry = array<i64: 1, 0>, ff.owner = "b",
      ff.role = "gradient"}
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("sum")
  %g1 = ff.unary_backward relu(%s, %b) {ff.owner = "b", ff.role = "gradient"}
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("g1")
  %g2 = ff.binary mul(%g1, %a) {ff.owner = "a", ff.role = "gradient"}
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("g2")
  %u = ff.update sgd(%w, %g2) {ff.carry = array<i64: 2, 0>, ff.owner = "a",
      ff.role = "update", hyper = array<f64: 0.0, 0.0>}
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("u")
  return
}

// -----

// A cast that narrows is part of what makes its operand, whose name stays. One
// that widens, or narrows what no such operator makes, is not.

// CHECK: %[[X:.*]] = ff.cast(%arg0)
// CHECK: %h:2 = ff.fused(%arg1) attributes {ff.aliases = ["h16"], ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.owner = "layer", ff.role = "gradient"} {
// CHECK: %[[H:.*]] = ff.unary relu
// CHECK-NEXT: %[[N:.*]] = ff.cast(%[[H]])
// CHECK-NEXT: ff.yield %[[N]], %[[H]] : tensor<8x16xbf16>, tensor<8x16xf32>
// CHECK: ff.cast(%h#0) : (tensor<8x16xbf16>) -> tensor<8x16xf32>
// CHECK: ff.output %h#1 as "out/h"
func.func @main(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) {
  %0 = ff.cast(%x) : (tensor<8x16xf32>) -> tensor<8x16xbf16> loc("x16")
  ff.output %0 as "out/x" : tensor<8x16xbf16>
  %1 = ff.unary relu(%y) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>,
      ff.owner = "layer", ff.role = "gradient"} : tensor<8x16xf32> -> tensor<8x16xf32> loc("h")
  %2 = ff.cast(%1) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>, ff.role = "gradient"}
      : (tensor<8x16xf32>) -> tensor<8x16xbf16> loc("h16")
  %3 = ff.cast(%2) : (tensor<8x16xbf16>) -> tensor<8x16xf32> loc("wide")
  ff.output %3 as "out/z" : tensor<8x16xf32>
  ff.output %1 as "out/h" : tensor<8x16xf32>
  return
}

// -----

// Split in another way, it stays apart.

// CHECK-NOT: ff.fused
// CHECK: ff.output
func.func @main(%y: tensor<8x16xf32>) {
  %1 = ff.unary relu(%y) {ff.config = #ff.config<grid = {n = 2}, devices = [0, 1]>}
      : tensor<8x16xf32> -> tensor<8x16xf32> loc("h")
  %2 = ff.cast(%1) {ff.config = #ff.config<grid = {c = 2}, devices = [0, 1]>}
      : (tensor<8x16xf32>) -> tensor<8x16xbf16> loc("h16")
  ff.output %2 as "out/h" : tensor<8x16xbf16>
  return
}

// -----

// What reads a state where its consumer was reads it before it is updated: the
// update follows, and what keeps its result.

// CHECK: %w = ff.state "w"
// CHECK: %dw = ff.reduce_sum
// CHECK-NEXT: %sum = ff.reduce_sum
// CHECK-NEXT: %dh = ff.fused(%{{.*}}, %w, %sum)
// CHECK: %new = ff.update sgd(%w, %dw)
// CHECK-NEXT: ff.store %new to "w"
// CHECK-NEXT: ff.output %dh
func.func @main(%dy: tensor<8x16xf32>) {
  %w = ff.state "w" "parameter" init <constant, 1.0 : f64, 0> : tensor<16xf32> loc("w")
  %0 = ff.binary mul(%dy, %w) {ff.role = "gradient"}
      : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32> loc("scaled")
  %1 = ff.reduce_sum(%dy) {axes = array<i64: 0>, ff.role = "gradient", keepdims = 0 : i64}
      : (tensor<8x16xf32>) -> tensor<16xf32> loc("dw")
  %2 = ff.update sgd(%w, %1) {ff.role = "update", hyper = array<f64: 0.0, 0.0>}
      : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> loc("new")
  ff.store %2 to "w" : tensor<16xf32>
  %3 = ff.reduce_sum(%dy) {axes = array<i64: 1>, ff.role = "gradient", keepdims = 1 : i64}
      : (tensor<8x16xf32>) -> tensor<8x1xf32> loc("sum")
  %4 = ff.binary sub(%0, %3) {ff.role = "gradient"}
      : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32> loc("dh")
  ff.output %4 as "out/dh" : tensor<8x16xf32>
  return
}

// -----

// What widens an operand within an operator is called after it. What belongs to
// the operator that makes the operand does so still.

// CHECK-LABEL: @main(%arg0: tensor<8x16xbf16>
// CHECK: ff.reshape(%arg0)
// CHECK: ff.fused({{.*}}ff.owner = "h", ff.role = "gradient"
func.func @main(%x: tensor<8x16xbf16>) {
  %h = ff.reshape(%x) : (tensor<8x16xbf16>) -> tensor<16x8xbf16> loc("h")
  %s = ff.fused(%h) attributes {ff.owner = "h", ff.role = "gradient"} {
  ^bb0(%a: tensor<16x8xbf16>):
    %wide = ff.cast(%a) : (tensor<16x8xbf16>) -> tensor<16x8xf32> loc("h")
    %c = ff.unary relu(%wide) : tensor<16x8xf32> -> tensor<16x8xf32> loc("c")
    ff.yield %c : tensor<16x8xf32>
  } : (tensor<16x8xbf16>) -> tensor<16x8xf32> loc("s")
  ff.output %s as "out/y" : tensor<16x8xf32>
  return
}

// -----

// An operator inside whose value the model gives, too, by an output of its name:
// what belonged to it follows it all the same.

// CHECK-LABEL: @main(%arg0: tensor<8x16xf32>
// CHECK: ff.fused({{.*}}ff.aliases = ["b", "a"]
// CHECK: ff.unary_backward tanh{{.*}}ff.owner = "b", ff.role = "gradient"
func.func @main(%x: tensor<8x16xf32>, %dy: tensor<8x16xf32>) {
  %a = ff.unary tanh(%x) {ff.aliases = ["a"]} : tensor<8x16xf32> -> tensor<8x16xf32> loc("a")
  %b = ff.unary relu(%a) {ff.aliases = ["b"]} : tensor<8x16xf32> -> tensor<8x16xf32> loc("b")
  ff.output %b as "out/b" : tensor<8x16xf32> loc("b")
  ff.output %a as "out/a" : tensor<8x16xf32> loc("a")
  %g = ff.unary_backward tanh(%dy, %a) {ff.owner = "a", ff.role = "gradient"}
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("g")
  ff.output %g as "grad/x" : tensor<8x16xf32>
  return
}
