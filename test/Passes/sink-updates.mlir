// RUN: ffc-opt %s --sink-updates --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: ffc-opt %s --sink-updates=micro-batches=4 \
// RUN:   | FileCheck %s --check-prefix=MICRO --implicit-check-not=ff.micro_batches
// RUN: ffc-opt %s --sink-updates | FileCheck %s --check-prefix=ONE --implicit-check-not=ff.micro_batches

// What belongs to an update, and what uses it, comes last; the order is kept.

// MICRO: attributes {ff.micro_batches = 4 : i64}
// ONE: func.func

// CHECK: %dh = ff.unary relu
// CHECK-NEXT: %dx = ff.unary relu
// CHECK-NEXT: ff.output %dx
// CHECK-NEXT: %new2 = ff.binary sub
// CHECK-NEXT: ff.output %new2
// CHECK-NEXT: %new1 = ff.binary sub
// CHECK-NEXT: return
func.func @main(%w1: tensor<4xf32>, %w2: tensor<4xf32>, %dy: tensor<4xf32>) {
  %0 = ff.unary relu(%dy) {ff.role = "gradient"} : tensor<4xf32> -> tensor<4xf32> loc("dh")
  %1 = ff.binary sub(%w2, %0) {ff.role = "update"}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("new2")
  ff.output %1 as "param/w2" : tensor<4xf32>
  %2 = ff.unary relu(%0) {ff.role = "gradient"} : tensor<4xf32> -> tensor<4xf32> loc("dx")
  %3 = ff.binary sub(%w1, %2) {ff.role = "update"}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("new1")
  ff.output %2 as "grad/x" : tensor<4xf32>
  return
}
