// Operators for the generic tests (Examples.h): each operator here, and each
// operator of its gradient, is partitioned at random and compared with the
// whole; gradients are compared with finite differences. Every operator of the
// dialect needs an example, one per distinct kind of geometry.
//
// Float arguments are random in [-1, 1), integers in 0 to 2. An argument with
// `ff.name = "target"` gets no gradient.

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

func.func @conv2d_bias(%x: tensor<3x4x7x6xf32>, %w: tensor<5x4x3x3xf32>,
                       %b: tensor<5xf32>) {
  %y = ff.conv2d(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<3x4x7x6xf32>, tensor<5x4x3x3xf32>, tensor<5xf32>)
      -> tensor<3x5x7x6xf32>
  return
}

// Groups, uneven strides, pads and dilations.
func.func @conv2d_group(%x: tensor<2x6x8x9xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = ff.conv2d(%x, %w) {dilations = array<i64: 1, 2>, group = 2 : i64,
      pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 3>}
      : (tensor<2x6x8x9xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x4x3xf32>
  return
}

// Depthwise; strides over the kernel leave input positions that nobody reads.
func.func @conv2d_depthwise(%x: tensor<2x4x7x7xf32>, %w: tensor<4x1x1x2xf32>,
                            %b: tensor<4xf32>) {
  %y = ff.conv2d(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 4 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 3, 3>}
      : (tensor<2x4x7x7xf32>, tensor<4x1x1x2xf32>, tensor<4xf32>)
      -> tensor<2x4x3x2xf32>
  return
}

// Pads over the kernel: border tiles read no input at all.
func.func @conv2d_wide_pads(%x: tensor<2x1x3x3xf32>, %w: tensor<2x1x2x2xf32>) {
  %y = ff.conv2d(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 4, 3, 3, 4>, strides = array<i64: 1, 1>}
      : (tensor<2x1x3x3xf32>, tensor<2x1x2x2xf32>) -> tensor<2x2x9x9xf32>
  return
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

func.func @max_pool(%x: tensor<2x3x7x7xf32>) {
  %y, %index = ff.max_pool(%x) {dilations = array<i64: 1, 1>,
      kernel_shape = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 2, 2>}
      : (tensor<2x3x7x7xf32>) -> (tensor<2x3x3x3xf32>, tensor<2x3x3x3xi32>)
  return
}

// Ceil mode, pads and dilation.
func.func @max_pool_general(%x: tensor<2x2x8x7xf32>) {
  %y, %index = ff.max_pool(%x) {dilations = array<i64: 2, 1>,
      kernel_shape = array<i64: 2, 3>, pads = array<i64: 1, 1, 0, 1>,
      strides = array<i64: 3, 2>}
      : (tensor<2x2x8x7xf32>) -> (tensor<2x2x3x4xf32>, tensor<2x2x3x4xi32>)
  return
}

func.func @average_pool(%x: tensor<2x3x6x6xf32>) {
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>,
      strides = array<i64: 1, 2>}
      : (tensor<2x3x6x6xf32>) -> tensor<2x3x6x3xf32>
  return
}

// Ceil mode: positions beyond the declared pads never count.
func.func @average_pool_include_pads(%x: tensor<2x2x6x6xf32>) {
  %y = ff.average_pool(%x) {count_include_pad = 1 : i64,
      kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 0, 0, 1>,
      strides = array<i64: 3, 2>}
      : (tensor<2x2x6x6xf32>) -> tensor<2x2x3x3xf32>
  return
}

func.func @average_pool_global(%x: tensor<3x4x5x5xf32>) {
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 5, 5>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 1, 1>}
      : (tensor<3x4x5x5xf32>) -> tensor<3x4x1x1xf32>
  return
}

//===----------------------------------------------------------------------===//
// Local response normalisation
//===----------------------------------------------------------------------===//

func.func @lrn(%x: tensor<2x7x3x2xf32>) {
  %y, %scale = ff.lrn(%x) {alpha = 0.9 : f64, beta = 0.75 : f64,
      bias = 1.0 : f64, size = 5 : i64}
      : (tensor<2x7x3x2xf32>) -> (tensor<2x7x3x2xf32>, tensor<2x7x3x2xf32>)
  return
}

