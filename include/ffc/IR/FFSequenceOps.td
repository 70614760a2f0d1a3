//===- FFSequenceOps.td - sequences of several lengths ------*- tablegen -*-===//
// Included by FFOps.td.

def FF_ReverseSequenceOp
    : FF_DiffOp<"reverse_sequence", [AllTypesMatch<["x", "y"]>]> {
  let summary = "sequences from their last step to their first";
  let description = [{
    ```mlir
    %y = ff.reverse_sequence(%x, %lengths) {batch_axis = 1 : i64, time_axis = 0 : i64}
        : (tensor<12x8x64xf32>, tensor<8xi64>) -> tensor<12x8x64xf32>
    ```

    y[t, b, ..] = x[lengths[b] - 1 - t, b, ..] for t below lengths[b]; later steps,
    which pad the sequence, stay where they are. Lengths are from 0 to the number of
    steps. Twice reversed is as before: the gradient is the same operator on dy.

    Iteration space: that of x. `time_axis` cannot be split.

    Constraints:
      0. All extents are known and over 0.
      1. `batch_axis` and `time_axis` are two dimensions of x.
      2. `lengths` has one element for every sequence.
      3. Operand x and the result have the same type.
  }];
  let arguments = (ins FF_FloatTensor:$x, FF_Indices:$lengths,
                   I64Attr:$batch_axis, I64Attr:$time_axis);
  let results = (outs FF_FloatTensor:$y);
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
