//===- FFRankingOps.td - largest elements and running sums --*- tablegen -*-===//
// Included by FFOps.td. What a mixture of experts routes its samples with.
//
// Every verifier of this file also checks constraint 0: all extents are known
// and over 0.

def FF_TopKOp
    : FF_Op<"top_k",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "the first elements along `axis` in descending order, and where they are";
  let description = [{
    y holds as many elements as it has room for, the largest first, or with
    `largest = 0` the smallest first; of equal ones, the one with the lower index.
    `index` says where they are.

    Iteration space: that of x. `axis` cannot be split.

    Constraints:
      1. `axis` is a dimension of x.
      2. y has x's type, but for at most as many elements along `axis`.
      3. index is i64 and has y's shape.
  }];
  let arguments = (ins FF_FloatTensor:$x, I64Attr:$axis, I64Attr:$largest);
  let results = (outs FF_FloatTensor:$y, FF_Tensor:$index);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_TopKBackwardOp
    : FF_Op<"top_k_backward",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface>]> {
  let summary = "gradient of top_k: each element of dy goes where index says";
  let description = [{
    Iteration space: that of dx.

    Constraints: as ff.top_k, with dy for y and dx for x.
  }];
  let arguments = (ins FF_FloatTensor:$dy, FF_Tensor:$index, I64Attr:$axis);
  let results = (outs FF_FloatTensor:$dx);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_CumSumOp
    : FF_Op<"cum_sum",
          [Pure, SameOperandsAndResultType,
           DeclareOpInterfaceMethods<FF_PartitionableInterface>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "running sums along `axis`";
  let description = [{
    y[i] is the sum of x[0] to x[i], or with `exclusive` to x[i - 1]. With `reverse`
    the sums run from the end. `axis` cannot be split.

    Constraints:
      1. `axis` is a dimension of x.
      2. Operand and result have the same type.
  }];
  let arguments = (ins FF_FloatTensor:$x, I64Attr:$axis, I64Attr:$exclusive,
                   I64Attr:$reverse);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
