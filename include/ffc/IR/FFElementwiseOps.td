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
    I32EnumAttrCase<"Scale", 4, "scale">,
    I32EnumAttrCase<"Shift", 5, "shift">,
    I32EnumAttrCase<"Abs", 6, "abs">,
    I32EnumAttrCase<"Sqrt", 7, "sqrt">,
    I32EnumAttrCase<"Exp", 8, "exp">,
    I32EnumAttrCase<"Log", 9, "log">,
    I32EnumAttrCase<"Erf", 10, "erf">,
    I32EnumAttrCase<"Reciprocal", 11, "reciprocal">,
    I32EnumAttrCase<"Softplus", 12, "softplus">,
    I32EnumAttrCase<"Softsign", 13, "softsign">,
    I32EnumAttrCase<"HardSigmoid", 14, "hard_sigmoid">,
    I32EnumAttrCase<"HardSwish", 15, "hard_swish">,
    I32EnumAttrCase<"Elu", 16, "elu">,
    I32EnumAttrCase<"Selu", 17, "selu">,
    I32EnumAttrCase<"Celu", 18, "celu">,
    I32EnumAttrCase<"Gelu", 19, "gelu">,
    I32EnumAttrCase<"Silu", 20, "silu">,
    I32EnumAttrCase<"Clip", 21, "clip">,
    I32EnumAttrCase<"Sign", 22, "sign">,
    I32EnumAttrCase<"Floor", 23, "floor">,
    I32EnumAttrCase<"Ceil", 24, "ceil">,
    I32EnumAttrCase<"Round", 25, "round">,
    I32EnumAttrCase<"GeluTanh", 26, "gelu_tanh">,
    I32EnumAttrCase<"Sin", 27, "sin">,
    I32EnumAttrCase<"Cos", 28, "cos">,
    I32EnumAttrCase<"Tan", 29, "tan">,
    I32EnumAttrCase<"Asin", 30, "asin">,
    I32EnumAttrCase<"Acos", 31, "acos">,
    I32EnumAttrCase<"Atan", 32, "atan">,
    I32EnumAttrCase<"Sinh", 33, "sinh">,
    I32EnumAttrCase<"Cosh", 34, "cosh">,
    I32EnumAttrCase<"Asinh", 35, "asinh">,
    I32EnumAttrCase<"Acosh", 36, "acosh">,
    I32EnumAttrCase<"Atanh", 37, "atanh">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}
def FF_UnaryKindAttr : EnumAttr<FFDialect, FF_UnaryKind, "unary">;

def FF_UnaryOp : FF_DiffOp<"unary", [SameOperandsAndResultType]> {
  let summary = "a function of one operand, element by element";
  let description = [{
    The functions are rows of one table (ffc/IR/UnaryTable.h): value,
    derivative, whether the derivative reads the operand or the result, and
    which of the parameters `alpha` and `beta` it has.

    ```mlir
    %y = ff.unary leaky_relu(%x) alpha 0.1 : tensor<8x16xf32> -> tensor<8x16xf32>
    ```

    Constraints:
      1. `alpha` and `beta` are given exactly for the functions that have them.
      2. Operand and result have the same type.
  }];
  let arguments = (ins FF_UnaryKindAttr:$kind, FF_FloatTensor:$x,
                   OptionalAttr<F64Attr>:$alpha, OptionalAttr<F64Attr>:$beta);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    $kind `(` $x `)` (`alpha` $alpha^)? (`beta` $beta^)? attr-dict
    `:` type($x) `->` type($y)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The bounds (ClampingInterface) to which the function cuts its operand;
    /// null for one that does something else.
    ::mlir::DenseF64ArrayAttr asClamp();
  }];
}

