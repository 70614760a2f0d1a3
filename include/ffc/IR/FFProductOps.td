//===- FFProductOps.td - matrix products -------------------*- tablegen -*-===//
// Included by FFOps.td.

def FF_MatMulOp
    : FF_Op<"matmul",
          [Pure, AttrSizedOperandSegments,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots", "getFactors"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>,
           FF_AddingInterface, FF_ClampingInterface]> {
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
    forbids the split. So does `clamp`, which cuts y to bounds: those of parts
    are not those of the sum.

    Constraints:
      1. op(a) is [..., M, K], op(b) is [..., K, N], the result is [..., M, N].
      2. c broadcasts to the result.
      3. `dim_names` holds a name for each iteration dimension, all different.
      4. Batch dimensions have the extent of the broadcast of a and b, or 1.
      5. There are at most 5 batch dimensions.
      6. The element types are the same, or a and b are both bf16 or f16 and
         others f32.
  }];
  let arguments = (ins FF_MatrixFactor:$a, FF_MatrixFactor:$b, Optional<FF_FloatTensor>:$c,
                   Optional<FF_FloatTensor>:$addend,
                   F64Attr:$alpha, F64Attr:$beta,
                   OptionalAttr<StrArrayAttr>:$dim_names, I64Attr:$trans_a,
                   I64Attr:$trans_b, OptionalAttr<DenseF64ArrayAttr>:$clamp);
  let results = (outs FF_Matrices:$y);
  let extraClassDeclaration = [{
    // Tensor parallelism splits what is summed over.
    bool addsLate() { return true; }
    bool clampsLate() { return true; }
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
