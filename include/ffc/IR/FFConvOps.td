//===- FFConvOps.td - convolution, pooling, LRN, products --*- tablegen -*-===//
// Included by FFOps.td. Window attributes are lists over the two spatial
// dimensions; `pads` lists all begins, then all ends. A pool's extents are given
// by its result type, so ceil mode is a matter of import.
//
// Every verifier of this file also checks constraint 0: all extents are known
// and over 0.

class FF_WindowedOp<string mnemonic, list<Trait> traits> : FF_Op<mnemonic, traits> {
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

class FF_ConvLike<string mnemonic, dag tensors, list<Trait> traits>
    : FF_WindowedOp<mnemonic, [Pure, SameOperandsAndResultElementType] # traits> {
  let arguments = !con(tensors, (ins DenseI64ArrayAttr:$dilations, I64Attr:$group,
                                     DenseI64ArrayAttr:$pads,
                                     DenseI64ArrayAttr:$strides));
}

def FF_Conv2dOp
    : FF_ConvLike<"conv2d",
          (ins FF_Image:$x, FF_Image:$w, Optional<FF_Tensor>:$b),
          [DeclareOpInterfaceMethods<FF_PartitionableInterface, ["getOperandSlots"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "2-D convolution with groups";
  let description = [{
    `y[n,g*C+c,h,w] = b[g*C+c] + sum_k,i,j x[n,g*K+k,h*s-p+i*d,...] * w[g*C+c,k,i,j]`.

    ```mlir
    %y = ff.conv2d(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64,
        pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
        : (tensor<8x3x32x32xf32>, tensor<64x3x3x3xf32>, tensor<64xf32>)
        -> tensor<8x64x32x32xf32>
    ```

    Iteration space: n sample, g group, c channel of the group, h, w attribute,
    k reduction. Kernel positions are not split. The bias is read where k starts
    at 0.

    Constraints:
      1. x is [N, G*K, H, W], w is [G*C, K, KH, KW], b is [G*C].
      2. The result is [N, G*C, OH, OW] with
         OH = floor((H + pads - (KH-1)*dilation - 1) / stride) + 1.
      3. There are two positive strides and dilations, a positive group, and
         four pads, none negative.
      4. The window is no larger than the padded image.
  }];
  let results = (outs FF_Image:$y);
}

def FF_Conv2dBackwardDataOp
    : FF_ConvLike<"conv2d_backward_data", (ins FF_Image:$dy, FF_Image:$w),
                  [DeclareOpInterfaceMethods<FF_PartitionableInterface>]> {
  let summary = "gradient of a convolution with respect to its input";
  let description = [{
    Iteration space: n, g, k (input channel of the group), h, w over the input
    image, c reduction over output channels.

    Constraints: as ff.conv2d, with dy for y and dx for x.
  }];
  let results = (outs FF_Image:$dx);
}

def FF_Conv2dBackwardWeightsOp
    : FF_ConvLike<"conv2d_backward_weights", (ins FF_Image:$x, FF_Image:$dy),
                  [DeclareOpInterfaceMethods<FF_PartitionableInterface>]> {
  let summary = "gradient of a convolution with respect to its weights";
  let description = [{
    Iteration space: g, c, k parameter; n, h, w (over the output image)
    reductions, so a split batch or image gives partial sums.

    Constraints: as ff.conv2d, with dy for y and dw for w.
  }];
  let results = (outs FF_Image:$dw);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

class FF_MaxPoolLike<string mnemonic, dag tensors, list<Trait> traits>
    : FF_WindowedOp<mnemonic,
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface>] # traits> {
  let arguments = !con(tensors, (ins DenseI64ArrayAttr:$dilations,
                                     DenseI64ArrayAttr:$kernel_shape,
                                     DenseI64ArrayAttr:$pads,
                                     DenseI64ArrayAttr:$strides));
}

class FF_AveragePoolLike<string mnemonic, dag tensors, list<Trait> traits>
    : FF_WindowedOp<mnemonic,
          [Pure, SameOperandsAndResultElementType,
           DeclareOpInterfaceMethods<FF_PartitionableInterface>] # traits> {
  let arguments = !con(tensors, (ins I64Attr:$count_include_pad,
                                     DenseI64ArrayAttr:$kernel_shape,
                                     DenseI64ArrayAttr:$pads,
                                     DenseI64ArrayAttr:$strides));
}

