// RUN: ffc-opt %s --ff-differentiate | FileCheck %s --check-prefix=LAST
// RUN: ffc-opt %s --ff-differentiate="class-axis=1" | FileCheck %s --check-prefix=ONE
// RUN: ffc-opt %s --ff-differentiate="class-axis=-2" | FileCheck %s --check-prefix=ONE
// RUN: not ffc-opt %s --ff-differentiate="class-axis=3" 2>&1 | FileCheck %s --check-prefix=OUT

// Of sequences the classes come last; a flag says otherwise.

// LAST: tensor<2x5xi32> {ff.name = "target"}
// LAST: ff.cross_entropy({{.*}}) {axis = 2
// ONE: tensor<2x7xi32> {ff.name = "target"}
// ONE: ff.cross_entropy({{.*}}) {axis = 1
// OUT: error: expected a class axis of 'tensor<2x5x7xf32>', found 3
func.func @main(%x: tensor<2x5x3xf32>) {
  %w = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<3x7xf32> loc("w")
  %y = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<2x5x3xf32>, tensor<3x7xf32>) -> tensor<2x5x7xf32> loc("y")
  ff.output %y as "out/y" : tensor<2x5x7xf32>
  return
}
