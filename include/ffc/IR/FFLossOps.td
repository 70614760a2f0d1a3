//===- FFLossOps.td - losses and parameter updates ---------*- tablegen -*-===//
// Included by FFOps.td. Losses are means over the global batch; a split batch
// gives partial sums of the mean. Their gradients are with respect to the
// loss itself (seed 1).

class FF_LossOp<string mnemonic, list<Trait> traits = []>
    : FF_DiffOp<mnemonic, traits> {
  let results = (outs FF_FloatTensor:$loss);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
class FF_LossBackwardOp<string mnemonic, list<Trait> traits = [],
                        TypeConstraint gradient = FF_FloatTensor>
    : FF_ComputeOp<mnemonic, traits> {
  let results = (outs gradient:$dx);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_CrossEntropyOp : FF_LossOp<"cross_entropy"> {
  let summary = "mean of -log softmax(logits)[target] along `axis`";
  let description = [{
    Constraints:
      1. `axis` is a dimension of the logits.
      2. The target is i32, shaped as the logits without `axis`.
      3. The loss has rank 0 and the logits' element type, f32 where that is bf16
         or f16.
  }];
  let arguments = (ins FF_Summand:$logits, FF_Tensor:$target,
                   I64Attr:$axis);
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpOperand *> getNarrowable();
  }];
}
def FF_CrossEntropyBackwardOp
    : FF_LossBackwardOp<"cross_entropy_backward", [FF_NarrowingInterface],
                        FF_Summand> {
  let summary = "(softmax(logits) - onehot(target)) / targets";
  let description = [{
    Constraints: 1 and 2 as ff.cross_entropy.
      3. The result has the logits' type, but that each may be bf16 or f16 instead
         of f32.
  }];
  let arguments = (ins FF_Summand:$logits, FF_Tensor:$target,
                   I64Attr:$axis);
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpOperand *> getNarrowable();
  }];
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
