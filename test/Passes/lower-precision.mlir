// RUN: ffc-opt %s --split-input-file --lower-precision --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: ffc-opt %s --split-input-file --lower-precision=type=f16 | FileCheck %s --check-prefix=F16
// RUN: ffc-opt %s --split-input-file --lower-precision=type=tf32 | FileCheck %s --check-prefix=TF32
// RUN: not ffc-opt %s --split-input-file --lower-precision=type=f8 2>&1 | FileCheck %s --check-prefix=TYPE

// TYPE: error: expected type bf16, f16 or tf32, found 'f8'

// TF32: func.func @main({{.*}} attributes {ff.tf32} {
// TF32-NOT: ff.cast

// F16: ff.matmul{{.*}} : (tensor<8x16xf16>, tensor<16x16xf16>, tensor<16xf16>) -> tensor<8x16xf32>
// F16: ff.conv{{.*}} : (tensor<8x3x9x9xf16>, tensor<4x3x1x1xf16>) -> tensor<8x4x9x9xf32>

// A value is cast once, where it is first multiplied, and called after what made
// it. What is added, and all other operators, stay as they are.

// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = ff.state "w"
// CHECK: %[[X16:.*]] = ff.cast(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xbf16>
// CHECK-NEXT: %[[W16:.*]] = ff.cast(%[[W]]) : (tensor<16x16xf32>) -> tensor<16x16xbf16>
// CHECK-NEXT: %[[B16:.*]] = ff.cast(%arg1)
// CHECK-NEXT: %[[H:.*]] = ff.matmul(%[[X16]], %[[W16]], %[[B16]]) {{.*}} : (tensor<8x16xbf16>, tensor<16x16xbf16>, tensor<16xbf16>) -> tensor<8x16xf32>
// CHECK-NEXT: %[[A:.*]] = ff.unary relu(%[[H]]) {ff.role = "gradient"} : tensor<8x16xf32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[A16:.*]] = ff.cast(%[[A]]) {ff.role = "gradient"}
// CHECK-NEXT: ff.matmul(%[[A16]], %[[W16]])
func.func @main(%x: tensor<8x16xf32> {ff.name = "x"},
                %b: tensor<16xf32> {ff.name = "b"}) {
  %w = ff.state "w" "parameter" init <constant, 0.0 : f64, 0> : tensor<16x16xf32>
  %0 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<8x16xf32> loc("h")
  %1 = ff.unary relu(%0) {ff.role = "gradient"} : tensor<8x16xf32> -> tensor<8x16xf32> loc("a")
  %2 = ff.matmul(%1, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc("y")
  ff.output %2 as "out/y" : tensor<8x16xf32>
  return
}

// -----

// Convolutions as well, but none of groups: memory decides there.

// CHECK-LABEL: func.func @main
// CHECK: %[[X16:.*]] = ff.cast(%arg0)
// CHECK: %[[W16:.*]] = ff.cast(%arg1)
// CHECK: %[[Y:.*]] = ff.conv(%[[X16]], %[[W16]])
// CHECK-NEXT: ff.conv(%[[Y]], %arg2)
func.func @main(%x: tensor<8x3x9x9xf32> {ff.name = "x"},
                %w: tensor<4x3x1x1xf32> {ff.name = "w"},
                %d: tensor<4x1x1x1xf32> {ff.name = "d"}) {
  %0 = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x3x9x9xf32>, tensor<4x3x1x1xf32>) -> tensor<8x4x9x9xf32> loc("conv")
  %1 = ff.conv(%0, %d) {dilations = array<i64: 1, 1>, group = 4 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x1x1x1xf32>) -> tensor<8x4x9x9xf32> loc("depthwise")
  ff.output %1 as "out/y" : tensor<8x4x9x9xf32>
  return
}

// -----

// Attention: queries, keys, values, its result and the gradient of that, of which
// nothing else is narrow.

// CHECK-LABEL: func.func @main
// CHECK: %[[Q16:.*]] = ff.cast(%arg0)
// CHECK-NEXT: %[[Y:.*]], %[[L:.*]] = ff.attention(%[[Q16]], %[[Q16]], %[[Q16]] mask %arg1)
// CHECK-NEXT: %[[D16:.*]] = ff.cast(%[[Y]])
// CHECK-NEXT: ff.attention_backward(%[[Q16]], %[[Q16]], %[[Q16]], %[[D16]], %[[L]], %[[D16]] mask %arg1)
func.func @main(%q: tensor<2x5x3x4xf32> {ff.name = "q"},
                %m: tensor<5x5xf32> {ff.name = "m"}) {
  %0, %1 = ff.attention(%q, %q, %q mask %m) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>)
     -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>) loc("y")
  %2, %3, %4 = ff.attention_backward(%q, %q, %q, %0, %1, %0 mask %m) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>)
     -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) loc("dq")
  ff.output %2 as "out/y" : tensor<2x5x3x4xf32>
  return
}

