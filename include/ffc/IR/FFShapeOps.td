//===- FFShapeOps.td - moving and summing elements ---------*- tablegen -*-===//
// Included by FFOps.td. All operands and results of an operator have the same
// element type.

class FF_ShapeOp<string mnemonic>
    : FF_DiffOp<mnemonic, [SameOperandsAndResultElementType]> {
  let results = (outs FF_Tensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

/// An operator whose result is made of the elements of its operands.
class FF_MovingOp<string mnemonic> : FF_ShapeOp<mnemonic> {
  let extraClassDeclaration = [{
    bool movesElements() { return true; }
  }];
}

def FF_ReshapeOp : FF_MovingOp<"reshape"> {
  let summary = "same elements in row-major order under another shape";
  let description = [{
    Iteration space: the common factors of the two shapes (their coarsest common
    refinement), so a split batch or channel passes through without data motion.
    Where the shapes have no common refinement (6x4 as 8x3), the greatest common
    divisor of the leading dimensions can be split, the rest cannot.

    Constraints:
      1. Operand and result have equally many elements.
  }];
  let arguments = (ins FF_Tensor:$x);
}

def FF_TransposeOp : FF_MovingOp<"transpose"> {
  let summary = "result dimension i is operand dimension perm[i]";
  let description = [{
    Iteration dimensions are named after the result's dimensions, those of a
    gradient after its operand's (the forward operator's result).

    Constraints:
      1. `perm` is a permutation of x's dimensions.
      2. The result has x's shape, permuted.
  }];
  let arguments = (ins FF_Tensor:$x, DenseI64ArrayAttr:$perm);
}

def FF_ConcatOp : FF_MovingOp<"concat"> {
  let summary = "operands one after the other along `axis`";
  let description = [{
    Constraints:
      1. There is at least one operand, and `axis` is one of its dimensions.
      2. Operands differ in the extent along `axis` only.
      3. The result's extent along `axis` is the sum of the operands'.
  }];
  let arguments = (ins Variadic<FF_Tensor>:$inputs, I64Attr:$axis);
}

def FF_SliceOp : FF_MovingOp<"slice"> {
  let summary = "a box of the operand: y[i] = x[i + starts]";
  let description = [{
    Constraints:
      1. Operand and result have the same rank, and `starts` one entry per
         dimension.
      2. The box [starts, starts + extents of the result) lies within x.
  }];
  let arguments = (ins FF_Tensor:$x, DenseI64ArrayAttr:$starts);
}

def FF_PadOp : FF_MovingOp<"pad"> {
  let summary = "adds (or, if negative, removes) elements at the borders";
  let description = [{
    `pads` lists all begins, then all ends. New elements have `value`.

    Constraints:
      1. Operand and result have the same rank, and `pads` two entries per
         dimension.
      2. The result's extents are those of x plus the pads.
  }];
  let arguments = (ins FF_Tensor:$x, DenseI64ArrayAttr:$pads, F64Attr:$value);
  let extraClassDeclaration = [{
    bool movesElements() { return getValue().isZero(); }
  }];
}

def FF_ReduceSumOp
    : FF_Op<"reduce_sum",
          [Pure,
           DeclareOpInterfaceMethods<FF_PartitionableInterface, ["getNarrowable"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "sum over `axes`; with keepdims they stay with extent 1";
  let description = [{
    Summed dimensions are reductions: split, they give partial sums.

    Constraints:
      1. `axes` are dimensions of x, ascending, at least one.
      2. The result has x's shape without the axes, or with extent 1 there, and
         its element type, or f32 where x is bf16 or f16.
  }];
  let arguments = (ins FF_Summand:$x, DenseI64ArrayAttr:$axes,
                   I64Attr:$keepdims);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

class FF_ReduceOp<string mnemonic> : FF_ShapeOp<mnemonic> {
  let arguments = (ins FF_FloatTensor:$x, DenseI64ArrayAttr:$axes,
                   I64Attr:$keepdims);
}

def FF_ReduceMaxOp : FF_ReduceOp<"reduce_max"> {
  let summary = "maximum over `axes`; with keepdims they stay with extent 1";
  let description = [{
    Reduced dimensions are reductions: split, they give partial maxima. Equal
    maxima share the gradient evenly.

    Constraints: as ff.reduce_sum.
  }];
}

def FF_ReduceProdOp : FF_ReduceOp<"reduce_prod"> {
  let summary = "product over `axes`; with keepdims they stay with extent 1";
  let description = [{
    Reduced dimensions cannot be split. The gradient divides by the operand,
    which must not be 0.

    Constraints: as ff.reduce_sum.
  }];
}

def FF_ExpandOp : FF_MovingOp<"expand"> {
  let summary = "broadcasts the operand to the result's shape";
  let description = [{
    Constraints:
      1. The operand broadcasts to the result's shape as in numpy.
  }];
  let arguments = (ins FF_Tensor:$x);
}

def FF_GatherOp : FF_ShapeOp<"gather"> {
  let summary = "slices of the operand along `axis`, by known indices";
  let description = [{
    `y[.., i, ..] = x[.., indices[i], ..]`. What a slice with steps, padding by
    edge or reflection and constant gathers have in common. The operand's
    dimension `axis` is read whole; the result's can be split.

    Constraints:
      1. `axis` is a dimension of x; `indices` are positions of it, at least one.
      2. The result has x's shape, with as many positions along `axis` as there
         are indices.
  }];
  let arguments = (ins FF_Tensor:$x, I64Attr:$axis,
                   DenseI64ArrayAttr:$indices);
}

def FF_GatherBackwardOp
    : FF_ComputeOp<"gather_backward", [SameOperandsAndResultElementType]> {
  let summary = "gradient of gather: dx[.., indices[i], ..] += dy[.., i, ..]";
  let description = [{
    Iteration dimensions are those of dx. Elements that no index names are 0.

    Constraints: as ff.gather, with dy for y and dx for x.
  }];
  let arguments = (ins FF_FloatTensor:$dy, I64Attr:$axis,
                   DenseI64ArrayAttr:$indices);
  let results = (outs FF_FloatTensor:$dx);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

class FF_ResizeLike<string mnemonic, dag tensors, list<Trait> traits>
    : FF_ComputeOp<mnemonic, [SameOperandsAndResultElementType] # traits> {
  let arguments = !con(tensors,
      (ins DefaultValuedAttr<I64Attr, "0">:$antialias, StrAttr:$coordinates,
           DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff_a,
           DefaultValuedAttr<I64Attr, "0">:$exclude_outside, StrAttr:$mode,
           StrAttr:$nearest, DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$roi,
           DenseF64ArrayAttr:$scales));
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_ResizeOp : FF_ResizeLike<"resize", (ins FF_FloatTensor:$x),
                                [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "interpolation on a grid of another size";
  let description = [{
    `mode` is "nearest", "linear" or "cubic" (weights as in ONNX, with the
    coefficient `cubic_coeff_a`), applied dimension by dimension. Positions beyond
    the operand are those at its border, or with `exclude_outside` have no part in
    cubic interpolation. `antialias` widens interpolation, other than of mode nearest,
    by what dimensions of a scale below 1 lose. `coordinates` is ONNX's
    coordinate_transformation_mode: "half_pixel", "half_pixel_symmetric",
    "pytorch_half_pixel", "align_corners", "asymmetric" or "tf_crop_and_resize". The
    latter spreads the result over the region `roi`, all starts, then all ends, in
    parts of the operand. `nearest` is "floor", "ceil",
    "round_prefer_floor" or "round_prefer_ceil" (used by mode nearest). `scales`
    has an entry per dimension; a dimension of scale 1 is copied if its region is
    the whole.

    Copied dimensions can be split; so can those with a whole scale, whose
    windows of input positions are regular.

    Constraints:
      1. Operand and result have the same rank, and `scales` one positive entry
         per dimension.
      2. The words are among those above.
      3. A result extent is floor(extent * scale), or what the scale was derived
         from: it differs from extent * scale by less than 1.
      4. `roi` has two numbers from 0 to 1 per dimension with tf_crop_and_resize,
         else none.
  }];
  let results = (outs FF_FloatTensor:$y);
}

def FF_ResizeBackwardOp
    : FF_ResizeLike<"resize_backward", (ins FF_FloatTensor:$dy), []> {
  let summary = "gradient of resize";
  let description = [{
    Iteration dimensions are those of dx.

    Constraints: as ff.resize, with dy for y and dx for x.
  }];
  let results = (outs FF_FloatTensor:$dx);
}
