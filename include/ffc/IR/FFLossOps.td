//===- FFLossOps.td - losses and parameter updates ---------*- tablegen -*-===//
// Included by FFOps.td. Losses are means over the global batch; a split batch
// gives partial sums of the mean. Their gradients are with respect to the
// loss itself (seed 1), unless they have a slope.

class FF_LossOp<string mnemonic, list<Trait> traits = []>
    : FF_DiffOp<mnemonic, traits> {
  let results = (outs FF_FloatTensor:$loss);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
class FF_LossBackwardOp<string mnemonic, list<Trait> traits = []>
    : FF_ComputeOp<mnemonic, traits> {
  let results = (outs FF_FloatTensor:$dx);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_CrossEntropyOp : FF_LossOp<"cross_entropy"> {
  let summary = "mean of -log softmax(logits)[target] along `axis`";
  let description = [{
    With a `smoothing` s, as PyTorch has it, the loss of a sample is 1 - s times
    that, and s times the mean of -log softmax(logits) over all classes.

    Constraints:
      1. `axis` is a dimension of the logits.
      2. The target is i32, shaped as the logits without `axis`.
      3. The loss has rank 0 and the logits' element type, f32 where that is bf16
         or f16.
      4. `smoothing` is from 0 to 1.
  }];
  let arguments = (ins FF_Summand:$logits, FF_Tensor:$target,
                   I64Attr:$axis, DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpOperand *> getNarrowable();
  }];
}
def FF_CrossEntropyBackwardOp
    : FF_Op<"cross_entropy_backward",
          [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                           ["getOperandSlots", "getNarrowable"]>,
           DeclareOpInterfaceMethods<FF_NarrowingInterface, ["canNarrow"]>]> {
  let summary = "slope * (softmax(logits) - onehot(target)) / targets, and the loss";
  let description = [{
    The gradient of ff.cross_entropy, whose own gradient is `slope`, or 1 without
    one. What it computes of the logits is what the loss is made of as well: the
    pass `fuse-losses` takes the loss from here.

    ```mlir
    %loss, %dx = ff.cross_entropy_backward(%x, %t slope %s) {axis = 1 : i64}
        : (tensor<8x10xf32>, tensor<8xi32>, tensor<f32>) -> (tensor<f32>, tensor<8x10xf32>)
    ```

    With a smoothing s the target stands for 1 - s of its class and s of all
    classes in equal parts.

    Constraints: 1 to 4 as ff.cross_entropy.
      5. dx has the logits' type, but that each may be bf16 or f16 instead of f32.
      6. The slope has the type of the loss.
  }];
  let arguments = (ins FF_Summand:$logits, FF_Tensor:$target,
                   Optional<FF_FloatTensor>:$slope, I64Attr:$axis,
                   DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let results = (outs FF_FloatTensor:$loss, FF_Summand:$dx);
  let assemblyFormat = [{
    `(` $logits `,` $target (`slope` $slope^)? `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_MseOp : FF_LossOp<"mse", [SameTypeOperands]> {
  let summary = "mean of (x - target)^2 over all elements";
  let description = [{
    Constraints:
      1. x and target have the same type.
      2. The loss has rank 0 and the element type of x.
  }];
  let arguments = (ins FF_FloatTensor:$x, FF_FloatTensor:$target);
}
def FF_MseBackwardOp
    : FF_LossBackwardOp<"mse_backward", [SameOperandsAndResultType]> {
  let summary = "2 (x - target) / elements";
  let arguments = (ins FF_FloatTensor:$x, FF_FloatTensor:$target);
}

def FF_BceOp : FF_LossOp<"bce", [SameTypeOperands]> {
  let summary = "mean binary cross-entropy of logits over all elements";
  let description = [{
    Constraints: as ff.mse.
  }];
  let arguments = (ins FF_FloatTensor:$x, FF_FloatTensor:$target);
}
def FF_BceBackwardOp
    : FF_LossBackwardOp<"bce_backward", [SameOperandsAndResultType]> {
  let summary = "(sigmoid(x) - target) / elements";
  let arguments = (ins FF_FloatTensor:$x, FF_FloatTensor:$target);
}