// -----

// The gradient of a bias adds up what that of the weights multiplies; sums of
// the model, and of what nothing multiplies, are exact.

// CHECK-LABEL: func.func @main
// CHECK: %[[DY16:.*]] = ff.cast(%arg1) : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK-NEXT: ff.reduce_sum(%[[DY16]]) {{.*}} : (tensor<8x4xbf16>) -> tensor<4xf32>
// CHECK: ff.matmul(%{{.*}}, %[[DY16]])
// CHECK: ff.reduce_sum(%arg1) {{.*}} : (tensor<8x4xf32>) -> tensor<4xf32>
// CHECK: ff.reduce_sum(%arg2) {{.*}} : (tensor<8x4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<8x3xf32> {ff.name = "x"},
                %dy: tensor<8x4xf32> {ff.name = "dy"},
                %dz: tensor<8x4xf32> {ff.name = "dz"}) {
  %0 = ff.reduce_sum(%dy) {axes = array<i64: 0>, ff.role = "gradient",
      keepdims = 0 : i64} : (tensor<8x4xf32>) -> tensor<4xf32> loc("db")
  %1 = ff.matmul(%x, %dy) {alpha = 1.0 : f64, beta = 1.0 : f64,
      ff.role = "gradient", trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<3x4xf32> loc("dw")
  %2 = ff.reduce_sum(%dy) {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<8x4xf32>) -> tensor<4xf32> loc("sum")
  %3 = ff.reduce_sum(%dz) {axes = array<i64: 0>, ff.role = "gradient",
      keepdims = 0 : i64} : (tensor<8x4xf32>) -> tensor<4xf32> loc("dc")
  return
}

// -----

// A value that only has another shape is narrow before it gets it, and one that
// is multiplied in two shapes is cast once.

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = ff.unary tanh
// CHECK-NEXT: %[[A16:.*]] = ff.cast(%[[A]])
// CHECK-NEXT: %[[Y:.*]] = ff.reshape(%[[A16]]) : (tensor<2x15x4xbf16>) -> tensor<2x5x12xbf16>
// CHECK-NEXT: %[[Z:.*]] = ff.reshape(%[[Y]]) : (tensor<2x5x12xbf16>) -> tensor<10x12xbf16>
// CHECK: ff.matmul(%[[Z]]
// CHECK: %[[B:.*]] = ff.reshape(%[[A16]]) : (tensor<2x15x4xbf16>) -> tensor<10x12xbf16>
// CHECK: ff.matmul(%[[B]]
// Somebody else needs it.
// CHECK: %[[C:.*]] = ff.reshape(%[[A]]) : (tensor<2x15x4xf32>) -> tensor<30x4xf32>
// CHECK: %[[C16:.*]] = ff.cast(%[[C]])
// CHECK: ff.matmul(%[[C16]]
func.func @main(%x: tensor<2x15x4xf32> {ff.name = "x"},
                %w: tensor<12x3xf32> {ff.name = "w"},
                %v: tensor<4x3xf32> {ff.name = "v"}) {
  %0 = ff.unary tanh(%x) : tensor<2x15x4xf32> -> tensor<2x15x4xf32> loc("a")
  %1 = ff.reshape(%0) : (tensor<2x15x4xf32>) -> tensor<2x5x12xf32> loc("y")
  %2 = ff.reshape(%1) : (tensor<2x5x12xf32>) -> tensor<10x12xf32> loc("z")
  %3 = ff.matmul(%2, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<10x12xf32>, tensor<12x3xf32>) -> tensor<10x3xf32> loc("fc1")
  %4 = ff.reshape(%0) : (tensor<2x15x4xf32>) -> tensor<10x12xf32> loc("b")
  %5 = ff.matmul(%4, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<10x12xf32>, tensor<12x3xf32>) -> tensor<10x3xf32> loc("fc2")
  %6 = ff.reshape(%0) : (tensor<2x15x4xf32>) -> tensor<30x4xf32> loc("c")
  %7 = ff.matmul(%6, %v) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<30x4xf32>, tensor<4x3xf32>) -> tensor<30x3xf32> loc("fc3")
  %8 = ff.softmax(%6) {axes = array<i64: 1>, log = 0 : i64} : (tensor<30x4xf32>) -> tensor<30x4xf32> loc("wide")
  ff.output %8 as "out/c" : tensor<30x4xf32>
  return
}

