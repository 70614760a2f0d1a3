//===- FFElementwiseOps.td - element by element ------------*- tablegen -*-===//
// Included by FFOps.td.
//
// Every verifier of the operators of this file, FFShapeOps.td and FFLossOps.td
// also checks constraint 0: all extents are known and over 0.

def FF_UnaryKind : I32EnumAttr<"UnaryKind", "element-wise function", [
    I32EnumAttrCase<"Relu", 0, "relu">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">,
    I32EnumAttrCase<"Tanh", 2, "tanh">,
    I32EnumAttrCase<"LeakyRelu", 3, "leaky_relu">,
    I32EnumAttrCase<"Scale", 4, "scale">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}
def FF_UnaryKindAttr : EnumAttr<FFDialect, FF_UnaryKind, "unary">;

def FF_UnaryOp : FF_DiffOp<"unary", [SameOperandsAndResultType]> {
  let summary = "a function of one operand, element by element";
  let description = [{
    The functions are rows of one table (lib/IR/UnaryTable.h): value,
    derivative, whether the derivative reads the operand or the result, whether
    it has the parameter `alpha`.

    ```mlir
    %y = ff.unary leaky_relu(%x) alpha 0.1 : tensor<8x16xf32> -> tensor<8x16xf32>
    ```

    Constraints:
      1. `alpha` is given exactly for the functions that have it.
      2. Operand and result have the same type.
  }];
  let arguments = (ins FF_UnaryKindAttr:$kind, FF_FloatTensor:$x,
                   OptionalAttr<F64Attr>:$alpha);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    $kind `(` $x `)` (`alpha` $alpha^)? attr-dict `:` type($x) `->` type($y)
  }];
  let hasVerifier = 1;
}

def FF_UnaryBackwardOp
    : FF_ComputeOp<"unary_backward", [SameOperandsAndResultType]> {
  let summary = "dx = dy * f'(saved), saved being the operand or the result";
  let description = [{
    Constraints:
      1. `alpha` is given exactly for the functions that have it.
      2. Operands and result have the same type.
      3. The function has a backward kernel; `scale` is its own gradient.
  }];
  let arguments = (ins FF_UnaryKindAttr:$kind, FF_FloatTensor:$dy,
                   FF_FloatTensor:$saved, OptionalAttr<F64Attr>:$alpha);
  let results = (outs FF_FloatTensor:$dx);
  let assemblyFormat = [{
    $kind `(` $dy `,` $saved `)` (`alpha` $alpha^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_BinaryKind : I32EnumAttr<"BinaryKind", "element-wise function of two", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Sub", 1, "sub">,
    I32EnumAttrCase<"Mul", 2, "mul">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}
def FF_BinaryKindAttr : EnumAttr<FFDialect, FF_BinaryKind, "binary">;

def FF_BinaryOp : FF_DiffOp<"binary", [SameOperandsAndResultElementType]> {
  let summary = "a function of two operands with broadcasting";
  let description = [{
    Operands broadcast to the result as in numpy, aligned at the last dimension.

    Constraints:
      1. The result's shape is the broadcast of the operands' shapes.
      2. All element types are the same.
  }];
  let arguments = (ins FF_BinaryKindAttr:$kind, FF_FloatTensor:$a,
                   FF_FloatTensor:$b);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    $kind `(` $a `,` $b `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_DropoutOp : FF_DiffOp<"dropout", [SameOperandsAndResultType]> {
  let summary = "zeroes elements at random and scales the rest";
  let description = [{
    The mask is a function of seed, step, `key` (hash of the node's name) and the
    global element index; the gradient is the same operator on dy. Ratio 0 is
    removed at import.

    Constraints:
      1. 0 < ratio < 1.
      2. Operand and result have the same type.
  }];
  let arguments = (ins FF_FloatTensor:$x, I64Attr:$key, F64Attr:$ratio);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_SoftmaxOp : FF_DiffOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "softmax normalised jointly over `axes`";
  let description = [{
    Normalised dimensions cannot be split.

    Constraints:
      1. `axes` are dimensions of x, ascending, at least one.
      2. Operand and result have the same type.
  }];
  let arguments = (ins FF_FloatTensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_SoftmaxBackwardOp
    : FF_ComputeOp<"softmax_backward", [SameOperandsAndResultType]> {
  let summary = "dx = y * (dy - sum(dy * y))";
  let description = [{
    Constraints: as ff.softmax.
  }];
  let arguments = (ins FF_FloatTensor:$dy, FF_FloatTensor:$y,
                   DenseI64ArrayAttr:$axes);
  let results = (outs FF_FloatTensor:$dx);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
