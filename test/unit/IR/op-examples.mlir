// Operators for the generic tests (Examples.h): each operator here, and each
// operator of its gradient, is partitioned at random and compared with the
// whole; gradients are compared with finite differences. Every operator of the
// dialect needs an example, one per distinct kind of geometry.
//
// Float arguments are random in [-1, 1), integers in 0 to 2. An argument with a
// `ff.name` gets no gradient; with the name "sparse" about half of it is 0, with
// the name "infinite" all of it is infinite.

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

func.func @conv2d_bias(%x: tensor<3x4x7x6xf32>, %w: tensor<5x4x3x3xf32>,
                       %b: tensor<5xf32>) {
  %y = ff.conv(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<3x4x7x6xf32>, tensor<5x4x3x3xf32>, tensor<5xf32>)
      -> tensor<3x5x7x6xf32>
  return
}

// Clamped as by relu, and with groups as by clip: what is contracted stays whole.
func.func @conv2d_clamp(%x: tensor<3x4x7x6xf32>, %w: tensor<6x4x3x3xf32>,
                        %b: tensor<6xf32>, %v: tensor<6x2x1x1xf32>) {
  %y = ff.conv(%x, %w, %b) {clamp = array<f64: 0.0>,
      dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<3x4x7x6xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>)
      -> tensor<3x6x7x6xf32>
  %z = ff.conv(%x, %v) {clamp = array<f64: -0.2, 0.3>,
      dilations = array<i64: 1, 1>, group = 2 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<3x4x7x6xf32>, tensor<6x2x1x1xf32>) -> tensor<3x6x7x6xf32>
  return
}

// Groups, uneven strides, pads and dilations.
func.func @conv2d_group(%x: tensor<2x6x8x9xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 2>, group = 2 : i64,
      pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 3>}
      : (tensor<2x6x8x9xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x4x3xf32>
  return
}

// Depthwise; strides over the kernel leave input positions that nobody reads.
func.func @conv2d_depthwise(%x: tensor<2x4x7x7xf32>, %w: tensor<4x1x1x2xf32>,
                            %b: tensor<4xf32>) {
  %y = ff.conv(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 4 : i64,
      pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 3, 3>}
      : (tensor<2x4x7x7xf32>, tensor<4x1x1x2xf32>, tensor<4xf32>)
      -> tensor<2x4x3x2xf32>
  return
}

// Pads over the kernel: border tiles read no input at all.
func.func @conv2d_wide_pads(%x: tensor<2x1x3x3xf32>, %w: tensor<2x1x2x2xf32>) {
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64,
      pads = array<i64: 4, 3, 3, 4>, strides = array<i64: 1, 1>}
      : (tensor<2x1x3x3xf32>, tensor<2x1x2x2xf32>) -> tensor<2x2x9x9xf32>
  return
}

func.func @conv1d(%x: tensor<2x4x9xf32>, %w: tensor<4x2x3xf32>,
                  %b: tensor<4xf32>) {
  %y = ff.conv(%x, %w, %b) {dilations = array<i64: 2>, group = 2 : i64,
      pads = array<i64: 1, 2>, strides = array<i64: 2>}
      : (tensor<2x4x9xf32>, tensor<4x2x3xf32>, tensor<4xf32>)
      -> tensor<2x4x4xf32>
  return
}

func.func @conv3d(%x: tensor<2x2x4x3x5xf32>, %w: tensor<3x2x2x1x3xf32>) {
  %y = ff.conv(%x, %w) {dilations = array<i64: 1, 1, 1>, group = 1 : i64,
      pads = array<i64: 0, 1, 1, 1, 0, 1>, strides = array<i64: 2, 1, 2>}
      : (tensor<2x2x4x3x5xf32>, tensor<3x2x2x1x3xf32>) -> tensor<2x3x2x4x3xf32>
  return
}

