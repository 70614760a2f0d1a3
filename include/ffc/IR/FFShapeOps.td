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

def FF_ReshapeOp : FF_ShapeOp<"reshape"> {
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

def FF_TransposeOp : FF_ShapeOp<"transpose"> {
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

def FF_ConcatOp : FF_ShapeOp<"concat"> {
  let summary = "operands one after the other along `axis`";
  let description = [{
    Constraints:
      1. There is at least one operand, and `axis` is one of its dimensions.
      2. Operands differ in the extent along `axis` only.
      3. The result's extent along `axis` is the sum of the operands'.
  }];
  let arguments = (ins Variadic<FF_Tensor>:$inputs, I64Attr:$axis);
}

def FF_SliceOp : FF_ShapeOp<"slice"> {
  let summary = "a box of the operand: y[i] = x[i + starts]";
  let description = [{
    Constraints:
      1. Operand and result have the same rank, and `starts` one entry per
         dimension.
      2. The box [starts, starts + extents of the result) lies within x.
  }];
  let arguments = (ins FF_Tensor:$x, DenseI64ArrayAttr:$starts);
}

def FF_PadOp : FF_ShapeOp<"pad"> {
  let summary = "adds (or, if negative, removes) elements at the borders";
  let description = [{
    `pads` lists all begins, then all ends. New elements have `value`.

    Constraints:
      1. Operand and result have the same rank, and `pads` two entries per
         dimension.
      2. The result's extents are those of x plus the pads.
  }];
  let arguments = (ins FF_Tensor:$x, DenseI64ArrayAttr:$pads, F64Attr:$value);
}

def FF_ReduceSumOp : FF_ShapeOp<"reduce_sum"> {
  let summary = "sum over `axes`; with keepdims they stay with extent 1";
  let description = [{
    Summed dimensions are reductions: split, they give partial sums.

    Constraints:
      1. `axes` are dimensions of x, ascending, at least one.
      2. The result has x's shape without the axes, or with extent 1 there.
  }];
  let arguments = (ins FF_FloatTensor:$x, DenseI64ArrayAttr:$axes,
                   I64Attr:$keepdims);
}

def FF_ExpandOp : FF_ShapeOp<"expand"> {
  let summary = "broadcasts the operand to the result's shape";
  let description = [{
    Constraints:
      1. The operand broadcasts to the result's shape as in numpy.
  }];
  let arguments = (ins FF_Tensor:$x);
}