def FF_MaxPoolOp
    : FF_MaxPoolLike<"max_pool", (ins FF_Image:$x),
                     [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "2-D maximum over windows";
  let description = [{
    `index` is the in-plane number h*W+w of the first maximum in scan order; it
    is what the gradient reads, whatever the partitioning.

    Constraints:
      1. x is [N, C, H, W], y is [N, C, OH, OW] of the same element type; index
         is i32 and has y's shape.
      2. OH = (H + pads - (KH-1)*dilation - 1) / stride + 1, rounded either way.
      3. There are two positive strides, dilations and kernel extents, and four
         pads, none negative.
      4. The window is no larger than the padded image, and every window has a
         position inside the image.
  }];
  let results = (outs FF_Image:$y, FF_Tensor:$index);
}

def FF_MaxPoolBackwardOp
    : FF_MaxPoolLike<"max_pool_backward", (ins FF_Image:$dy, FF_Tensor:$index), []> {
  let summary = "gradient of max_pool";
  let description = [{
    Iteration space: n, c, h, w of the input image.

    Constraints: as ff.max_pool, with dy for y and dx for x.
  }];
  let results = (outs FF_Image:$dx);
}

def FF_AveragePoolOp
    : FF_AveragePoolLike<"average_pool", (ins FF_Image:$x),
                         [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "2-D mean over windows; global pooling has the image's window";
  let description = [{
    A window's sum is divided by the number of its positions inside the image,
    or with `count_include_pad` inside the image and the declared pads.

    Constraints: as ff.max_pool, without dilations and index.
  }];
  let results = (outs FF_Image:$y);
}

def FF_AveragePoolBackwardOp
    : FF_AveragePoolLike<"average_pool_backward", (ins FF_Image:$dy), []> {
  let summary = "gradient of average_pool";
  let description = [{
    Iteration space: n, c, h, w of the input image.

    Constraints: as ff.average_pool, with dy for y and dx for x.
  }];
  let results = (outs FF_Image:$dx);
}

//===----------------------------------------------------------------------===//
// Local response normalisation
//===----------------------------------------------------------------------===//

class FF_LrnLike<string mnemonic, dag tensors, list<Trait> traits>
    : FF_WindowedOp<mnemonic,
          [Pure, SameOperandsAndResultType,
           DeclareOpInterfaceMethods<FF_PartitionableInterface>] # traits> {
  let arguments = !con(tensors, (ins F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias,
                                     I64Attr:$size));
}

def FF_LrnOp : FF_LrnLike<"lrn", (ins FF_FloatTensor:$x),
                          [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "local response normalisation across channels";
  let description = [{
    `scale = bias + alpha/size * sum of x^2 over the window`, `y = x *
    scale^-beta`. The window of channel c is c - floor((size-1)/2) to
    c + ceil((size-1)/2). A split channel dimension reads a halo of channels.

    Constraints:
      1. x has rank 2 or more; all types are the same.
      2. `size` is positive.
  }];
  let results = (outs FF_FloatTensor:$y, FF_FloatTensor:$scale);
}

def FF_LrnBackwardOp
    : FF_LrnLike<"lrn_backward",
                 (ins FF_FloatTensor:$dy, FF_FloatTensor:$x, FF_FloatTensor:$scale),
                 []> {
  let summary = "gradient of lrn";
  let description = [{
    Constraints: as ff.lrn.
  }];
  let results = (outs FF_FloatTensor:$dx);
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

def FF_MatMulOp
    : FF_Op<"matmul",
          [Pure, SameOperandsAndResultElementType,
           DeclareOpInterfaceMethods<FF_PartitionableInterface, ["getOperandSlots"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "y = alpha op(a) op(b) + beta c, on matrices";
  let description = [{
    `op` transposes where `trans_a`, `trans_b` are not 0.

    Iteration space: rows, columns and the contracted dimension, by default
    called n, c and k. `dim_names` renames them, so that a gradient has the names
    of its forward operator: the gradient of b contracts over n. A dimension
    called n is a sample dimension, the contracted one a reduction, others
    parameters. With a split contraction the addend is read by the first block
    only, and an addend of rank 0 forbids the split.

    ```mlir
    %db = ff.matmul(%a, %dy) {alpha = 1.0 : f64, beta = 1.0 : f64,
        dim_names = ["k", "c", "n"], trans_a = 1 : i64, trans_b = 0 : i64}
        : (tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<16x10xf32>
    ```

    Constraints:
      1. op(a) is [M, K], op(b) is [K, N], the result is [M, N].
      2. c has rank at most 2 and broadcasts to [M, N].
      3. `dim_names` holds three different names.
  }];
  let arguments = (ins FF_Matrix:$a, FF_Matrix:$b, Optional<FF_FloatTensor>:$c,
                   F64Attr:$alpha, F64Attr:$beta,
                   OptionalAttr<StrArrayAttr>:$dim_names, I64Attr:$trans_a,
                   I64Attr:$trans_b);
  let results = (outs FF_Matrix:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
