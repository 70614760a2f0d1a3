//===- FFOptimizerOps.td - updates of parameters ------------*- tablegen -*-===//
// Included by FFOps.td.
//
// Every verifier of this file also checks constraint 0: all extents are known
// and over 0.

def FF_OptimizerKind : I32EnumAttr<"OptimizerKind", "optimizer", [
    I32EnumAttrCase<"Sgd", 0, "sgd">,
    I32EnumAttrCase<"Adam", 1, "adam">,
    I32EnumAttrCase<"AdamW", 2, "adamw">,
    I32EnumAttrCase<"Adagrad", 3, "adagrad">,
    I32EnumAttrCase<"RmsProp", 4, "rmsprop">,
    I32EnumAttrCase<"Lamb", 5, "lamb">,
    I32EnumAttrCase<"HfAdamW", 6, "hf_adamw">,
    I32EnumAttrCase<"Lion", 7, "lion">,
    I32EnumAttrCase<"Ema", 8, "ema">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}
def FF_OptimizerKindAttr : EnumAttr<FFDialect, FF_OptimizerKind, "optimizer">;

def FF_UpdateOp
    : FF_Op<"update",
          [Pure, AttrSizedOperandSegments,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots", "getResultSlots"]>]> {
  let summary = "one step of an optimizer for one parameter";
  let description = [{
    Updates `w` and the optimizer's `slots` in place by the gradient `g`, which
    is multiplied by `scale` where that is given. If scale is not finite, the
    step is skipped: all stays as it is, bit for bit. Learning rate lr, weight
    decay wd and what elements of the gradient are clipped to after that are
    run-time scalars; t is the number of the step, from 1 on,
    without the steps skipped, of which the second element of scale tells.
    `hyper` are the numbers that the kind has, in the order of this table; so are
    the slots.

    | kind | hyper | slots | update |
    | --- | --- | --- | --- |
    | `sgd` | momentum, nesterov | v, unless momentum is 0 | `g += wd*w; v = momentum*v + g; w -= lr * (nesterov ? g + momentum*v : v)` |
    | `adam` | beta1, beta2, epsilon | m, v | `g += wd*w; m = beta1*m + (1-beta1)*g; v = beta2*v + (1-beta2)*g^2; w -= lr * (m / (1-beta1^t)) / (sqrt(v / (1-beta2^t)) + epsilon)` |
    | `adamw` | as adam | m, v | as adam, but `w -= lr*wd*w` in place of `g += wd*w` |
    | `adagrad` | epsilon | s | `g += wd*w; s += g^2; w -= lr * g / (sqrt(s) + epsilon)` |
    | `rmsprop` | alpha, epsilon, momentum | s, and v unless momentum is 0 | `g += wd*w; s = alpha*s + (1-alpha)*g^2; v = momentum*v + g / (sqrt(s) + epsilon); w -= lr*v` |
    | `lamb` | as adam | m, v | m and v as adamw; `r = (m / (1-beta1^t)) / (sqrt(v / (1-beta2^t)) + epsilon) + wd*w; w -= lr * norm(w) / norm(r) * r`, the ratio 1 where a norm is 0 |
    | `hf_adamw` | as adam | m, v | m and v as adamw; `w -= lr * (m / (1-beta1^t)) / ((sqrt(v) + epsilon) / sqrt(1-beta2^t)); w -= lr*wd*w`, as Hugging Face's Transformers have it |
    | `lion` | beta1, beta2 | m | `w -= lr * (sign(beta1*m + (1-beta1)*g) + wd*w); m = beta2*m + (1-beta2)*g`, the sign of 0 being 0 |
    | `ema` | decay | | `w += (1-decay) * (g - w)`: no optimizer, but the running mean w of a parameter, which is g, not clipped |

    Slots may be bf16: they are computed with as f32, and rounded to nearest even
    when they are stored.

    With a result after the slots there is also `w` as it is then, rounded, in
    memory of its own: what operands of products are made of in the next step.

    The norms of `lamb` are those of the whole parameter: its phases are the
    direction r with the sums of squares, and the step along it.

    Iteration dimensions d0, d1, ... are those of w.

    Constraints:
      1. `hyper` has as many numbers as the kind, and there are as many slots as
         it has with them.
      2. g, the slots and their results have the type of w, but that slots of f32
         may be bf16, all of them; scale is one element of its element type, or
         two.
      3. There are as many results as w and slots, and perhaps one more, which is
         w as bf16 or f16.
  }];
  let arguments = (ins FF_OptimizerKindAttr:$kind, FF_FloatTensor:$w,
                   FF_FloatTensor:$g, Variadic<FF_Summand>:$slots,
                   Optional<FF_FloatTensor>:$scale, DenseF64ArrayAttr:$hyper);
  let results = (outs FF_FloatTensor:$w_out, Variadic<FF_Summand>:$others);
  let extraClassDeclaration = [{
    ::mlir::ResultRange getSlotsOut() {
      return getOthers().take_front(std::min<size_t>(getSlots().size(), getOthers().size()));
    }
    /// w_out rounded, or null.
    ::mlir::Value getRounded();
  }];
  let assemblyFormat = [{
    $kind `(` $w `,` $g (`slots` $slots^)? (`scale` $scale^)? `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_SquareSumOp
    : FF_Op<"square_sum",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface>]> {
  let summary = "sum of the squares of all elements";
  let description = [{
    Iteration dimensions d0, d1, ... are those of x; all are summed over.

    Constraints:
      1. The result has rank 0 and x's element type.
  }];
  let arguments = (ins FF_FloatTensor:$x);
  let results = (outs FF_FloatTensor:$sum);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_ClipScaleOp
    : FF_Op<"clip_scale",
          [Pure, SameOperandsAndResultType,
           DeclareOpInterfaceMethods<FF_PartitionableInterface>]> {
  let summary = "what gradients are multiplied by so that their norm is bounded";
  let description = [{
    With n the square root of the sum of all operands, the sums of squares of the
    gradients: the smaller of 1 and `max_norm / (n + 1e-6)`.

    There is one point of iteration.

    Constraints:
      1. There is an operand, and all operands have rank 0.
      2. `max_norm` is positive.
  }];
  let arguments = (ins Variadic<FF_FloatTensor>:$sums, F64Attr:$max_norm);
  let results = (outs FF_FloatTensor:$scale);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_LossScaleOp
    : FF_Op<"loss_scale",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface>]> {
  let summary = "whether a step counts, and what the next loss is multiplied by";
  let description = [{
    ```mlir
    %factor, %s2, %good2, %skipped2 = ff.loss_scale(%s, %good, %skipped, %sum0, %sum1)
        {interval = 2000 : i64, least = 1.0 : f64, max_norm = 0.0 : f64, most = 16777216.0 : f64}
        : ...
    ```

    The gradient of the loss was `scale` instead of 1, and `sums` are the sums of
    squares of all gradients. A step counts if all of them are finite. Else it is
    skipped, and the scale halved. `good` is the number of steps that counted one
    after the other; with the last of `interval` of them the scale is doubled, and
    the number is 0 again. The scale stays within `least` and `most`. `skipped` is
    the number of all steps skipped.

    `factor` is the `scale` of ff.update: what gradients are multiplied by, which
    is infinite if the step is skipped, and skipped. Gradients are divided by
    scale and then, if `max_norm` is over 0, clipped as ff.clip_scale says.

    There is one point of iteration.

    Constraints:
      1. There is a sum, and scale, good, skipped and sums have rank 0 and one
         type, which the results have as well but for factor, two elements of it.
      2. `interval` is over 0, 0 < least <= most, and max_norm is not negative.
  }];
  let arguments = (ins FF_FloatTensor:$scale, FF_FloatTensor:$good,
                   FF_FloatTensor:$skipped, Variadic<FF_FloatTensor>:$sums,
                   I64Attr:$interval, F64Attr:$least, F64Attr:$max_norm,
                   F64Attr:$most);
  let results = (outs FF_FloatTensor:$factor, FF_FloatTensor:$scale_out,
                 FF_FloatTensor:$good_out, FF_FloatTensor:$skipped_out);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
