//===- FFConvOps.td - convolution, pooling, LRN -----------*- tablegen -*-===//
// Included by FFOps.td. Images have one to three spatial dimensions: w; h and w;
// d, h and w. Window attributes are lists over them; `pads` lists all begins, then
// all ends. A pool's extents are given by its result type, so ceil mode is a
// matter of import. Images are channels-last in memory, whatever their rank.
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

class FF_ConvLike<string mnemonic, dag tensors, list<Trait> traits, dag more = (ins)>
    : FF_WindowedOp<mnemonic, [Pure] # traits> {
  let arguments = !con(tensors, (ins DenseI64ArrayAttr:$dilations, I64Attr:$group,
                                     DenseI64ArrayAttr:$pads,
                                     DenseI64ArrayAttr:$strides,
                                     UnitAttr:$transposed), more);
}

def FF_ConvOp
    : FF_ConvLike<"conv",
          (ins FF_AnyImage:$x, FF_AnyImage:$w, Optional<FF_FloatTensor>:$b),
          [DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots", "getMultipliedOperands",
                                      "getPhaseArgs"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>,
           FF_ClampingInterface, FF_NarrowingInterface],
          (ins OptionalAttr<DenseF64ArrayAttr>:$clamp)> {
  let summary = "convolution with groups";
  let description = [{
    `y[n,g*C+c,h,w] = b[g*C+c] + sum_k,i,j x[n,g*K+k,h*s-p+i*d,...] * w[g*C+c,k,i,j]`
    for two spatial dimensions.

    ```mlir
    %y = ff.conv(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64,
        pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
        : (tensor<8x3x32x32xf32>, tensor<64x3x3x3xf32>, tensor<64xf32>)
        -> tensor<8x64x32x32xf32>
    ```

    Iteration space: n sample, g group, c channel of the group, h, w attribute,
    k reduction. Kernel positions are not split. The bias is read where k starts
    at 0. With `clamp`, y is cut to these bounds; where k is split, that and the
    rounding of a narrow y wait for the whole sum, and are a kernel of their own.

    `transposed` stands on the operators of a transposed convolution: its forward
    operator is ff.conv_backward_data, its gradients are ff.conv and
    ff.conv_backward_weights. It swaps the names c and k, so that c is what the
    forward operator computes and k what it sums over. Nothing else depends on it.

    Constraints:
      1. x is [N, G*K, H, W], w is [G*C, K, KH, KW], b is [G*C]; all of one rank.
      2. The result is [N, G*C, OH, OW] with
         OH = floor((H + pads - (KH-1)*dilation - 1) / stride) + 1.
      3. There are a positive stride and dilation per spatial dimension, a positive
         group, and two pads per spatial dimension, none negative.
      4. The window is no larger than the padded image.
      5. The element types are the same, or x and w are both bf16 or f16 and
         others f32, but for y, which may be as narrow.
  }];
  let results = (outs FF_AnyImage:$y);
  let extraClassDeclaration = [{
    // Kernels for groups multiply f32.
    bool canNarrow(::mlir::OpResult) { return getGroup() == 1; }
    bool hasEpilogue() { return true; }
  }];
}

def FF_ConvBackwardDataOp
    : FF_ConvLike<"conv_backward_data", (ins FF_AnyImage:$dy, FF_AnyImage:$w),
                  [DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                             ["getMultipliedOperands", "getPhaseArgs"]>,
                   DeclareOpInterfaceMethods<FF_DifferentiableInterface>,
                   FF_NarrowingInterface]> {
  let summary = "gradient of a convolution with respect to its input; transposed convolution";
  let description = [{
    With `transposed` the forward operator of ONNX's ConvTranspose: dy is its
    operand, dx its result.

    Iteration space: n, g, k (input channel of the group), h, w over the input
    image, c reduction over output channels; with `transposed` k and c are swapped.

    Constraints: as ff.conv, with dy for y and dx for x.
  }];
  let results = (outs FF_AnyImage:$dx);
  let extraClassDeclaration = [{
    bool canNarrow(::mlir::OpResult) { return getGroup() == 1; }
    bool hasEpilogue() { return true; }
  }];
}

