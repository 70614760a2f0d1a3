//===- FFNormOps.td - normalisation over dimensions --------*- tablegen -*-===//
// Included by FFOps.td.
//
// Every verifier of this file also checks constraint 0: all extents are known
// and over 0.

def FF_NormalizeOp
    : FF_Op<"normalize",
          [Pure, AttrSizedOperandSegments,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots", "getNarrowable"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>,
           FF_AddingInterface, FF_ClampingInterface, FF_NarrowingInterface]> {
  let summary = "y = (x - mean) / sqrt(var + epsilon) * scale + bias + addend";
  let description = [{
    `mean` and `var` are taken over the dimensions `axes`; their shape is x's
    without these. `var` is the population variance. `scale` and `bias` vary along
    the dimensions `param_dims` and have x's extents there. So this is

      * batch normalisation in training: axes = [0, 2, 3], param_dims = [1];
      * instance normalisation:          axes = [2, 3],    param_dims = [1];
      * group normalisation on [N, G, C/G, H, W]:
                                         axes = [2, 3, 4], param_dims = [1, 2];
      * layer normalisation of [N, T, D]: axes = [2],      param_dims = [2].

    The statistics are those of the global tensor. Where `axes` are split, sums
    and centred sums of squares are phases of their own, so that partial results
    are added up over the devices in between.

    The addend has x's shape. With `clamp`, y is cut to these bounds.

    With `sample_groups`, dimension 0, the samples, is cut into so many blocks of
    consecutive samples, each with statistics of its own: mean and var have that
    number as a dimension in front of the others. Splitting the groups (`n`)
    splits no normalised dimension; the samples of a group are the dimension
    `m`.

    Constraints:
      1. `axes` are dimensions of x, ascending, at least one; so are
         `param_dims`.
      2. scale and bias have x's extents along `param_dims`.
      3. y has x's shape; mean and var have it without `axes`, after
         `sample_groups` if there are any. x, addend and y may each be bf16 or
         f16; all else is f32 then.
      4. epsilon is positive.
      5. `sample_groups` is at least 2 and divides dimension 0 of x, which is
         one of `axes` and none of `param_dims`.
  }];
  let arguments = (ins FF_Summand:$x, Optional<FF_FloatTensor>:$scale,
                   Optional<FF_FloatTensor>:$bias,
                   Optional<FF_Summand>:$addend, DenseI64ArrayAttr:$axes,
                   F64Attr:$epsilon, DenseI64ArrayAttr:$param_dims,
                   OptionalAttr<I64Attr>:$sample_groups,
                   OptionalAttr<DenseF64ArrayAttr>:$clamp);
  let results = (outs FF_Summand:$y, FF_FloatTensor:$mean,
                 FF_FloatTensor:$var);
  let extraClassDeclaration = [{
    bool addsNarrow() { return true; }
  }];
  let assemblyFormat = [{
    `(` $x (`scale` $scale^)? (`bias` $bias^)? (`addend` $addend^)? `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_NormalizeBackwardOp
    : FF_Op<"normalize_backward",
          [Pure, AttrSizedOperandSegments,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots", "getNarrowable"]>,
           FF_AddingInterface, FF_NarrowingInterface]> {
  let summary = "gradients of normalize";
  let description = [{
    With g = dy * scale, r = 1 / sqrt(var + epsilon), h = (x - mean) * r, and
    means over `axes`:

        dx     = r * (g - mean(g) - h * mean(g * h)) + addend
        dscale = sum(dy * h), dbias = sum(dy), over all but `param_dims`

    With `clamp`, dy is the gradient of y cut to these bounds, where y is h * scale
    + bias: it counts where y is between them.

    Constraints: as ff.normalize; dy, addend and dx have x's shape and may each be
    bf16 or f16, dscale and dbias have the shape of scale and bias. mean and var are
    treated as functions of x. There is a bias only with bounds, and these are one
    or two and only where no dimension has a parameter and is one of `axes`.
  }];
  let arguments = (ins FF_Summand:$dy, FF_Summand:$x,
                   FF_FloatTensor:$mean, FF_FloatTensor:$var,
                   Optional<FF_FloatTensor>:$scale,
                   Optional<FF_FloatTensor>:$bias,
                   Optional<FF_Summand>:$addend, DenseI64ArrayAttr:$axes,
                   F64Attr:$epsilon, DenseI64ArrayAttr:$param_dims,
                   OptionalAttr<I64Attr>:$sample_groups,
                   OptionalAttr<DenseF64ArrayAttr>:$clamp);
  let results = (outs FF_Summand:$dx, FF_FloatTensor:$dscale,
                 FF_FloatTensor:$dbias);
  let extraClassDeclaration = [{
    bool addsNarrow() { return true; }
  }];
  let assemblyFormat = [{
    `(` $dy `,` $x `,` $mean `,` $var (`,` $scale^)? (`bias` $bias^)?
    (`addend` $addend^)? `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_SoftmaxOp : FF_DiffOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "softmax normalised jointly over `axes`, or its logarithm";
  let description = [{
    With `log` not 0 the logarithm. Where normalised dimensions are split, the
    maximum and the sum of exponentials are phases of their own.

    Constraints:
      1. `axes` are dimensions of x, ascending, at least one.
      2. Operand and result have the same type.
  }];
  let arguments = (ins FF_FloatTensor:$x, DenseI64ArrayAttr:$axes,
                   I64Attr:$log);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_SoftmaxBackwardOp
    : FF_ComputeOp<"softmax_backward", [SameOperandsAndResultType]> {
  let summary = "dx = y * (dy - sum(dy * y)); with log, dy - exp(y) * sum(dy)";
  let description = [{
    Constraints: as ff.softmax.
  }];
  let arguments = (ins FF_FloatTensor:$dy, FF_FloatTensor:$y,
                   DenseI64ArrayAttr:$axes, I64Attr:$log);
  let results = (outs FF_FloatTensor:$dx);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