def FF_UnaryBackwardOp
    : FF_ComputeOp<"unary_backward", [SameOperandsAndResultType]> {
  let summary = "dx = dy * f'(saved), saved being the operand or the result";
  let description = [{
    Constraints:
      1. `alpha` and `beta` are given exactly for the functions that have them.
      2. Operands and result have the same type.
      3. The function has a backward kernel; `scale` is its own gradient.
  }];
  let arguments = (ins FF_UnaryKindAttr:$kind, FF_FloatTensor:$dy,
                   FF_FloatTensor:$saved, OptionalAttr<F64Attr>:$alpha,
                   OptionalAttr<F64Attr>:$beta);
  let results = (outs FF_FloatTensor:$dx);
  let extraClassDeclaration = [{
    /// If it is the gradient of what only cuts its operand: the bounds, one or
    /// two, between which `saved` is where dy counts. Else null.
    ::mlir::DenseF64ArrayAttr asClamp();
  }];
  let assemblyFormat = [{
    $kind `(` $dy `,` $saved `)` (`alpha` $alpha^)? (`beta` $beta^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_BinaryKind : I32EnumAttr<"BinaryKind", "element-wise function of two", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Sub", 1, "sub">,
    I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Div", 3, "div">,
    I32EnumAttrCase<"Pow", 4, "pow">,
    I32EnumAttrCase<"Min", 5, "min">,
    I32EnumAttrCase<"Max", 6, "max">,
    I32EnumAttrCase<"Prelu", 7, "prelu">,
    I32EnumAttrCase<"Equal", 8, "equal">,
    I32EnumAttrCase<"Less", 9, "less">,
    I32EnumAttrCase<"LessOrEqual", 10, "less_or_equal">,
    I32EnumAttrCase<"Greater", 11, "greater">,
    I32EnumAttrCase<"GreaterOrEqual", 12, "greater_or_equal">,
    I32EnumAttrCase<"Keep", 13, "keep">,
    I32EnumAttrCase<"Drop", 14, "drop">,
    I32EnumAttrCase<"Fmod", 15, "fmod">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}
def FF_BinaryKindAttr : EnumAttr<FFDialect, FF_BinaryKind, "binary">;

def FF_BinaryOp : FF_DiffOp<"binary", [SameOperandsAndResultElementType]> {
  let summary = "a function of two operands with broadcasting";
  let description = [{
    Operands broadcast to the result as in numpy, aligned at the last dimension.
    Comparisons give 1 where they hold, else 0, and have no gradient. keep is a
    where b is not 0, drop where it is, and 0 elsewhere, whatever a is there.

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

def FF_SelectOp : FF_DiffOp<"select", [SameOperandsAndResultElementType]> {
  let summary = "y = condition is not 0 ? a : b, with broadcasting";
  let description = [{
    The condition is a tensor of floats, as comparisons give. Operands broadcast
    to the result as in numpy.

    Constraints:
      1. The result's shape is the broadcast of the operands' shapes.
      2. All element types are the same.
  }];
  let arguments = (ins FF_FloatTensor:$condition, FF_FloatTensor:$a,
                   FF_FloatTensor:$b);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_CastOp : FF_DiffOp<"cast", [SameOperandsAndResultShape]> {
  let summary = "the same numbers as another element type";
  let description = [{
    Floats become integers by truncation; anything but 0 becomes true. Between
    floats the gradient is a cast back, other casts have none.

    Constraints:
      1. Operand and result have the same shape.
      2. The element types differ.
  }];
  let arguments = (ins FF_Tensor:$x);
  let results = (outs FF_Tensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_FusedOp
    : FF_Op<"fused", [Pure, IsolatedFromAbove, SingleBlock,
                      DeclareOpInterfaceMethods<FF_PartitionableInterface>]> {
  let summary = "element-wise operators computed in one pass";
  let description = [{
    The body holds `ff.unary`, `ff.unary_backward`, `ff.binary` and `ff.select`
    operators and ends with `ff.yield`. Results all have one shape, which is that
    of every operator in the body; operands broadcast to it. The body computes in
    f32: narrow operands are widened by `ff.cast` first, and what is yielded may
    be narrowed by one. Made by the passes `lower-precision` and
    `fuse-elementwise` after differentiation.

    ```mlir
    %z = ff.fused(%x, %y) {
    ^bb0(%a: tensor<8x16xf32>, %b: tensor<16xf32>):
      %0 = ff.binary add(%a, %b) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
      %1 = ff.unary relu(%0) : tensor<8x16xf32> -> tensor<8x16xf32>
      ff.yield %1 : tensor<8x16xf32>
    } : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    ```

    Constraints:
      1. The block's arguments have the operands' types, the yielded values the
         results' types.
      2. All results in the body have one type, but for those of casts to bf16
         and f16, which are only yielded, and of casts from these, which are of
         operands.
      3. The body holds operators of the four kinds and such casts, at least two.
  }];
  let arguments = (ins Variadic<FF_Summand>:$inputs);
  let results = (outs Variadic<FF_Summand>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def FF_YieldOp : FF_Op<"yield", [Pure, Terminator, HasParent<"FusedOp">,
                                 ReturnLike]> {
  let summary = "the results of a fused operator";
  let arguments = (ins Variadic<FF_Summand>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def FF_DropoutOp
    : FF_Op<"dropout",
          [Pure, SameOperandsAndResultShape,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getNarrowable"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>,
           FF_AddingInterface, FF_NarrowingInterface]> {
  let summary = "zeroes elements at random, scales the rest, and adds";
  let description = [{
    y = (kept ? x / (1 - ratio) : 0) + addend.

    The mask is a function of seed, step, `key` (hash of the node's name) and the
    global element index; the gradient is the same operator on dy. Ratio 0 is
    removed at import.

    Constraints:
      1. 0 < ratio < 1.
      2. Operands and result have the same type, but that each may be bf16 or f16
         instead of f32. The addend is there behind differentiation only.
  }];
  let arguments = (ins FF_Summand:$x, Optional<FF_Summand>:$addend, I64Attr:$key,
                       F64Attr:$ratio);
  let results = (outs FF_Summand:$y);
  let extraClassDeclaration = [{
    bool addsNarrow() { return true; }
  }];
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_NoiseKind : I32EnumAttr<"NoiseKind", "distribution of random numbers", [
    I32EnumAttrCase<"Uniform", 0, "uniform">,
    I32EnumAttrCase<"Normal", 1, "normal">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}
def FF_NoiseKindAttr : EnumAttr<FFDialect, FF_NoiseKind, "noise">;

def FF_NoiseOp : FF_DiffOp<"noise", [SameOperandsAndResultType]> {
  let summary = "adds a random number to every element";
  let description = [{
    y = x + r. The numbers r of `uniform` are from [0, 1), those of `normal` have
    mean 0 and variance 1. They are functions of seed, step, `key` (hash of the
    node's name) and the global element index, as the masks of ff.dropout. The
    gradient is dy.

    ```mlir
    %y = ff.noise normal(%x) {key = 5 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```

    Constraints:
      1. Operand and result have the same type.
  }];
  let arguments = (ins FF_NoiseKindAttr:$kind, FF_FloatTensor:$x, I64Attr:$key);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    $kind `(` $x `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_BitwiseKind : I32EnumAttr<"BitwiseKind", "function of the bits of two", [
    I32EnumAttrCase<"And", 0, "and">,
    I32EnumAttrCase<"Or", 1, "or">,
    I32EnumAttrCase<"Xor", 2, "xor">,
    I32EnumAttrCase<"ShiftLeft", 3, "shift_left">,
    I32EnumAttrCase<"ShiftRight", 4, "shift_right">,
    I32EnumAttrCase<"ShiftRightUnsigned", 5, "shift_right_unsigned">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}
def FF_BitwiseKindAttr : EnumAttr<FFDialect, FF_BitwiseKind, "bitwise">;

def FF_BitwiseOp
    : FF_ComputeOp<"bitwise", [SameOperandsAndResultElementType]> {
  let summary = "a function of the bits of two integers, with broadcasting";
  let description = [{
    Operands broadcast to the result as in numpy. Bytes are without sign.
    shift_right fills with the sign of what is shifted, shift_right_unsigned with
    zeros. A shift by the number of bits or more, or by a negative number, leaves
    nothing but what it fills with. There is no gradient.

    ```mlir
    %y = ff.bitwise and(%a, %b) : (tensor<4x3xi32>, tensor<3xi32>) -> tensor<4x3xi32>
    ```

    Constraints:
      1. The result's shape is the broadcast of the operands' shapes.
      2. All element types are the same.
  }];
  let arguments = (ins FF_BitwiseKindAttr:$kind, FF_IntegerTensor:$a,
                   FF_IntegerTensor:$b);
  let results = (outs FF_IntegerTensor:$y);
  let assemblyFormat = [{
    $kind `(` $a `,` $b `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