def FF_ConvBackwardWeightsOp
    : FF_ConvLike<"conv_backward_weights", (ins FF_AnyImage:$x, FF_AnyImage:$dy),
                  [DeclareOpInterfaceMethods<FF_PartitionableInterface, ["getMultipliedOperands"]>]> {
  let summary = "gradient of a convolution with respect to its weights";
  let description = [{
    Iteration space: g, c, k parameter; n, h, w (over the output image)
    reductions, so a split batch or image gives partial sums.

    Constraints: as ff.conv, with dy for y and dw for w.
  }];
  let results = (outs FF_Image:$dw);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

class FF_MaxPoolLike<string mnemonic, dag tensors, list<Trait> traits>
    : FF_WindowedOp<mnemonic,
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                           ["getNarrowable"]>,
           FF_NarrowingInterface] # traits> {
  let arguments = !con(tensors, (ins DenseI64ArrayAttr:$dilations,
                                     DenseI64ArrayAttr:$kernel_shape,
                                     DenseI64ArrayAttr:$pads,
                                     DenseI64ArrayAttr:$strides));
}

class FF_AveragePoolLike<string mnemonic, dag tensors, list<Trait> traits>
    : FF_WindowedOp<mnemonic,
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                           ["getNarrowable"]>,
           FF_NarrowingInterface] # traits> {
  let arguments = !con(tensors, (ins I64Attr:$count_include_pad,
                                     DenseI64ArrayAttr:$kernel_shape,
                                     DenseI64ArrayAttr:$pads,
                                     DenseI64ArrayAttr:$strides));
}

def FF_MaxPoolOp
    : FF_MaxPoolLike<"max_pool", (ins FF_AnyImage:$x),
                     [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "maximum over windows";
  let description = [{
    `index` is the number h*W+w, or (d*H+h)*W+w, of the first maximum in scan
    order; it is what the gradient reads, whatever the partitioning.

    Constraints:
      1. x is [N, C, H, W], y is [N, C, OH, OW] of the same element type and rank,
         but that both may be bf16 or f16 instead of f32; index is i32 and has y's
         shape.
      2. OH = (H + pads - (KH-1)*dilation - 1) / stride + 1, rounded either way.
      3. There are a positive stride, dilation and kernel extent and two pads, none
         negative, per spatial dimension.
      4. The window is no larger than the padded image, and every window has a
         position inside the image.
  }];
  let results = (outs FF_AnyImage:$y, FF_Tensor:$index);
}

def FF_MaxPoolBackwardOp
    : FF_MaxPoolLike<"max_pool_backward", (ins FF_AnyImage:$dy, FF_Tensor:$index), []> {
  let summary = "gradient of max_pool";
  let description = [{
    Iteration space: n, c, h, w of the input image.

    Constraints: as ff.max_pool, with dy for y and dx for x.
  }];
  let results = (outs FF_AnyImage:$dx);
}

def FF_AveragePoolOp
    : FF_AveragePoolLike<"average_pool", (ins FF_AnyImage:$x),
                         [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "mean over windows; global pooling has the image's window";
  let description = [{
    A window's sum is divided by the number of its positions inside the image,
    or with `count_include_pad` inside the image and the declared pads.

    Constraints: as ff.max_pool, without dilations and index.
  }];
  let results = (outs FF_AnyImage:$y);
}

def FF_AveragePoolBackwardOp
    : FF_AveragePoolLike<"average_pool_backward", (ins FF_AnyImage:$dy), []> {
  let summary = "gradient of average_pool";
  let description = [{
    Iteration space: n, c, h, w of the input image.

    Constraints: as ff.average_pool, with dy for y and dx for x.
  }];
  let results = (outs FF_AnyImage:$dx);
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