// The last row of the result lies under no window (output padding).
func.func @conv_transpose2d(%x: tensor<2x4x3x4xf32>, %w: tensor<4x3x3x2xf32>) {
  %y = ff.conv_backward_data(%x, %w) {dilations = array<i64: 1, 2>,
      group = 2 : i64, pads = array<i64: 1, 0, 0, 1>,
      strides = array<i64: 3, 2>, transposed}
      : (tensor<2x4x3x4xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x10x8xf32>
  return
}

func.func @conv_transpose1d(%x: tensor<2x2x5xf32>, %w: tensor<2x3x4xf32>) {
  %y = ff.conv_backward_data(%x, %w) {dilations = array<i64: 1>,
      group = 1 : i64, pads = array<i64: 1, 1>, strides = array<i64: 2>,
      transposed}
      : (tensor<2x2x5xf32>, tensor<2x3x4xf32>) -> tensor<2x3x10xf32>
  return
}

func.func @conv_transpose3d(%x: tensor<2x2x2x2x3xf32>,
                            %w: tensor<2x1x2x1x2xf32>) {
  %y = ff.conv_backward_data(%x, %w) {dilations = array<i64: 1, 1, 1>,
      group = 1 : i64, pads = array<i64: 0, 0, 0, 0, 0, 0>,
      strides = array<i64: 2, 1, 2>, transposed}
      : (tensor<2x2x2x2x3xf32>, tensor<2x1x2x1x2xf32>) -> tensor<2x1x4x2x6xf32>
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

func.func @max_pool1d(%x: tensor<2x3x9xf32>) {
  %y, %index = ff.max_pool(%x) {dilations = array<i64: 1>,
      kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>,
      strides = array<i64: 2>}
      : (tensor<2x3x9xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xi32>)
  return
}

func.func @max_pool3d(%x: tensor<2x2x4x3x5xf32>) {
  %y, %index = ff.max_pool(%x) {dilations = array<i64: 2, 1, 1>,
      kernel_shape = array<i64: 2, 1, 3>, pads = array<i64: 0, 0, 1, 0, 0, 1>,
      strides = array<i64: 1, 2, 2>}
      : (tensor<2x2x4x3x5xf32>)
      -> (tensor<2x2x2x2x3xf32>, tensor<2x2x2x2x3xi32>)
  return
}

func.func @average_pool1d(%x: tensor<2x3x8xf32>) {
  %y = ff.average_pool(%x) {count_include_pad = 1 : i64,
      kernel_shape = array<i64: 3>, pads = array<i64: 1, 0>,
      strides = array<i64: 2>}
      : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  return
}

func.func @average_pool3d(%x: tensor<2x2x4x3x4xf32>) {
  %y = ff.average_pool(%x) {count_include_pad = 0 : i64,
      kernel_shape = array<i64: 2, 2, 3>, pads = array<i64: 0, 1, 1, 0, 0, 1>,
      strides = array<i64: 2, 1, 1>}
      : (tensor<2x2x4x3x4xf32>) -> tensor<2x2x2x3x4xf32>
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

// Bounds of every form, of a product with and without an addend, and of sums
// over the batch.
func.func @matmul_clamp(%a: tensor<5x6xf32>, %b: tensor<6x7xf32>,
                        %c: tensor<7xf32>, %d: tensor<3x5x6xf32>,
                        %e: tensor<3x6x7xf32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      clamp = array<f64: 0.0>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x6xf32>, tensor<6x7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
  %z = ff.matmul(%a, %b) {alpha = 0.5 : f64, beta = 1.0 : f64,
      clamp = array<f64: -0.2, 0.3>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x6xf32>, tensor<6x7xf32>) -> tensor<5x7xf32>
  %s = ff.matmul(%d, %e) {alpha = 1.0 : f64, beta = 1.0 : f64,
      clamp = array<f64: 0.0>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x5x6xf32>, tensor<3x6x7xf32>) -> tensor<5x7xf32>
  return
}

// With an addend, beside c, with bounds, and of sums over the batch.
func.func @matmul_addend(%a: tensor<5x6xf32>, %b: tensor<6x7xf32>,
                         %c: tensor<7xf32>, %r: tensor<5x7xf32>,
                         %d: tensor<3x5x6xf32>, %e: tensor<3x6x7xf32>) {
  %y = ff.matmul(%a, %b addend %r) {alpha = 0.5 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x6xf32>, tensor<6x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %z = ff.matmul(%a, %b, %c addend %r) {alpha = 1.0 : f64, beta = 1.0 : f64,
      clamp = array<f64: 0.0>, trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<5x6xf32>, tensor<6x7xf32>, tensor<7xf32>, tensor<5x7xf32>)
      -> tensor<5x7xf32>
  %s = ff.matmul(%d, %e addend %r) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x5x6xf32>, tensor<3x6x7xf32>, tensor<5x7xf32>)
      -> tensor<5x7xf32>
  return
}

// Of the one factor or the other, with and without a batch.
func.func @matmul_sums(%a: tensor<3x4x5xf32>, %b: tensor<3x4x2xf32>,
                       %c: tensor<6x5xf32>, %d: tensor<7x6xf32>) {
  %y, %sa = ff.matmul_sums(%a, %b) {alpha = 1.0 : f64, sums_of = 0 : i64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<3x4x5xf32>, tensor<3x4x2xf32>) -> (tensor<5x2xf32>, tensor<5xf32>)
  %z, %sb = ff.matmul_sums(%a, %b) {alpha = 0.5 : f64,
      dim_names = ["n", "k", "c", "r"], sums_of = 1 : i64, trans_a = 1 : i64,
      trans_b = 0 : i64}
      : (tensor<3x4x5xf32>, tensor<3x4x2xf32>) -> (tensor<5x2xf32>, tensor<2xf32>)
  %u, %sc = ff.matmul_sums(%c, %d) {alpha = 2.0 : f64, sums_of = 0 : i64,
      trans_a = 1 : i64, trans_b = 1 : i64}
      : (tensor<6x5xf32>, tensor<7x6xf32>) -> (tensor<5x7xf32>, tensor<5xf32>)
  %v, %sd = ff.matmul_sums(%d, %c) {alpha = 1.0 : f64, sums_of = 1 : i64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<7x6xf32>, tensor<6x5xf32>) -> (tensor<7x5xf32>, tensor<5xf32>)
  return
}

// With and without a row and a batch; z is read, or not.
func.func @matmul_gelu(%a: tensor<3x4x12xf32>, %b: tensor<12x6xf32>,
                       %c: tensor<6xf32>, %d: tensor<3x6x12xf32>,
                       %e: tensor<7x12xf32>) {
  %z, %y = ff.matmul_gelu(%a, %b, %c) {trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x4x12xf32>, tensor<12x6xf32>, tensor<6xf32>)
      -> (tensor<3x4x6xf32>, tensor<3x4x6xf32>)
  %u, %v = ff.matmul_gelu(%b, %e) {dim_names = ["c", "k", "n"],
      trans_a = 1 : i64, trans_b = 1 : i64}
      : (tensor<12x6xf32>, tensor<7x12xf32>) -> (tensor<6x7xf32>, tensor<6x7xf32>)
  %dz = ff.matmul_gelu_backward(%a, %d, %z) {trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<3x4x12xf32>, tensor<3x6x12xf32>, tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
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

// A linear layer on sequences; its weight gradient sums over the batch.
func.func @matmul_sequences(%a: tensor<3x4x5xf32>, %b: tensor<5x2xf32>,
                            %c: tensor<2xf32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 2.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x4x5xf32>, tensor<5x2xf32>, tensor<2xf32>)
      -> tensor<3x4x2xf32>
  return
}

// Attention scores.
func.func @matmul_heads(%a: tensor<2x3x4x5xf32>, %b: tensor<2x3x2x5xf32>) {
  %y = ff.matmul(%a, %b) {alpha = 0.5 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 1 : i64}
      : (tensor<2x3x4x5xf32>, tensor<2x3x2x5xf32>) -> tensor<2x3x4x2xf32>
  return
}

// Each operand lacks a dimension of the batch, one of them by extent 1.
func.func @matmul_broadcast(%a: tensor<3x1x5x4xf32>, %b: tensor<2x5x2xf32>,
                            %c: tensor<2x1x2xf32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 1 : i64, trans_b = 0 : i64}
      : (tensor<3x1x5x4xf32>, tensor<2x5x2xf32>, tensor<2x1x2xf32>)
      -> tensor<3x2x4x2xf32>
  return
}

// The result lacks the outer dimension of the batch: it is summed over.
func.func @matmul_summed(%a: tensor<3x2x4x5xf32>, %b: tensor<3x1x5x2xf32>,
                         %c: tensor<4x1xf32>) {
  %y = ff.matmul(%a, %b, %c) {alpha = 1.0 : f64, beta = 1.0 : f64,
      trans_a = 0 : i64, trans_b = 0 : i64}
      : (tensor<3x2x4x5xf32>, tensor<3x1x5x2xf32>, tensor<4x1xf32>)
      -> tensor<2x4x2xf32>
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
  %5 = ff.unary shift(%x) alpha 0.3 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %6 = ff.unary abs(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %7 = ff.unary exp(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %8 = ff.unary sqrt(%7) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %9 = ff.unary log(%7) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %10 = ff.unary erf(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %11 = ff.unary reciprocal(%7) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %12 = ff.unary softplus(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %13 = ff.unary softsign(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %14 = ff.unary sin(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %15 = ff.unary cos(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  return
}

// Trigonometric and hyperbolic functions, within what they are defined on.
func.func @unary_angles(%x: tensor<3x4x5xf32>) {
  %n = ff.unary scale(%x) alpha 0.9 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %m = ff.unary shift(%x) alpha 2.5 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %0 = ff.unary tan(%n) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %1 = ff.unary asin(%n) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %2 = ff.unary acos(%n) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %3 = ff.unary atan(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %4 = ff.unary sinh(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %5 = ff.unary cosh(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %6 = ff.unary asinh(%x) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %7 = ff.unary acosh(%m) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %8 = ff.unary atanh(%n) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  return
}

func.func @noise(%x: tensor<3x4x5xf32>) {
  %0 = ff.noise uniform(%x) {key = 7 : i64} : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %1 = ff.noise normal(%x) {key = 9 : i64} : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  return
}

func.func @bitwise(%a: tensor<3x4x5xi32>, %b: tensor<4x1xi32>,
                   %c: tensor<3x4xi64>) {
  %0 = ff.bitwise and(%a, %b) : (tensor<3x4x5xi32>, tensor<4x1xi32>) -> tensor<3x4x5xi32>
  %1 = ff.bitwise or(%a, %b) : (tensor<3x4x5xi32>, tensor<4x1xi32>) -> tensor<3x4x5xi32>
  %2 = ff.bitwise xor(%c, %c) : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi64>
  %3 = ff.bitwise shift_left(%a, %a) : (tensor<3x4x5xi32>, tensor<3x4x5xi32>) -> tensor<3x4x5xi32>
  %4 = ff.bitwise shift_right(%a, %b) : (tensor<3x4x5xi32>, tensor<4x1xi32>) -> tensor<3x4x5xi32>
  %5 = ff.bitwise shift_right_unsigned(%c, %c) : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi64>
  return
}

// Bends and steps within the operand's range.
func.func @unary_piecewise(%x: tensor<3x4x5xf32>) {
  %w = ff.unary scale(%x) alpha 5.0 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %0 = ff.unary hard_sigmoid(%w) alpha 0.3 beta 0.4 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %1 = ff.unary hard_swish(%w) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %2 = ff.unary elu(%w) alpha 1.2 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %3 = ff.unary selu(%w) alpha 1.6 beta 1.1 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %4 = ff.unary celu(%w) alpha 1.4 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %5 = ff.unary gelu(%w) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %6 = ff.unary silu(%w) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %7 = ff.unary clip(%w) alpha -1.5 beta 2.0 : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %8 = ff.unary sign(%w) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %9 = ff.unary floor(%w) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %10 = ff.unary ceil(%w) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %11 = ff.unary round(%w) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %12 = ff.unary gelu_tanh(%w) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  return
}

func.func @binary(%a: tensor<3x4x5xf32>, %b: tensor<3x4x5xf32>) {
  %0 = ff.binary add(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %1 = ff.binary sub(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %2 = ff.binary mul(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  return
}

func.func @binary_kinds(%a: tensor<3x4x5xf32>, %b: tensor<3x4x5xf32>) {
  %p = ff.unary exp(%a) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %0 = ff.binary div(%b, %p) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %1 = ff.binary pow(%p, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %2 = ff.binary min(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %3 = ff.binary max(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %4 = ff.binary prelu(%a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %5 = ff.binary fmod(%b, %p) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  return
}

func.func @comparisons(%a: tensor<3x4x5xf32>, %b: tensor<4x1xf32>) {
  %0 = ff.binary equal(%a, %b) : (tensor<3x4x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %1 = ff.binary less(%a, %b) : (tensor<3x4x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %2 = ff.binary less_or_equal(%a, %b) : (tensor<3x4x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %3 = ff.binary greater(%a, %b) : (tensor<3x4x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %4 = ff.binary greater_or_equal(%a, %b) : (tensor<3x4x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %5 = ff.binary keep(%a, %0) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %6 = ff.binary drop(%a, %b) : (tensor<3x4x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  return
}

// Every operand lacks a dimension.
func.func @binary_kinds_broadcast(%a: tensor<3x1x5xf32>, %b: tensor<4x1xf32>) {
  %p = ff.unary exp(%a) : tensor<3x1x5xf32> -> tensor<3x1x5xf32>
  %q = ff.unary exp(%b) : tensor<4x1xf32> -> tensor<4x1xf32>
  %0 = ff.binary div(%a, %q) : (tensor<3x1x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %1 = ff.binary pow(%p, %b) : (tensor<3x1x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %2 = ff.binary min(%a, %b) : (tensor<3x1x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %3 = ff.binary max(%a, %b) : (tensor<3x1x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %4 = ff.binary prelu(%a, %b) : (tensor<3x1x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  %5 = ff.binary fmod(%a, %q) : (tensor<3x1x5xf32>, tensor<4x1xf32>) -> tensor<3x4x5xf32>
  return
}

func.func @prelu_channel(%x: tensor<3x4x2x2xf32>, %slope: tensor<4x1x1xf32>) {
  %0 = ff.binary prelu(%x, %slope) : (tensor<3x4x2x2xf32>, tensor<4x1x1xf32>) -> tensor<3x4x2x2xf32>
  return
}

func.func @select(%m: tensor<3x4x5xf32>, %a: tensor<3x4x5xf32>, %b: tensor<3x4x5xf32>) {
  %c = ff.unary relu(%m) : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  %0 = ff.select(%c, %a, %b) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  return
}

// No operand has the result's shape.
func.func @select_broadcast(%m: tensor<4x1xf32>, %a: tensor<3x1x5xf32>, %b: tensor<f32>) {
  %c = ff.unary relu(%m) : tensor<4x1xf32> -> tensor<4x1xf32>
  %0 = ff.select(%c, %a, %b) : (tensor<4x1xf32>, tensor<3x1x5xf32>, tensor<f32>) -> tensor<3x4x5xf32>
  return
}

func.func @cast(%x: tensor<3x4x5xf32>, %i: tensor<4x3xi64>) {
  %0 = ff.cast(%x) : (tensor<3x4x5xf32>) -> tensor<3x4x5xf64>
  %1 = ff.cast(%x) : (tensor<3x4x5xf32>) -> tensor<3x4x5xi32>
  %2 = ff.cast(%x) : (tensor<3x4x5xf32>) -> tensor<3x4x5xi1>
  %3 = ff.cast(%i) : (tensor<4x3xi64>) -> tensor<4x3xf32>
  %4 = ff.cast(%i) : (tensor<4x3xi64>) -> tensor<4x3xui8>
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

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

func.func @softmax(%x: tensor<4x5x3xf32>) {
  %0 = ff.softmax(%x) {axes = array<i64: 1>, log = 0 : i64} : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %1 = ff.softmax(%x) {axes = array<i64: 1, 2>, log = 0 : i64} : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %2 = ff.softmax(%x) {axes = array<i64: 2>, log = 1 : i64} : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return
}

// Batch normalisation: each statistic has its own scale and bias.
func.func @normalize_batch(%x: tensor<3x4x3x2xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2, 3>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<3x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<3x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

func.func @normalize_batch_plain(%x: tensor<5x4xf32>) {
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.01 : f64,
      param_dims = array<i64: 1>}
      : (tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// Groups of samples: of two samples, of one, with and without scale and bias.
func.func @normalize_batch_groups(%x: tensor<6x4x3x2xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2, 3>,
      clamp = array<f64: -0.9>, epsilon = 0.01 : f64,
      param_dims = array<i64: 1>, sample_groups = 3}
      : (tensor<6x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<6x4x3x2xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %y2, %m2, %v2 = ff.normalize(%x) {axes = array<i64: 0, 2, 3>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>, sample_groups = 6}
      : (tensor<6x4x3x2xf32>)
      -> (tensor<6x4x3x2xf32>, tensor<6x4xf32>, tensor<6x4xf32>)
  return
}

// Parameters within a set, and rank 2.
func.func @normalize_groups(%x: tensor<4x3x5xf32>, %s: tensor<5xf32>, %z: tensor<8x3xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s) {axes = array<i64: 0, 2>,
      epsilon = 0.01 : f64, param_dims = array<i64: 2>, sample_groups = 2}
      : (tensor<4x3x5xf32>, tensor<5xf32>)
      -> (tensor<4x3x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %y2, %m2, %v2 = ff.normalize(%z) {axes = array<i64: 0>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>, sample_groups = 2}
      : (tensor<8x3xf32>) -> (tensor<8x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// Instance normalisation; a bias alone.
func.func @normalize_instance(%x: tensor<3x4x3x2xf32>, %b: tensor<4xf32>) {
  %y, %m, %v = ff.normalize(%x bias %b) {axes = array<i64: 2, 3>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<3x4x3x2xf32>, tensor<4xf32>)
      -> (tensor<3x4x3x2xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  return
}

// Clamped as by relu, and as by clip.
func.func @normalize_clamp(%x: tensor<3x4x3x2xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2, 3>,
      clamp = array<f64: 0.0>, epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<3x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<3x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>)
  %y2, %m2, %v2 = ff.normalize(%x) {axes = array<i64: 1>,
      clamp = array<f64: -0.2, 0.3>, epsilon = 0.01 : f64,
      param_dims = array<i64: 1>}
      : (tensor<3x4x3x2xf32>)
      -> (tensor<3x4x3x2xf32>, tensor<3x3x2xf32>, tensor<3x3x2xf32>)
  return
}

func.func @normalize_addend(%x: tensor<3x4x3x2xf32>, %s: tensor<4xf32>,
                            %b: tensor<4xf32>, %r: tensor<3x4x3x2xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s bias %b addend %r) {
      axes = array<i64: 0, 2, 3>, clamp = array<f64: 0.0>, epsilon = 0.01 : f64,
      param_dims = array<i64: 1>}
      : (tensor<3x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4x3x2xf32>)
      -> (tensor<3x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>)
  %y2, %m2, %v2 = ff.normalize(%x addend %r) {axes = array<i64: 1>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<3x4x3x2xf32>, tensor<3x4x3x2xf32>)
      -> (tensor<3x4x3x2xf32>, tensor<3x3x2xf32>, tensor<3x3x2xf32>)
  return
}

// Layer normalisation over one dimension and over two; a scale alone.
func.func @normalize_layer(%x: tensor<3x4x5xf32>, %s: tensor<5xf32>, %b: tensor<5xf32>,
                           %s2: tensor<4x5xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 2>,
      epsilon = 0.01 : f64, param_dims = array<i64: 2>}
      : (tensor<3x4x5xf32>, tensor<5xf32>, tensor<5xf32>)
      -> (tensor<3x4x5xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %y2, %m2, %v2 = ff.normalize(%x scale %s2) {axes = array<i64: 1, 2>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1, 2>}
      : (tensor<3x4x5xf32>, tensor<4x5xf32>)
      -> (tensor<3x4x5xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// Gradients that leave out what was cut: batch, instance and groups of samples.
func.func @normalize_backward_cut(%dy: tensor<4x3x5xf32>, %x: tensor<4x3x5xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>, clamp = array<f64: 0.0>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>)
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s bias %b) {axes = array<i64: 0, 2>, clamp = array<f64: 0.0>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>)
  %y1, %m1, %v1 = ff.normalize(%x scale %s) {axes = array<i64: 2>, clamp = array<f64: -0.5, 0.5>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x5xf32>, tensor<3xf32>) -> (tensor<4x3x5xf32>, tensor<4x3xf32>, tensor<4x3xf32>)
  %dx1, %ds1, %db1 = ff.normalize_backward(%dy, %x, %m1, %v1, %s) {axes = array<i64: 2>, clamp = array<f64: -0.5, 0.5>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>)
      -> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>)
  %y2, %m2, %v2 = ff.normalize(%x bias %b) {axes = array<i64: 0, 2>, clamp = array<f64: 0.0>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>, sample_groups = 2 : i64}
      : (tensor<4x3x5xf32>, tensor<3xf32>) -> (tensor<4x3x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %dx2, %ds2, %db2 = ff.normalize_backward(%dy, %x, %m2, %v2 bias %b) {axes = array<i64: 0, 2>, clamp = array<f64: 0.0>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>, sample_groups = 2 : i64}
      : (tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
      -> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// Group normalisation: parameters over a kept and a normalised dimension.
// Gradients that are written as factors of products.
func.func @gradients_narrow(%x: tensor<3x4x5xf32>, %s: tensor<4xf32>,
                            %q: tensor<2x4x3x2xf32>, %l: tensor<2x3x4xf32>) {
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0, 2>, epsilon = 0.01 : f64,
      param_dims = array<i64: 1>}
      : (tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<4xf32>, tensor<4xf32>)
  %dx, %ds, %db = ff.normalize_backward(%y, %x, %m, %v, %s) {axes = array<i64: 0, 2>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1>}
      : (tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<3x4x5xbf16>, tensor<4xf32>, tensor<4xf32>)
  %dq, %dk, %dv = ff.attention_backward(%q, %q, %q, %q, %l, %q) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x3x4xf32>, tensor<2x4x3x2xf32>)
      -> (tensor<2x4x3x2xf16>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>)
  return
}

func.func @normalize_group(%x: tensor<3x2x3x4xf32>, %s: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 2, 3>,
      epsilon = 0.01 : f64, param_dims = array<i64: 1, 2>}
      : (tensor<3x2x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
      -> (tensor<3x2x3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>)
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
  %2 = ff.reshape(%b) : (tensor<6xf32>) -> tensor<2x3xf32>
  %3 = ff.reshape(%m) : (tensor<5x6x4xf32>) -> tensor<5x4x6xf32>
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

func.func @reduce_max(%x: tensor<3x4x5xf32>) {
  %0 = ff.reduce_max(%x) {axes = array<i64: 0, 2>, keepdims = 0 : i64} : (tensor<3x4x5xf32>) -> tensor<4xf32>
  %1 = ff.reduce_max(%x) {axes = array<i64: 1>, keepdims = 1 : i64} : (tensor<3x4x5xf32>) -> tensor<3x1x5xf32>
  return
}

func.func @reduce_prod(%x: tensor<3x4x5xf32>) {
  %0 = ff.reduce_prod(%x) {axes = array<i64: 1>, keepdims = 0 : i64} : (tensor<3x4x5xf32>) -> tensor<3x5xf32>
  %1 = ff.reduce_prod(%x) {axes = array<i64: 0, 2>, keepdims = 1 : i64} : (tensor<3x4x5xf32>) -> tensor<1x4x1xf32>
  return
}

// Of factors none, one and several are 0.
func.func @reduce_prod_of_zeros(%x: tensor<6x3x5xf32>) {
  %0 = ff.unary relu(%x) : tensor<6x3x5xf32> -> tensor<6x3x5xf32>
  %1 = ff.reduce_prod(%0) {axes = array<i64: 1>, keepdims = 0 : i64} : (tensor<6x3x5xf32>) -> tensor<6x5xf32>
  return
}

// Positions that are named twice or not at all.
func.func @gather(%x: tensor<3x5x4xf32>, %i: tensor<6xi32>) {
  %0 = ff.gather(%x) {axis = 1 : i64, indices = array<i64: 4, 0, 0, 2, 0, 3>} : (tensor<3x5x4xf32>) -> tensor<3x6x4xf32>
  %1 = ff.gather(%x) {axis = 2 : i64, indices = array<i64: 3, 1>} : (tensor<3x5x4xf32>) -> tensor<3x5x2xf32>
  %2 = ff.gather(%i) {axis = 0 : i64, indices = array<i64: 5, 3, 1>} : (tensor<6xi32>) -> tensor<3xi32>
  return
}

// Rows that are named twice, or from the end, or not at all.
func.func @embedding(%table: tensor<5x4xf32>, %ids: tensor<3x2xi64>, %batch: tensor<6xi32>) {
  %0 = ff.embedding(%table, %ids) : (tensor<5x4xf32>, tensor<3x2xi64>) -> tensor<3x2x4xf32>
  %1 = ff.embedding(%table, %batch) : (tensor<5x4xf32>, tensor<6xi32>) -> tensor<6x4xf32>
  return
}

func.func @gather_elements(%x: tensor<4x5x3xf32>, %ids: tensor<4x6x3xi64>, %few: tensor<4x5x2xi32>) {
  %0 = ff.gather_elements(%x, %ids) {axis = 1 : i64} : (tensor<4x5x3xf32>, tensor<4x6x3xi64>) -> tensor<4x6x3xf32>
  %1 = ff.gather_elements(%x, %few) {axis = 2 : i64} : (tensor<4x5x3xf32>, tensor<4x5x2xi32>) -> tensor<4x5x2xf32>
  return
}

func.func @scatter_elements(%ids: tensor<4x6x3xi64>, %dy: tensor<4x6x3xf32>) {
  %0 = ff.gather_elements_backward(%ids, %dy) {axis = 1 : i64} : (tensor<4x6x3xi64>, tensor<4x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

func.func @update_rows(%w: tensor<7x4xf32>, %ids: tensor<3x2xi64>, %dy: tensor<3x2x4xf32>, %v: tensor<7x4xf32>) {
  // Sums of squares are not negative.
  %s = ff.binary mul(%v, %v) : (tensor<7x4xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
  %0 = ff.update_rows sgd(%w, %ids, %dy) {hyper = array<f64: 0.0, 0.0>} : (tensor<7x4xf32>, tensor<3x2xi64>, tensor<3x2x4xf32>) -> tensor<7x4xf32>
  %1:2 = ff.update_rows adagrad(%w, %ids, %dy slots %s) {hyper = array<f64: 1.0e-2>}
      : (tensor<7x4xf32>, tensor<3x2xi64>, tensor<3x2x4xf32>, tensor<7x4xf32>) -> (tensor<7x4xf32>, tensor<7x4xf32>)
  return
}

// Scaled, and with a factor that skips the step.
func.func @update_rows_scaled(%w: tensor<7x4xf32>, %ids: tensor<3x2xi64>, %dy: tensor<3x2x4xf32>, %v: tensor<7x4xf32>, %f: tensor<2xf32>,
                              %skip: tensor<2xf32> {ff.name = "infinite"}) {
  %s = ff.binary mul(%v, %v) : (tensor<7x4xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
  %0 = ff.update_rows sgd(%w, %ids, %dy scale %f) {hyper = array<f64: 0.0, 0.0>}
      : (tensor<7x4xf32>, tensor<3x2xi64>, tensor<3x2x4xf32>, tensor<2xf32>) -> tensor<7x4xf32>
  %1:2 = ff.update_rows adagrad(%w, %ids, %dy slots %s scale %skip) {hyper = array<f64: 1.0e-2>}
      : (tensor<7x4xf32>, tensor<3x2xi64>, tensor<3x2x4xf32>, tensor<7x4xf32>, tensor<2xf32>) -> (tensor<7x4xf32>, tensor<7x4xf32>)
  return
}

func.func @resize_nearest(%x: tensor<2x3x4x6xf32>) {
  %0 = ff.resize(%x) {coordinates = "asymmetric", mode = "nearest", nearest = "floor", scales = array<f64: 1.0, 1.0, 2.0, 3.0>}
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x8x18xf32>
  %1 = ff.resize(%x) {coordinates = "half_pixel", mode = "nearest", nearest = "round_prefer_ceil", scales = array<f64: 1.0, 1.0, 0.5, 0.34>}
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x2x2xf32>
  return
}

// Whole factors, up and down, and one that is not.
func.func @resize_linear(%x: tensor<2x2x4x3xf32>) {
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "linear", nearest = "floor", scales = array<f64: 1.0, 1.0, 2.0, 3.0>}
      : (tensor<2x2x4x3xf32>) -> tensor<2x2x8x9xf32>
  %1 = ff.resize(%x) {coordinates = "align_corners", mode = "linear", nearest = "floor", scales = array<f64: 1.0, 1.0, 2.0, 1.7>}
      : (tensor<2x2x4x3xf32>) -> tensor<2x2x8x5xf32>
  %2 = ff.resize(%x) {coordinates = "pytorch_half_pixel", mode = "linear", nearest = "floor", scales = array<f64: 1.0, 1.0, 0.5, 0.34>}
      : (tensor<2x2x4x3xf32>) -> tensor<2x2x2x1xf32>
  return
}

// The batch is resized too.
func.func @resize_cubic(%x: tensor<2x6xf32>) {
  %0 = ff.resize(%x) {coordinates = "half_pixel", mode = "cubic", nearest = "floor", scales = array<f64: 2.0, 0.5>}
      : (tensor<2x6xf32>) -> tensor<4x3xf32>
  return
}

func.func @resize_cubic_inside(%x: tensor<2x6xf32>) {
  %0 = ff.resize(%x) {coordinates = "half_pixel", cubic_coeff_a = -0.5, exclude_outside = 1 : i64, mode = "cubic", nearest = "floor", scales = array<f64: 2.0, 0.5>}
      : (tensor<2x6xf32>) -> tensor<4x3xf32>
  return
}

// Halves of rows are windows that reach further than what they cover.
func.func @resize_smooth(%x: tensor<2x2x4x6xf32>) {
  %0 = ff.resize(%x) {antialias = 1 : i64, coordinates = "half_pixel", mode = "linear", nearest = "floor", scales = array<f64: 1.0, 1.0, 0.5, 0.4>}
      : (tensor<2x2x4x6xf32>) -> tensor<2x2x2x2xf32>
  return
}

func.func @resize_smooth_cubic(%x: tensor<8x6xf32>) {
  %0 = ff.resize(%x) {antialias = 1 : i64, coordinates = "half_pixel", exclude_outside = 1 : i64, mode = "cubic", nearest = "floor", scales = array<f64: 0.5, 2.0>}
      : (tensor<8x6xf32>) -> tensor<4x12xf32>
  return
}

func.func @resize_symmetric(%x: tensor<2x2x4x3xf32>) {
  %0 = ff.resize(%x) {coordinates = "half_pixel_symmetric", mode = "linear", nearest = "floor", scales = array<f64: 1.0, 1.0, 0.6, 2.3>}
      : (tensor<2x2x4x3xf32>) -> tensor<2x2x2x6xf32>
  return
}

// One region is read as often as it has positions, the other one more often.
func.func @resize_region(%x: tensor<2x2x4x6xf32>) {
  %0 = ff.resize(%x) {coordinates = "tf_crop_and_resize", mode = "linear", nearest = "floor", roi = array<f64: 0.0, 0.0, 0.2, 0.1, 1.0, 1.0, 0.7, 0.9>, scales = array<f64: 1.0, 1.0, 1.0, 2.0>}
      : (tensor<2x2x4x6xf32>) -> tensor<2x2x4x12xf32>
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
// Recurrent layers
//===----------------------------------------------------------------------===//

func.func @lstm(%x: tensor<3x5x16xf32>, %r: tensor<16x4xf32>, %h: tensor<5x4xf32>, %c: tensor<5x4xf32>) {
  %0, %1, %2, %3 = ff.recurrent lstm(%x, %r state %h cell %c) {reverse = 0 : i64}
      : (tensor<3x5x16xf32>, tensor<16x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>)
     -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<3x5x20xf32>)
  return
}

// No first state, weights with a dimension for one direction.
func.func @lstm_reverse(%x: tensor<3x5x16xf32>, %r: tensor<1x16x4xf32>) {
  %0, %1, %2, %3 = ff.recurrent lstm(%x, %r) {reverse = 1 : i64}
      : (tensor<3x5x16xf32>, tensor<1x16x4xf32>)
     -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<3x5x20xf32>)
  return
}

// A single step, with a first state and without: then r has no gradient.
func.func @lstm_step(%x: tensor<1x5x16xf32>, %r: tensor<16x4xf32>, %h: tensor<5x4xf32>) {
  %0, %1, %2, %3 = ff.recurrent lstm(%x, %r state %h) {reverse = 0 : i64}
      : (tensor<1x5x16xf32>, tensor<16x4xf32>, tensor<5x4xf32>)
     -> (tensor<1x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<1x5x20xf32>)
  %4, %5, %6, %7 = ff.recurrent lstm(%x, %r) {reverse = 0 : i64}
      : (tensor<1x5x16xf32>, tensor<16x4xf32>)
     -> (tensor<1x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<1x5x20xf32>)
  return
}

func.func @gru(%x: tensor<3x5x12xf32>, %r: tensor<12x4xf32>, %h: tensor<5x4xf32>) {
  %0, %1, %2 = ff.recurrent gru(%x, %r state %h) {reverse = 1 : i64}
      : (tensor<3x5x12xf32>, tensor<12x4xf32>, tensor<5x4xf32>)
     -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x12xf32>)
  return
}

func.func @gru_reset_after(%x: tensor<3x5x12xf32>, %r: tensor<1x12x4xf32>, %b: tensor<1x12xf32>) {
  %0, %1, %2 = ff.recurrent gru_reset_after(%x, %r bias %b) {reverse = 0 : i64}
      : (tensor<3x5x12xf32>, tensor<1x12x4xf32>, tensor<1x12xf32>)
     -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x16xf32>)
  return
}

func.func @rnn(%x: tensor<3x5x4xf32>, %r: tensor<4x4xf32>, %h: tensor<5x4xf32>) {
  %0, %1, %2 = ff.recurrent rnn_tanh(%x, %r state %h) {reverse = 0 : i64}
      : (tensor<3x5x4xf32>, tensor<4x4xf32>, tensor<5x4xf32>)
     -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  %3, %4, %5 = ff.recurrent rnn_relu(%x, %r) {reverse = 1 : i64}
      : (tensor<3x5x4xf32>, tensor<4x4xf32>)
     -> (tensor<3x5x4xf32>, tensor<5x4xf32>, tensor<3x5x4xf32>)
  return
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

func.func @attention(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x2xf32>) {
  %0, %1 = ff.attention(%q, %k, %v) {hidden = array<f64>, scale = 0.5 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x2xf32>) -> (tensor<2x5x3x2xf32>, tensor<2x3x5xf32>)
  %2, %3 = ff.attention(%q, %k, %v) {hidden = array<f64>, key = 42 : i64, ratio = 0.4 : f64, scale = 1.0 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x2xf32>) -> (tensor<2x5x3x2xf32>, tensor<2x3x5xf32>)
  return
}

// A mask that is added, one for every sample, and one that hides some positions.
func.func @attention_mask(%q: tensor<2x5x3x4xf32>, %k: tensor<2x5x3x4xf32>, %v: tensor<2x5x3x4xf32>,
                          %m: tensor<2x1x1x5xf32> {ff.name = "mask"}, %c: tensor<5x5xf32> {ff.name = "sparse"}) {
  %0, %1 = ff.attention(%q, %k, %v mask %m) {hidden = array<f64>, scale = 1.0 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x1x1x5xf32>)
     -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %2, %3 = ff.attention(%q, %k, %v mask %c) {hidden = array<f64: -2.0>, scale = 1.0 : f64}
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<5x5xf32>)
     -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  return
}

//===----------------------------------------------------------------------===//
// Selection and running sums
//===----------------------------------------------------------------------===//

func.func @top_k(%x: tensor<6x5xf32>) {
  %0, %1 = ff.top_k(%x) {axis = 1 : i64, largest = 1 : i64}
      : (tensor<6x5xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2, %3 = ff.top_k(%x) {axis = 0 : i64, largest = 0 : i64}
      : (tensor<6x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xi64>)
  return
}

func.func @cum_sum(%x: tensor<6x5xf32>) {
  %0 = ff.cum_sum(%x) {axis = 0 : i64, exclusive = 0 : i64, reverse = 0 : i64}
      : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %1 = ff.cum_sum(%x) {axis = 1 : i64, exclusive = 1 : i64, reverse = 1 : i64}
      : (tensor<6x5xf32>) -> tensor<6x5xf32>
  return
}

func.func @reverse_sequence(%x: tensor<5x4x3xf32>, %y: tensor<3x6xf32>, %four: tensor<4xi64>, %three: tensor<3xi64>) {
  %0 = ff.reverse_sequence(%x, %four) {batch_axis = 1 : i64, time_axis = 0 : i64}
      : (tensor<5x4x3xf32>, tensor<4xi64>) -> tensor<5x4x3xf32>
  %1 = ff.reverse_sequence(%y, %three) {batch_axis = 0 : i64, time_axis = 1 : i64}
      : (tensor<3x6xf32>, tensor<3xi64>) -> tensor<3x6xf32>
  return
}

//===----------------------------------------------------------------------===//
// Losses and updates
//===----------------------------------------------------------------------===//

// Several results, one of them used inside as well; operands of other shapes.
func.func @fused(%x: tensor<4x3x5x6xf32>, %c: tensor<3x1x1xf32>, %n: tensor<4x1x1x1xf32>, %w: tensor<6xf32>) {
  %0, %1 = ff.fused(%x, %c, %n, %w) {
  ^bb0(%a: tensor<4x3x5x6xf32>, %b: tensor<3x1x1xf32>, %d: tensor<4x1x1x1xf32>, %e: tensor<6xf32>):
    %0 = ff.binary add(%a, %b) : (tensor<4x3x5x6xf32>, tensor<3x1x1xf32>) -> tensor<4x3x5x6xf32>
    %1 = ff.unary leaky_relu(%0) alpha 0.1 : tensor<4x3x5x6xf32> -> tensor<4x3x5x6xf32>
    %2 = ff.binary mul(%d, %1) : (tensor<4x1x1x1xf32>, tensor<4x3x5x6xf32>) -> tensor<4x3x5x6xf32>
    %3 = ff.unary_backward tanh(%2, %a) : (tensor<4x3x5x6xf32>, tensor<4x3x5x6xf32>) -> tensor<4x3x5x6xf32>
    %4 = ff.select(%e, %3, %0) : (tensor<6xf32>, tensor<4x3x5x6xf32>, tensor<4x3x5x6xf32>) -> tensor<4x3x5x6xf32>
    ff.yield %4, %1 : tensor<4x3x5x6xf32>, tensor<4x3x5x6xf32>
  } : (tensor<4x3x5x6xf32>, tensor<3x1x1xf32>, tensor<4x1x1x1xf32>, tensor<6xf32>) -> (tensor<4x3x5x6xf32>, tensor<4x3x5x6xf32>)
  return
}

// No operand has the results' shape.
func.func @fused_narrow(%x: tensor<4x5xf32>, %c: tensor<5xf32>) {
  %0, %1, %2 = ff.fused(%x, %c) {
  ^bb0(%a: tensor<4x5xf32>, %b: tensor<5xf32>):
    %t = ff.binary mul(%a, %b) : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
    %n = ff.cast(%t) : (tensor<4x5xf32>) -> tensor<4x5xbf16>
    %m = ff.cast(%t) : (tensor<4x5xf32>) -> tensor<4x5xf16>
    ff.yield %n, %t, %m : tensor<4x5xbf16>, tensor<4x5xf32>, tensor<4x5xf16>
  } : (tensor<4x5xf32>, tensor<5xf32>) -> (tensor<4x5xbf16>, tensor<4x5xf32>, tensor<4x5xf16>)
  return
}

func.func @fused_outer(%x: tensor<4x1xf32>, %y: tensor<5xf32>) {
  %0 = ff.fused(%x, %y) {
  ^bb0(%a: tensor<4x1xf32>, %b: tensor<5xf32>):
    %0 = ff.binary mul(%a, %b) : (tensor<4x1xf32>, tensor<5xf32>) -> tensor<4x5xf32>
    %1 = ff.unary exp(%0) : tensor<4x5xf32> -> tensor<4x5xf32>
    ff.yield %1 : tensor<4x5xf32>
  } : (tensor<4x1xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  return
}

func.func @cross_entropy(%x: tensor<4x3x5xf32>, %t: tensor<4x5xi32> {ff.name = "target"}) {
  %0 = ff.cross_entropy(%x, %t) {axis = 1 : i64} : (tensor<4x3x5xf32>, tensor<4x5xi32>) -> tensor<f32>
  %1 = ff.cross_entropy(%x, %t) {axis = 1 : i64, smoothing = 0.25 : f64} : (tensor<4x3x5xf32>, tensor<4x5xi32>) -> tensor<f32>
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

func.func @update(%w: tensor<4x5xf32>, %g: tensor<4x5xf32>, %v: tensor<4x5xf32>, %f: tensor<f32>) {
  // Sums of squares are not negative.
  %s = ff.binary mul(%v, %v) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %0 = ff.update sgd(%w, %g) {hyper = array<f64: 0.0, 0.0>} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %1:2 = ff.update sgd(%w, %g slots %v scale %f) {hyper = array<f64: 0.9, 1.0>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<f32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
  %2:3 = ff.update adam(%w, %g slots %v, %s) {hyper = array<f64: 0.9, 0.999, 1.0e-8>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>)
  %3:3 = ff.update adamw(%w, %g slots %v, %s scale %f) {hyper = array<f64: 0.9, 0.999, 1.0e-8>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<f32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>)
  %4:2 = ff.update adagrad(%w, %g slots %s) {hyper = array<f64: 1.0e-10>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
  %5:3 = ff.update rmsprop(%w, %g slots %s, %v) {hyper = array<f64: 0.99, 1.0e-8, 0.9>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>)
  %6:3 = ff.update lamb(%w, %g slots %v, %s scale %f) {hyper = array<f64: 0.9, 0.999, 1.0e-6>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<f32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>)
  %10 = ff.update ema(%w, %g) {hyper = array<f64: 0.75>} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %9:2 = ff.update lion(%w, %g slots %v scale %f) {hyper = array<f64: 0.9, 0.99>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<f32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
  %7 = ff.square_sum(%g) : (tensor<4x5xf32>) -> tensor<f32>
  %8 = ff.clip_scale(%f, %7, %7) {max_norm = 0.5 : f64} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// Steps that are skipped, and the number of those before.
func.func @update_scaled(%w: tensor<4x5xf32>, %g: tensor<4x5xf32>, %v: tensor<4x5xf32>, %f: tensor<2xf32>,
                         %skip: tensor<2xf32> {ff.name = "infinite"}) {
  %s = ff.binary mul(%v, %v) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %0:3 = ff.update adam(%w, %g slots %v, %s scale %f) {hyper = array<f64: 0.9, 0.999, 1.0e-8>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<2xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>)
  %1:3 = ff.update adamw(%w, %g slots %v, %s scale %skip) {hyper = array<f64: 0.9, 0.999, 1.0e-8>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<2xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>)
  %2:3 = ff.update lamb(%w, %g slots %v, %s scale %skip) {hyper = array<f64: 0.9, 0.999, 1.0e-6>}
      : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<2xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>)
  return
}

func.func @loss_scale(%s: tensor<f32>, %good: tensor<f32>, %skipped: tensor<f32>, %g: tensor<4x5xf32>,
                      %b: tensor<f32> {ff.name = "infinite"}) {
  // Scales and sums are not negative.
  %s2 = ff.binary mul(%s, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = ff.square_sum(%g) : (tensor<4x5xf32>) -> tensor<f32>
  %0:4 = ff.loss_scale(%s2, %good, %skipped, %a, %a) {interval = 2 : i64, least = 1.0e-3 : f64, max_norm = 0.5 : f64, most = 8.0 : f64}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
  %1:4 = ff.loss_scale(%s2, %good, %skipped, %a, %b) {interval = 2 : i64, least = 1.0e-3 : f64, max_norm = 0.0 : f64, most = 8.0 : f64}
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return
}