// An even size has a window that is not centred.
func.func @lrn_even(%x: tensor<2x6x3xf32>) {
  %y, %scale = ff.lrn(%x) {alpha = 0.9 : f64, beta = 0.5 : f64,
      bias = 2.0 : f64, size = 4 : i64}
      : (tensor<2x6x3xf32>) -> (tensor<2x6x3xf32>, tensor<2x6x3xf32>)
  return
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

func.func @matmul(%a: tensor<5x6xf32>, %b: tensor<6x7xf32>) {
  %y = ff.matmul(%a, %b) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x6xf32>, tensor<6x7xf32>) -> tensor<5x7xf32>
  return
}

func.func @matmul_bias(%a: tensor<5x6xf32>, %b: tensor<7x6xf32>,
                       %c: tensor<7xf32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 0.5 : f64, beta = 2.0 : f64,
      trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<5x6xf32>, tensor<7x6xf32>, tensor<7xf32>) -> tensor<5x7xf32>
  return
}

func.func @matmul_column_addend(%a: tensor<6x5xf32>, %b: tensor<6x7xf32>,
                                %c: tensor<5x1xf32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<6x5xf32>, tensor<6x7xf32>, tensor<5x1xf32>) -> tensor<5x7xf32>
  return
}

func.func @matmul_whole_addend(%a: tensor<6x5xf32>, %b: tensor<7x6xf32>,
                               %c: tensor<5x7xf32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 1 : i64}
      : (tensor<6x5xf32>, tensor<7x6xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

func.func @matmul_scalar_addend(%a: tensor<5x6xf32>, %b: tensor<6x7xf32>,
                                %c: tensor<f32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 0.5 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x6xf32>, tensor<6x7xf32>, tensor<f32>) -> tensor<5x7xf32>
  return
}