// -----

// Between products values are narrow for all that read them: the result of a
// convolution for its normalisation, forward and backward, what a rectifier
// makes for a residual connection and for its own gradient, what goes from one
// kernel to another backward, and so are results of the model. What stays in
// registers is f32: the normalised image, the sum. So are gradients of weights.

// CHECK-LABEL: func.func @main
// CHECK: %[[X16:.*]] = ff.cast(%x0)
// CHECK: %conv = ff.conv(%[[X16]],
// CHECK-NEXT: %[[Y16:.*]] = ff.cast(%conv)
// CHECK-NEXT: %norm, %{{.*}}, %{{.*}} = ff.normalize(%[[Y16]] scale %arg2 bias %arg2) {{.*}} : (tensor<8x4x9x9xbf16>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4x9x9xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %sum = ff.fused(%norm, %[[X16]]) {
// CHECK-NEXT: ^bb0(%[[N:.*]]: tensor<8x4x9x9xf32>, %[[S:.*]]: tensor<8x4x9x9xbf16>):
// CHECK-NEXT: %[[W:.*]] = ff.cast(%[[S]])
// CHECK-NEXT: %[[A:.*]] = ff.binary add(%[[N]], %[[W]])
// CHECK-NEXT: ff.yield %[[A]] : tensor<8x4x9x9xf32>
// CHECK: %relu = ff.unary relu(%sum)
// CHECK-NEXT: %[[Z16:.*]] = ff.cast(%relu)
// CHECK-NEXT: %last = ff.conv(%[[Z16]], {{.*}} -> tensor<8x4x9x9xf32>
// CHECK-NEXT: %[[O16:.*]] = ff.cast(%last)
// CHECK-NEXT: ff.output %[[O16]]
// CHECK: %last.backward.data = ff.conv_backward_data
// CHECK-NEXT: %[[DZ16:.*]] = ff.cast(%last.backward.data) {ff.role = "gradient"}
// CHECK-NEXT: %relu.backward = ff.fused(%[[Z16]], %[[DZ16]]) attributes {ff.owner = "relu", ff.role = "gradient"}
// CHECK: ff.unary_backward relu
// CHECK: %[[DA16:.*]] = ff.cast(%relu.backward) {ff.role = "gradient"}
// CHECK-NEXT: %norm.backward, %{{.*}}, %{{.*}} = ff.normalize_backward(%[[DA16]], %[[Y16]],
// CHECK-NEXT: %[[DY16:.*]] = ff.cast(%norm.backward)
// CHECK: ff.conv_backward_weights(%[[X16]], %[[DY16]]) {{.*}} -> tensor<4x4x1x1xf32>
func.func @main(%x: tensor<8x4x9x9xf32> {ff.name = "x"}, %w: tensor<4x4x1x1xf32> {ff.name = "w"},
                %s: tensor<4xf32> {ff.name = "s"}) {
  %x0 = ff.unary tanh(%x) : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("x0")
  %y = ff.conv(%x0, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x9x9xf32> loc("conv")
  %n, %m, %v = ff.normalize(%y scale %s bias %s) {axes = array<i64: 0, 2, 3>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>}
      : (tensor<8x4x9x9xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4x9x9xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm")
  %a = ff.binary add(%n, %x0) : (tensor<8x4x9x9xf32>, tensor<8x4x9x9xf32>) -> tensor<8x4x9x9xf32> loc("sum")
  %z = ff.unary relu(%a) : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32> loc("relu")
  %o = ff.conv(%z, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x9x9xf32> loc("last")
  ff.output %o as "out/o" : tensor<8x4x9x9xf32>
  %dz = ff.conv_backward_data(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64, ff.role = "gradient",
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x9x9xf32> loc("last.backward.data")
  %da = ff.unary_backward relu(%z, %dz) {ff.owner = "relu", ff.role = "gradient"} : (tensor<8x4x9x9xf32>, tensor<8x4x9x9xf32>) -> tensor<8x4x9x9xf32> loc("relu.backward")
  %dy, %ds, %db = ff.normalize_backward(%da, %y, %m, %v, %s) {axes = array<i64: 0, 2, 3>, epsilon = 0.1 : f64, ff.role = "gradient",
      param_dims = array<i64: 1>}
      : (tensor<8x4x9x9xf32>, tensor<8x4x9x9xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4x9x9xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm.backward")
  ff.output %ds as "out/ds" : tensor<4xf32>
  %dw = ff.conv_backward_weights(%x0, %dy) {dilations = array<i64: 1, 1>, group = 1 : i64, ff.role = "gradient",
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x4x9x9xf32>, tensor<8x4x9x9xf32>) -> tensor<4x4x1x1xf32> loc("conv.backward.weights")
  ff.output %dw as "out/dw" : tensor<4x4x1x1xf32>
  return
}

// -----

// A bias is as narrow as the result it is added to; where the result is wide,
// so is the bias. Slices of a narrow value are narrow.

// CHECK-LABEL: func.func @main
// CHECK: %[[B16:.*]] = ff.cast(%arg2)
// CHECK: %qk = ff.matmul(%{{.*}}, %{{.*}}, %[[B16]]) {{.*}} : (tensor<8x4xbf16>, tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[QK16:.*]] = ff.cast(%qk)
// CHECK-NEXT: %q = ff.slice(%[[QK16]]) {{.*}} : (tensor<8x8xbf16>) -> tensor<8x4xbf16>
// CHECK-NEXT: %k = ff.slice(%[[QK16]])
// CHECK-NEXT: %y = ff.matmul(%q, %k)
// CHECK: %[[V16:.*]] = ff.cast(%arg3)
// CHECK-NEXT: %z = ff.matmul(%[[X:.*]], %[[V16]], %arg2) {{.*}} : (tensor<8x4xbf16>, tensor<4x8xbf16>, tensor<8xf32>)
func.func @main(%x: tensor<8x4xf32> {ff.name = "x"},
                %w: tensor<4x8xf32> {ff.name = "w"},
                %b: tensor<8xf32> {ff.name = "b"},
                %v: tensor<4x8xf32> {ff.name = "v"}) {
  %0 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<8x8xf32> loc("qk")
  %1 = ff.slice(%0) {starts = array<i64: 0, 0>} : (tensor<8x8xf32>) -> tensor<8x4xf32> loc("q")
  %2 = ff.slice(%0) {starts = array<i64: 0, 4>} : (tensor<8x8xf32>) -> tensor<8x4xf32> loc("k")
  %3 = ff.matmul(%1, %2) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32> loc("y")
  ff.output %3 as "out/y" : tensor<8x8xf32>
  %4 = ff.matmul(%x, %v, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<8x8xf32> loc("z")
  %5 = ff.softmax(%4) {axes = array<i64: 1>, log = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("wide")
  ff.output %5 as "out/z" : tensor<8x8xf32>
  return
}

// -----

// So is a bias in front of an activation that the product computes.

// CHECK-LABEL: func.func @main
// CHECK: %[[B16:.*]] = ff.cast(%arg2)
// CHECK: %h = ff.matmul(%{{.*}}, %{{.*}}, %[[B16]])
// CHECK-NEXT: %relu = ff.unary relu(%h)
// CHECK-NEXT: ff.cast(%relu)
func.func @main(%x: tensor<8x4xf32> {ff.name = "x"},
                %w: tensor<4x8xf32> {ff.name = "w"},
                %b: tensor<8xf32> {ff.name = "b"}) {
  %0 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<8x8xf32> loc("h")
  %1 = ff.unary relu(%0) : tensor<8x8xf32> -> tensor<8x8xf32> loc("relu")
  %2 = ff.matmul(%1, %1) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("y")
  ff.output %2 as "out/y" : tensor<8x8xf32>
  return
}

// -----

// A sum in f32 stays so: what is added to it is not rounded, nor what a
// normalisation reads of it. A pool of narrow values is narrow, and so is
// dropout, where it goes to memory.

// CHECK-LABEL: func.func @main
// CHECK: %proj = ff.matmul
// CHECK-NEXT: %stream = ff.binary add(%arg0, %proj)
// CHECK-NEXT: %norm, {{.*}} = ff.normalize(%stream)
// CHECK: %up = ff.matmul
// CHECK-NEXT: %[[UP:.*]] = ff.cast(%up)
// CHECK-NEXT: %drop = ff.dropout(%[[UP]]) {{.*}} : (tensor<8x4xbf16>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[DROP:.*]] = ff.cast(%drop)
// CHECK-NEXT: ff.normalize(%[[DROP]])
func.func @main(%x: tensor<8x4xf32> {ff.name = "x"},
                %w: tensor<4x4xf32> {ff.name = "w"}) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("proj")
  %1 = ff.binary add(%x, %0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> loc("stream")
  %2, %m, %v = ff.normalize(%1) {axes = array<i64: 1>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) loc("norm")
  %3 = ff.matmul(%2, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("up")
  %4 = ff.dropout(%3) {key = 1 : i64, ratio = 0.5 : f64} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("drop")
  %5, %m1, %v1 = ff.normalize(%4) {axes = array<i64: 1>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) loc("last")
  ff.output %5 as "out/y" : tensor<8x4xf32>
  return
}

// -----

// Gradients that products will add to each other are added up in f32.

// CHECK-LABEL: func.func @main
// CHECK: %a = ff.matmul
// CHECK: %b = ff.matmul
// CHECK-NEXT: %sum = ff.binary add(%a, %b)
// CHECK-NEXT: ff.normalize(%sum)
func.func @main(%x: tensor<8x4xf32> {ff.name = "x"},
                %w: tensor<4x4xf32> {ff.name = "w"}) {
  %0 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("a")
  %1 = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("b")
  %2 = ff.binary add(%0, %1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> loc("sum")
  %3, %m, %v = ff.normalize(%2) {axes = array<i64: 1>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) loc("norm")
  ff.output %3 as "out/y" : tensor<8x4xf32>
  return
}

// -----

// GELU by tanh behind a product, and its gradient, is of the sum before that is
// rounded, if what it makes is rounded (docs/decisions/0084). Others read what
// was rounded: GELU by erf, and where two read the sum.

// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = ff.matmul({{.*}}) {{.*}} : (tensor<8x16xbf16>, tensor<16x16xbf16>, tensor<16xbf16>) -> tensor<8x16xf32>
// CHECK-NEXT: %[[Z:.*]] = ff.cast(%[[S]])
// CHECK-NEXT: ff.unary gelu_tanh(%[[S]]) : tensor<8x16xf32> -> tensor<8x16xf32>
// CHECK: %[[D:.*]] = ff.matmul({{.*}}) {{.*}} -> tensor<8x16xf32>
// CHECK-NEXT: ff.fused(%[[D]], %[[Z]])
// CHECK: } : (tensor<8x16xf32>, tensor<8x16xbf16>) -> tensor<8x16xf32>
// CHECK: %[[E:.*]] = ff.matmul
// CHECK-NEXT: %[[E16:.*]] = ff.cast(%[[E]])
// CHECK-NEXT: ff.fused(%[[E16]])
// CHECK: %[[T:.*]] = ff.matmul
// CHECK-NEXT: %[[T16:.*]] = ff.cast(%[[T]])
// CHECK-NEXT: ff.fused(%[[T16]])
// CHECK: ff.fused(%[[T16]])
func.func @main(%x: tensor<8x16xf32> {ff.name = "x"}, %w: tensor<16x16xf32> {ff.name = "w"},
                %b: tensor<16xf32> {ff.name = "b"}) {
  %0 = ff.matmul(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<8x16xf32> loc("z")
  %1 = ff.unary gelu_tanh(%0) : tensor<8x16xf32> -> tensor<8x16xf32> loc("y")
  %2 = ff.matmul(%1, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc("dy")
  %3 = ff.unary_backward gelu_tanh(%2, %0) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("dz")
  %4 = ff.matmul(%3, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc("erf")
  %5 = ff.unary gelu(%4) : tensor<8x16xf32> -> tensor<8x16xf32> loc("erf_y")
  %6 = ff.matmul(%5, %w) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc("two")
  %7 = ff.unary gelu_tanh(%6) : tensor<8x16xf32> -> tensor<8x16xf32> loc("two_y")
  %8 = ff.unary gelu_tanh(%6) : tensor<8x16xf32> -> tensor<8x16xf32> loc("two_z")
  %9 = ff.matmul(%7, %8) {alpha = 1.0 : f64, beta = 1.0 : f64, trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32> loc("last")
  ff.output %9 as "out/y" : tensor<8x8xf32>
  return
}
