//===- FFAttentionOps.td - attention -----------------------*- tablegen -*-===//
// Included by FFOps.td.
//
// Every verifier of this file also checks constraint 0: all extents are known
// and over 0.

def FF_AnyHeads : TensorRankOf<[BF16, F16, F32, F64], [4]>;

def FF_AttentionOp
    : FF_Op<"attention",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                           ["getOperandSlots", "getMultipliedOperands"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>,
           FF_NarrowingInterface]> {
  let summary = "scaled dot-product attention of all heads";
  let description = [{
    For sample n, head h and position t

        y[n, t, h] = sum over s of softmax(score[n, h, t, ...])[s] * v[n, s, h]
        score[n, h, t, s] = scale * q[n, t, h] . k[n, s, h]

    `mask` is broadcast to [N, H, T, S]. It is added to the scores or, with a
    number in `hidden`, replaces them by that number where it is not 0. `lse` is
    log(sum over s of exp(score)), which the gradient needs. Heads lie where the
    layers before and after have them, behind the positions, so that nothing has
    to be transposed.

    With `causal`, the mask hides the positions s > t and no others, so that
    kernels need not read it. These positions have no weight then, whatever the
    scores are.

    With a `ratio`, the probabilities that v is multiplied by are dropped as by
    ff.dropout with that `ratio` and `key` on [N, H, T, S].

    Iteration space: samples n, positions r, heads h, and the positions s that are
    looked at. Where these are split there are three phases: the largest score of
    every row; the sums of exp(score - largest), and of these times v; and the
    quotients, which every tile of a row has. Scores are computed twice then.

    Constraints:
      1. q is [N, T, H, D], k is [N, S, H, D] and v is [N, S, H, E].
      2. mask broadcasts to [N, H, T, S].
      3. y is [N, T, H, E] and lse is [N, H, T].
      4. `hidden` has one number at most, and only with a mask.
      5. 0 <= ratio < 1.
      6. The element types are the same, or q, k and v are bf16 or f16 and
         others f32, but for y, which may be as narrow.
      7. `causal` is 0, or 1 with a mask, `hidden` and as many rows as positions.
  }];
  let arguments = (ins FF_AnyHeads:$q, FF_AnyHeads:$k, FF_AnyHeads:$v,
                   Optional<FF_FloatTensor>:$mask, DenseF64ArrayAttr:$hidden,
                   F64Attr:$scale, DefaultValuedAttr<I64Attr, "0">:$key,
                   DefaultValuedAttr<F64Attr, "0.0">:$ratio,
                   DefaultValuedAttr<I64Attr, "0">:$causal);
  let results = (outs FF_AnyHeads:$y, FF_FloatTensor:$lse);
  let assemblyFormat = [{
    `(` $q `,` $k `,` $v (`mask` $mask^)? `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_AttentionBackwardOp
    : FF_Op<"attention_backward",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                           ["getOperandSlots", "getMultipliedOperands",
                                            "getNarrowable"]>,
           FF_NarrowingInterface]> {
  let summary = "gradients of ff.attention";
  let description = [{
    The scores are computed again. With p = exp(score - lse), and 0 instead of
    `scale` where a score was replaced, and d what dropout multiplied p by:

        ds[n, h, t, s] = p * (d * dy[n, t, h] . v[n, s, h] - dy[n, t, h] . y[n, t, h])
        dq = scale * ds k, dk = scale * ds^T q, dv = (d p)^T dy

    Iteration space: as ff.attention. Tiles that differ in positions r have
    partial sums of dk and dv, those that differ in positions s of dq. A result
    that is narrow (NarrowingInterface) forbids that.

    Constraints: 1 to 7 as ff.attention, with dy of y's shape and the type of q, k
    and v, and dq, dk and dv of the shapes of q, k and v, f32 or as narrow as
    these.
  }];
  let arguments = (ins FF_AnyHeads:$q, FF_AnyHeads:$k, FF_AnyHeads:$v,
                   FF_AnyHeads:$y, FF_FloatTensor:$lse, FF_AnyHeads:$dy,
                   Optional<FF_FloatTensor>:$mask, DenseF64ArrayAttr:$hidden,
                   F64Attr:$scale, DefaultValuedAttr<I64Attr, "0">:$key,
                   DefaultValuedAttr<F64Attr, "0.0">:$ratio,
                   DefaultValuedAttr<I64Attr, "0">:$causal);
  let results = (outs FF_AnyHeads:$dq, FF_AnyHeads:$dk,
                 FF_AnyHeads:$dv);
  let extraClassDeclaration = [{
    bool canNarrow(::mlir::OpResult) { return true; }
  }];
  let assemblyFormat = [{
    `(` $q `,` $k `,` $v `,` $y `,` $lse `,` $dy (`mask` $mask^)? `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