// Rows, columns and products of one element.
func.func @matmul_ones(%a: tensor<1x6xf32>, %b: tensor<6x1xf32>,
                       %c: tensor<1xf32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<1x6xf32>, tensor<6x1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  return
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

func.func @unary(%x: tensor<3x4x5xf32>) {
  %0 = ff.unary relu(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %1 = ff.unary sigmoid(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %2 = ff.unary tanh(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %3 = ff.unary leaky_relu(%x) alpha 0.1 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %4 = ff.unary scale(%x) alpha 0.3 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  return
}

func.func @binary(%a: tensor<3x4x5xf32>, %b: tensor<3x4x5xf32>) {
  %0 = ff.binary add(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %1 = ff.binary sub(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %2 = ff.binary mul(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  return
}

func.func @binary_broadcast(%a: tensor<3x1x5xf32>, %b: tensor<4x1xf32>,
                            %s: tensor<f32>) {
  %0 = ff.binary mul(%a, %b) : (tensor<3x1x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %1 = ff.binary sub(%a, %s) : (tensor<3x1x5xf32>, tensor<f32>) -> tensor<3x1x5xf32>
  return
}

func.func @binary_channel(%x: tensor<3x4x2x2xf32>, %b: tensor<4x1x1xf32>,
                          %c: tensor<2xf32>) {
  %0 = ff.binary sub(%x, %b) : (tensor<3x4x2x2xf32>, tensor<4x1x1xf32>) -> tensor<3x4x2x2xf32>
  %1 = ff.binary add(%x, %c) : (tensor<3x4x2x2xf32>, tensor<2xf32>) -> tensor<3x4x2x2xf32>
  return
}

func.func @dropout(%x: tensor<4x9xf32>) {
  %0 = ff.dropout(%x) {key = 42 : i64, ratio = 0.4 : f64} : (tensor<4x9xf32>) -> tensor<4x9xf32>
  return
}

func.func @softmax(%x: tensor<4x5x3xf32>) {
  %0 = ff.softmax(%x) {axes = array<i64: 1>} : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %1 = ff.softmax(%x) {axes = array<i64: 1, 2>} : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return
}

//===----------------------------------------------------------------------===//
// Moving and summing elements
//===----------------------------------------------------------------------===//

func.func @reshape(%x: tensor<4x6x5xf32>) {
  %0 = ff.reshape(%x) : (tensor<4x6x5xf32>) -> tensor<4x30xf32>
  %1 = ff.reshape(%x) : (tensor<4x6x5xf32>) -> tensor<2x2x3x10xf32>
  %2 = ff.reshape(%x) : (tensor<4x6x5xf32>) -> tensor<8x3x5xf32>
  return
}

// An image and a channel vector; the last has no common refinement after n.
func.func @reshape_image(%x: tensor<4x3x2x2xf32>, %b: tensor<6xf32>,
                         %m: tensor<5x6x4xf32>) {
  %0 = ff.reshape(%x) : (tensor<4x3x2x2xf32>) -> tensor<4x12xf32>
  %1 = ff.reshape(%b) : (tensor<6xf32>) -> tensor<1x6x1x1xf32>
  %2 = ff.reshape(%m) : (tensor<5x6x4xf32>) -> tensor<5x4x6xf32>
  return
}

func.func @transpose(%x: tensor<3x4x5xf32>) {
  %0 = ff.transpose(%x) {perm = array<i64: 2, 0, 1>} : (tensor<3x4x5xf32>) -> tensor<5x3x4xf32>
  return
}

func.func @concat(%a: tensor<3x2x4xf32>, %b: tensor<3x3x4xf32>, %c: tensor<3x1x4xf32>) {
  %0 = ff.concat(%a, %b, %c) {axis = 1 : i64}
      : (tensor<3x2x4xf32>, tensor<3x3x4xf32>, tensor<3x1x4xf32>) -> tensor<3x6x4xf32>
  return
}

func.func @slice(%x: tensor<5x6xf32>) {
  %0 = ff.slice(%x) {starts = array<i64: 1, 2>} : (tensor<5x6xf32>) -> tensor<3x4xf32>
  return
}

func.func @pad(%x: tensor<4x5xf32>) {
  %0 = ff.pad(%x) {pads = array<i64: 2, -1, 1, 3>, value = 0.5 : f64} : (tensor<4x5xf32>) -> tensor<7x7xf32>
  return
}

// Its gradient is a slice.
func.func @pad_only(%x: tensor<4x5xf32>) {
  %0 = ff.pad(%x) {pads = array<i64: 2, 0, 1, 3>, value = 0.5 : f64} : (tensor<4x5xf32>) -> tensor<7x8xf32>
  return
}

func.func @reduce_sum(%x: tensor<3x4x5xf32>) {
  %0 = ff.reduce_sum(%x) {axes = array<i64: 0, 2>, keepdims = 0 : i64} : (tensor<3x4x5xf32>) -> tensor<4xf32>
  %1 = ff.reduce_sum(%x) {axes = array<i64: 1>, keepdims = 1 : i64} : (tensor<3x4x5xf32>) -> tensor<3x1x5xf32>
  return
}

func.func @reduce_sum_all(%x: tensor<3x4xf32>) {
  %0 = ff.reduce_sum(%x) {axes = array<i64: 0, 1>, keepdims = 0 : i64} : (tensor<3x4xf32>) -> tensor<f32>
  return
}

func.func @expand(%x: tensor<4x1xf32>) {
  %0 = ff.expand(%x) : (tensor<4x1xf32>) -> tensor<3x4x5xf32>
  return
}

func.func @expand_leading(%x: tensor<4xf32>, %s: tensor<f32>) {
  %0 = ff.expand(%x) : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = ff.expand(%s) : (tensor<f32>) -> tensor<3x4xf32>
  return
}

//===----------------------------------------------------------------------===//
// Losses and updates
//===----------------------------------------------------------------------===//

func.func @cross_entropy(%x: tensor<4x3x5xf32>, %t: tensor<4x5xi32> {ff.name = "target"}) {
  %0 = ff.cross_entropy(%x, %t) {axis = 1 : i64} : (tensor<4x3x5xf32>, tensor<4x5xi32>) -> tensor<f32>
  return
}

func.func @mse(%x: tensor<4x5xf32>, %t: tensor<4x5xf32> {ff.name = "target"}) {
  %0 = ff.mse(%x, %t) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<f32>
  return
}

func.func @bce(%x: tensor<4x5xf32>, %t: tensor<4x5xf32> {ff.name = "target"}) {
  %0 = ff.bce(%x, %t) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<f32>
  return
}

func.func @sgd_update(%w: tensor<4x5xf32>, %g: tensor<4x5xf32>, %v: tensor<4x5xf32>) {
  %0 = ff.sgd_update(%w, %g) {momentum = 0.0 : f64, nesterov = 0 : i64} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %1, %2 = ff.sgd_update(%w, %g, %v) {momentum = 0.9 : f64, nesterov = 1 : i64}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
  return
}
