//===- FFInterfaces.td - what every operator tells the compiler -*- tablegen -*-===//

#ifndef FFC_IR_FFINTERFACES_TD
#define FFC_IR_FFINTERFACES_TD

include "mlir/IR/OpBase.td"

def FF_PartitionableInterface : OpInterface<"PartitionableInterface"> {
  let cppNamespace = "::ffc::ff";
  let description = [{
    The rules by which an operator is split over devices, costed and called.
    Every operator that computes implements it; nothing else in the compiler
    knows operators by name.
  }];
  let methods = [
    InterfaceMethod<[{
      Iteration space, access maps, phases and cost (ffc/Plan/Rules.h), from
      types and attributes. Slots: operands as in the ODS argument list, optional
      ones counted when absent, variadic ones expanded; then results.
    }], "::ffc::plan::OpRules", "getRules">,
    InterfaceMethod<[{
      Operator family in strategy files: "conv2d", "pool2d", "linear", "flat";
      names like "conv1" are made from the family's short form and an ordinal.
    }], "::llvm::StringRef", "getFamily">,
    InterfaceMethod<[{
      Attributes passed to the runtime kernel of each phase, in alphabetical
      order of names: i64, f64, strings, and arrays of i64 or f64.
    }], "::mlir::DictionaryAttr", "getKernelArgs">,
    InterfaceMethod<[{
      The same for a phase that computes `part` of the operator. Operators with
      an epilogue say what is left out of partial sums, and what follows these.
    }], "::mlir::DictionaryAttr", "getPhaseArgs",
    (ins "::ffc::plan::PhaseKind":$part), "", [{
      return $_op.getKernelArgs();
    }]>,
    InterfaceMethod<[{
      Where what the result sums over is split: is what else the operator does
      with it done on the whole sum (PhaseKind::Epilogue)? Else what it does
      forbids the split.
    }], "bool", "hasEpilogue", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      Values of all operand slots, null for absent optional ones.
    }], "::llvm::SmallVector<::mlir::Value>", "getOperandSlots", (ins), "", [{
      return ::llvm::SmallVector<::mlir::Value>($_op->getOperands());
    }]>,
    InterfaceMethod<[{
      Values of all result slots, null for absent optional ones.
    }], "::llvm::SmallVector<::mlir::Value>", "getResultSlots", (ins), "", [{
      return ::llvm::SmallVector<::mlir::Value>($_op->getResults());
    }]>,
    InterfaceMethod<[{
      The operands that an operator multiplies to add up many products: kernels
      take all of them as f32, bf16 or f16, and add up in f32 whatever they are.
    }], "::llvm::SmallVector<::mlir::OpOperand *>", "getMultipliedOperands", (ins), "", [{
      return {};
    }]>,
    InterfaceMethod<[{
      Other operands that kernels take as f32, bf16 or f16, and compute with in
      f32 whatever they are.
    }], "::llvm::SmallVector<::mlir::OpOperand *>", "getNarrowable", (ins), "", [{
      return {};
    }]>,
    InterfaceMethod<[{
      Are results made of elements of the operands, and zeros? Then operands and
      results have one type, whatever it is.
    }], "bool", "movesElements", (ins), "", [{ return false; }]>
  ];
}

def FF_DifferentiableInterface : OpInterface<"DifferentiableInterface"> {
  let cppNamespace = "::ffc::ff";
  let description = [{
    Reverse-mode differentiation of one operator.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds operators that compute the gradients of the operands from those of
      the results. `resultGrads` has one entry per result (null: zero), `needed`
      one flag per operand slot; `operandGrads` receives one value per operand
      slot (null: no gradient). Operators are built at `builder`'s insertion
      point with locations derived from the operator's name; may set
      attributes or add results to the operator itself (saved tensors).
    }], "::mlir::LogicalResult", "buildGradient",
    (ins "::mlir::OpBuilder &":$builder,
         "::llvm::ArrayRef<::mlir::Value>":$resultGrads,
         "::llvm::ArrayRef<bool>":$needed,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGrads)>
  ];
}

def FF_RowGradientInterface : OpInterface<"RowGradientInterface"> {
  let cppNamespace = "::ffc::ff";
  let description = [{
    The gradient of a table that is zero in all rows but a few. Where the update
    leaves the other rows alone (`Optimizer::updatesRows`), it needs these rows
    only, and the gradient never exists.
  }];
  let methods = [
    InterfaceMethod<[{
      The gradients of rows, of which those of the table are sums.
    }], "::mlir::Value", "getRowGradients">,
    InterfaceMethod<[{
      Builds the update of `table` and the optimizer's `slots` from what this
      operator would make the gradient of; returns what they are afterwards.
      `scale`: as of ff.update, or null.
    }], "::llvm::SmallVector<::mlir::Value>", "buildRowUpdate",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "const ::ffc::ff::Optimizer &":$optimizer, "::mlir::Value":$table,
         "::mlir::ValueRange":$slots, "::mlir::Value":$scale)>
  ];
}

def FF_ClampingInterface : OpInterface<"ClampingInterface"> {
  let cppNamespace = "::ffc::ff";
  let description = [{
    An operator that can cut a result to bounds as it writes it, so that an
    activation which does no more needs no pass over memory of its own. The
    bounds are the optional attribute `clamp`: the lower one, or both.

    Constraints, beside those of the operator:
      * `clamp` holds one or two numbers.
  }];
  let methods = [
    InterfaceMethod<"The result that the bounds are for.",
                    "::mlir::OpResult", "getClampedResult", (ins), "", [{
      return $_op->getResult(0);
    }]>,
    InterfaceMethod<"The bounds, or null.",
                    "::mlir::DenseF64ArrayAttr", "getClampAttr">,
    InterfaceMethod<"Sets the bounds.", "void", "setClampAttr",
                    (ins "::mlir::DenseF64ArrayAttr":$bounds)>
  ];
  let verify = [{ return ::ffc::ff::verifyClamp($_op); }];
}

def FF_AddingInterface : OpInterface<"AddingInterface"> {
  let cppNamespace = "::ffc::ff";
  let description = [{
    An operator that can add a tensor to a result as it writes it, so that a
    residual connection needs no pass over memory of its own. The tensor is the
    optional operand `addend`. Bounds (ClampingInterface) are those of the sum.

    Constraints, beside those of the operator:
      * `addend` has the type of the result, f32 where that is narrow, or is
        narrow itself where the operator says so.
  }];
  let methods = [
    InterfaceMethod<"The result that the addend is for.",
                    "::mlir::OpResult", "getSummedResult", (ins), "", [{
      return $_op->getResult(0);
    }]>,
    InterfaceMethod<"May the addend be bf16 or f16?",
                    "bool", "addsNarrow", (ins), "", [{ return false; }]>,
    InterfaceMethod<"The operand, of which there may be none.",
                    "::mlir::MutableOperandRange", "getAddendMutable">
  ];
  let verify = [{ return ::ffc::ff::verifyAddend($_op); }];
}

def FF_NarrowingInterface : OpInterface<"NarrowingInterface"> {
  let cppNamespace = "::ffc::ff";
  let description = [{
    An operator that can round results of f32 to bf16 or f16 as it writes them, so
    that a narrow value needs no pass over memory of its own. It computes in f32
    all the same: what it writes is what a cast would have made of it.
  }];
  let methods = [
    InterfaceMethod<"May this result of the operator be narrow?",
                    "bool", "canNarrow", (ins "::mlir::OpResult":$result), "", [{
      return result.getResultNumber() == 0;
    }]>
  ];
}

#endif // FFC_IR_FFINTERFACES_TD
