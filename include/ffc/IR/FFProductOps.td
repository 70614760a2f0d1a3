//===- FFProductOps.td - matrix products -------------------*- tablegen -*-===//
// Included by FFOps.td.

def FF_MatMulOp
    : FF_Op<"matmul",
          [Pure, AttrSizedOperandSegments,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots", "getMultipliedOperands",
                                      "getNarrowable", "getPhaseArgs"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>,
           FF_AddingInterface, FF_ClampingInterface, FF_NarrowingInterface]> {
  let summary = "y = alpha op(a) op(b) + beta c + addend, on (batches of) matrices";
  let description = [{
    `op` transposes the last two dimensions where `trans_a`, `trans_b` are not 0.

    All dimensions but the last two number the matrices of a batch. They are
    aligned at the last one; a tensor has a dimension's extent, or 1, or lacks
    it. An operand without a batch dimension serves all along it, as in numpy. A
    *result* without one is summed along it. So each of the three products of a
    training step is one operator, whichever operand was broadcast, and the
    weight gradient of a linear layer on [N, T, K] never exists per sample:

    ```mlir
    %y = ff.matmul(%x, %w) {alpha = 1.0 : f64, beta = 1.0 : f64,
        trans_a = 0 : i64, trans_b = 0 : i64}
        : (tensor<8x5x16xf32>, tensor<16x10xf32>) -> tensor<8x5x10xf32>
    %dw = ff.matmul(%x, %dy) {alpha = 1.0 : f64, beta = 1.0 : f64,
        dim_names = ["n", "k", "c", "r"], trans_a = 1 : i64, trans_b = 0 : i64}
        : (tensor<8x5x16xf32>, tensor<8x5x10xf32>) -> tensor<16x10xf32>
    ```

    Iteration space: batch dimensions, rows, columns, and the contracted
    dimension. Two matrices have n, c and k; a batch of matrices has n, h, d2,
    d3, ... for the batch, r, c and k. `dim_names` renames all of them, so that a
    gradient has the names of its forward operator (above, dw has rows k,
    columns c, and contracts over r). By kind, n is a sample dimension, c and k
    are parameters, others attributes; what is summed over, the contracted
    dimension and the batch dimensions that the result lacks, is a reduction.

    Splitting n or r is data parallelism, h splits attention heads, c and k
    split the weights of a linear layer (k gives partial sums). An operand that
    lacks a split batch dimension is read whole by every part. With a split
    reduction c and the addend are read by the first block only, and c of rank 0
    forbids the split. `clamp`, which cuts y to bounds, and the rounding of a
    narrow y wait for the whole sum then, and are a kernel of their own.

    Constraints:
      1. op(a) is [..., M, K], op(b) is [..., K, N], the result is [..., M, N].
      2. c broadcasts to the result.
      3. `dim_names` holds a name for each iteration dimension, all different.
      4. Batch dimensions have the extent of the broadcast of a and b, or 1.
      5. There are at most 5 batch dimensions.
      6. The element types are the same, or a and b are both bf16 or f16 and
         others f32. c may be as narrow where it is a row, and y where there is no
         addend, c is none or such a row, alpha and beta are 1, and no batch
         dimension is summed.
  }];
  let arguments = (ins FF_AnyMatrices:$a, FF_AnyMatrices:$b, Optional<FF_Summand>:$c,
                   Optional<FF_FloatTensor>:$addend,
                   F64Attr:$alpha, F64Attr:$beta,
                   OptionalAttr<StrArrayAttr>:$dim_names, I64Attr:$trans_a,
                   I64Attr:$trans_b, OptionalAttr<DenseF64ArrayAttr>:$clamp);
  let results = (outs FF_AnyMatrices:$y);
  let extraClassDeclaration = [{
    bool canNarrow(::mlir::OpResult result);
    bool hasEpilogue() { return true; }
    /// Is it op(a) op(b), or that and a row that all rows are added to, before
    /// bounds? Libraries go on with such a sum.
    bool isLinear();
  }];
  let builders = [
    // Without addend and bounds.
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$a, "::mlir::Value":$b,
                   "::mlir::Value":$c, "::mlir::FloatAttr":$alpha,
                   "::mlir::FloatAttr":$beta, "::mlir::ArrayAttr":$dim_names,
                   "::mlir::IntegerAttr":$trans_a, "::mlir::IntegerAttr":$trans_b), [{
      build($_builder, $_state, type, a, b, c, ::mlir::Value(), alpha, beta,
            dim_names, trans_a, trans_b, ::mlir::DenseF64ArrayAttr());
    }]>
  ];
  let assemblyFormat = [{
    `(` $a `,` $b (`,` $c^)? (`addend` $addend^)? `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_MatMulSumsOp
    : FF_Op<"matmul_sums",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                           ["getMultipliedOperands"]>]> {
  let summary = "y = alpha op(a) op(b), and an operand summed along what is contracted";
  let description = [{
    The gradients of a layer's weights and bias at once: one operand is the
    gradient of the layer's result, and its sums over all but the last dimension
    are that of the bias. A library that multiplies has every element at hand.
    The pass `fuse-sums` makes it of ff.matmul and ff.reduce_sum.

    `sums_of` is 0 where the sums are those of a, 1 where they are those of b. As
    stored, this operand has the contracted dimension before the one of y:

    ```mlir
    %dw, %db = ff.matmul_sums(%x, %dy) {alpha = 1.0 : f64, sums_of = 1 : i64,
        trans_a = 1 : i64, trans_b = 0 : i64}
        : (tensor<8x5x16xf32>, tensor<8x5x10xf32>) -> (tensor<16x10xf32>, tensor<10xf32>)
    ```

    Iteration space: that of ff.matmul; where reductions are split, y and sums
    are partial. Blocks of the dimension of y that the sums lack all compute the
    same sums.

    Constraints:
      1. As constraints 1, 3, 4 and 5 of ff.matmul; y has rank 2.
      2. a is transposed if its sums are taken, b not if its are; the operand has
         all batch dimensions.
      3. `sums` has the extent of the operand's last dimension.
      4. The element types are the same, or a and b are both bf16 or f16 and
         others f32.
  }];
  let arguments = (ins FF_AnyMatrices:$a, FF_AnyMatrices:$b, F64Attr:$alpha,
                   OptionalAttr<StrArrayAttr>:$dim_names, I64Attr:$sums_of,
                   I64Attr:$trans_a, I64Attr:$trans_b);
  let results = (outs FF_Matrices:$y, FF_FloatTensor:$sums);
  let extraClassDeclaration = [{
    bool sumsA() { return getSumsOf() == 0; }
    /// The operand whose sums are taken.
    ::mlir::Value getSummed() { return sumsA() ? getA() : getB(); }
  }];
  let assemblyFormat = [{
    `(` $a `,` $b `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_MatMulGeluOp
    : FF_Op<"matmul_gelu",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                           ["getOperandSlots", "getMultipliedOperands"]>]> {
  let summary = "z = op(a) op(b) + c and y = gelu_tanh(z)";
  let description = [{
    A layer and the function behind it, which a library that multiplies can
    compute of what it holds; the function's gradient reads z. Where results are
    narrow, y is the function of the sum before that is rounded. The pass
    `fuse-gelu` makes it of ff.matmul and ff.unary.

    ```mlir
    %z, %y = ff.matmul_gelu(%x, %w, %b) {trans_a = 0 : i64, trans_b = 1 : i64}
        : (tensor<8x16xf32>, tensor<64x16xf32>, tensor<64xf32>)
        -> (tensor<8x64xf32>, tensor<8x64xf32>)
    ```

    Iteration space: that of ff.matmul, without splits of what is contracted:
    the function of parts is not that of the sum.

    Constraints:
      1. As constraints 1, 3, 4 and 5 of ff.matmul, of z; it has all batch
         dimensions.
      2. c is a row of z, a vector or with dimensions of extent 1 before.
      3. y has the shape of z.
      4. The element types are the same.
  }];
  let arguments = (ins FF_AnyMatrices:$a, FF_AnyMatrices:$b,
                   Optional<FF_Summand>:$c, OptionalAttr<StrArrayAttr>:$dim_names,
                   I64Attr:$trans_a, I64Attr:$trans_b);
  let results = (outs FF_AnyMatrices:$z, FF_AnyMatrices:$y);
  let assemblyFormat = [{
    `(` $a `,` $b (`,` $c^)? `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_MatMulGeluBackwardOp
    : FF_Op<"matmul_gelu_backward",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                           ["getMultipliedOperands"]>]> {
  let summary = "dz = op(a) op(b) gelu_tanh'(z), element by element";
  let description = [{
    The gradient of gelu_tanh behind the product that computes the gradient of
    its result. Where results are narrow, it is rounded once, after both. The
    pass `fuse-gelu` makes it of ff.matmul and ff.unary_backward.

    Iteration space: that of ff.matmul_gelu.

    Constraints:
      1. As constraints 1, 3, 4 and 5 of ff.matmul, of dz; it has all batch
         dimensions.
      2. z has the shape of dz.
      3. The element types are the same.
  }];
  let arguments = (ins FF_AnyMatrices:$a, FF_AnyMatrices:$b, FF_AnyMatrices:$z,
                   OptionalAttr<StrArrayAttr>:$dim_names, I64Attr:$trans_a,
                   I64Attr:$trans_b);
  let results = (outs FF_AnyMatrices:$dz);
  let assemblyFormat = [{
    `(` $a `,` $b `,` $z `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
