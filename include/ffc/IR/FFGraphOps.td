//===- FFGraphOps.td - state and outputs -------------------*- tablegen -*-===//
// Included by FFOps.td. Constraints between operators hold within one block.

def FF_StateOp : FF_Op<"state"> {
  let summary = "reads loop-carried state at the start of the step";
  let description = [{
    `kind` is "parameter" (trained, dumped), "slot" (optimizer state),
    "statistic" (running mean or variance: may be stored, is not trained),
    "constant" (never stored), "copy": always the parameter `of`, rounded, or
    "average": a running mean of the parameter `of`, which begins as that does.

    ```mlir
    %w = ff.state "conv1.weight" "parameter" init #ff.init<file, 0.0 : f64, 0>
        : tensor<64x3x11x11xf32>
    ```

    Constraints:
      1. The name is unique among the states.
      2. `kind` is one of the six words.
      3. All extents are known and over 0.
      4. What is `upper` or `lower` has two dimensions or more.
      5. Copies and averages, and nothing else, have `of`, the name of a parameter
         of f32 of the same shape and init; copies are bf16 or f16.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$kind, FF_InitAttr:$init,
                       OptionalAttr<StrAttr>:$of);
  let results = (outs FF_Tensor:$result);
  // What is no copy or average.
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::llvm::StringRef":$name,
                   "::llvm::StringRef":$kind, "::ffc::ff::InitAttr":$init), [{
      build($_builder, $_state, type, $_builder.getStringAttr(name),
            $_builder.getStringAttr(kind), init, /*of=*/{});
    }]>
  ];
  let assemblyFormat = [{
    $name $kind (`of` $of^)? `init` $init attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def FF_StoreOp : FF_Op<"store"> {
  let summary = "stores a state's value at the end of the step";
  let description = [{
    Constraints:
      1. A `ff.state` of that name and type exists, and is not a constant.
      2. A state is stored at most once.
  }];
  let arguments = (ins StrAttr:$name, FF_Tensor:$value);
  let assemblyFormat = "$value `to` $name attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def FF_OutputOp : FF_Op<"output"> {
  let summary = "names a value that leaves the step";
  let description = [{
    Names are paths below the dump folder: "out/y", "grad/conv1.weight", and
    "loss" for the scalar loss.

    Constraints:
      1. The name is unique among the outputs.
  }];
  let arguments = (ins StrAttr:$name, FF_Tensor:$value);
  let assemblyFormat = "$value `as` $name attr-dict `:` type($value)";
  let hasVerifier = 1;
}
