//===- FFTableOps.td - rows of tables by computed indices --*- tablegen -*-===//
// Included by FFOps.td. Indices are those of rows, from 0 to below their number,
// or negative, counted from the end.

class FF_TableOp<string mnemonic, list<Trait> traits = []>
    : FF_ComputeOp<mnemonic, traits> {
  let assemblyFormat = [{
    `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_EmbeddingOp
    : FF_TableOp<"embedding", [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "rows of a table: y[i.., c] = table[indices[i..], c]";
  let description = [{
    ```mlir
    %y = ff.embedding(%table, %ids)
        : (tensor<50257x768xf32>, tensor<8x64xi64>) -> tensor<8x64x768xf32>
    ```

    Iteration space: the dimensions of the indices, called n, h, d2, d3, ..., the
    width c and the rows r of the table. n is a sample dimension; splitting c or
    r splits the table, r with partial sums: a tile adds 0 for indices of rows
    that it does not hold. Which rows are read is not known, so a tile holds all
    of its part of the table, but it touches only as many as there are indices.

    Constraints:
      1. The result has the shape of the indices, and the table's width.
      2. The result has the table's element type.
  }];
  let arguments = (ins FF_Table:$table, FF_Indices:$indices);
  let results = (outs FF_FloatTensor:$y);
}

def FF_EmbeddingBackwardOp
    : FF_TableOp<"embedding_backward",
                 [DeclareOpInterfaceMethods<FF_DifferentiableInterface>,
                  DeclareOpInterfaceMethods<FF_RowGradientInterface>]> {
  let summary = "dtable[indices[i..], c] += dy[i.., c], and 0 in other rows";
  let description = [{
    Iteration space: as ff.embedding. Here n, h, ... are reductions and c and r
    are not: who holds a part of the table needs the gradients of its rows only.

    Constraints: as ff.embedding, with dy for y and dtable for the table.
  }];
  let arguments = (ins FF_Indices:$indices, FF_FloatTensor:$dy);
  let results = (outs FF_Table:$dtable);
}

def FF_GatherElementsOp
    : FF_TableOp<"gather_elements",
                 [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "elements along `axis`: y[.., i, ..] = x[.., indices[.., i, ..], ..]";
  let description = [{
    ```mlir
    %y = ff.gather_elements(%x, %ids) {axis = 1 : i64}
        : (tensor<64x50257xf32>, tensor<64x1xi64>) -> tensor<64x1xf32>
    ```

    Every line along the axis has indices of its own. Iteration dimensions are
    those of the result; x is read whole along the axis.

    Constraints:
      1. `axis` is a dimension of x, and the indices have x's extents in all
         others.
      2. The result has the shape of the indices.
      3. The result has x's element type.
  }];
  let arguments = (ins FF_FloatTensor:$x, FF_Indices:$indices, I64Attr:$axis);
  let results = (outs FF_FloatTensor:$y);
}

def FF_GatherElementsBackwardOp
    : FF_TableOp<"gather_elements_backward",
                 [DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "dx[.., indices[.., i, ..], ..] += dy[.., i, ..], from 0";
  let description = [{
    Iteration dimensions are those of dx; indices and dy are read whole along the
    axis. Models scatter with it.

    Constraints: as ff.gather_elements, with dy for y and dx for x.
  }];
  let arguments = (ins FF_Indices:$indices, FF_FloatTensor:$dy, I64Attr:$axis);
  let results = (outs FF_FloatTensor:$dx);
}

def FF_UpdateRowsOp
    : FF_Op<"update_rows",
          [Pure, AttrSizedOperandSegments,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots"]>]> {
  let summary = "one step of an optimizer in the rows that were looked up";
  let description = [{
    ```mlir
    %w2, %s2 = ff.update_rows adagrad(%w, %ids, %dy slots %s)
        {hyper = array<f64: 1.000000e-10>} : ...
    ```

    What ff.embedding_backward and ff.update do together, without a gradient of
    the table's size: the gradient of a row is the sum of the dy that its indices
    look up, and a row that none looks up stays as it is, as do the slots there.
    The learning rate is a run-time scalar; a weight decay other than 0 is an
    error. `scale` is that of ff.update. Updates in place.

    Iteration space: the rows r and the width c of the table. Every tile reads
    all indices, and its columns of all of dy, so that data parallelism gathers
    these instead of summing gradients.

    Constraints: as ff.embedding, with dy for y and w for the table.
      3. Rows without gradient mean nothing to the optimizer with the numbers
         `hyper` (`Optimizer::updatesRows`), and there are as many slots as it has.
      4. The slots and all results have the type of w; scale is one element of
         its element type, or two.
  }];
  let arguments = (ins FF_OptimizerKindAttr:$kind, FF_Table:$w,
                   FF_Indices:$indices, FF_FloatTensor:$dy,
                   Variadic<FF_FloatTensor>:$slots,
                   Optional<FF_FloatTensor>:$scale, DenseF64ArrayAttr:$hyper);
  let results = (outs FF_Table:$w_out, Variadic<FF_FloatTensor>:$slots_out);
  let assemblyFormat = [{
    $kind `(` $w `,` $indices `,` $dy (`slots` $slots^)? (`scale` $scale^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
