//===- FFRecurrentOps.td - blocks of time steps -------------*- tablegen -*-===//
// Included by FFOps.td.
//
// Every verifier of this file also checks constraint 0: all extents are known
// and over 0.

def FF_RecurrentKind : I32EnumAttr<"RecurrentKind", "recurrent cell", [
    I32EnumAttrCase<"Lstm", 0, "lstm">,
    I32EnumAttrCase<"Gru", 1, "gru">,
    I32EnumAttrCase<"GruResetAfter", 2, "gru_reset_after">,
    I32EnumAttrCase<"RnnTanh", 3, "rnn_tanh">,
    I32EnumAttrCase<"RnnRelu", 4, "rnn_relu">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}
def FF_RecurrentKindAttr : EnumAttr<FFDialect, FF_RecurrentKind, "cell">;

def FF_RecurrentOp
    : FF_Op<"recurrent",
          [Pure, AttrSizedOperandSegments,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots", "getResultSlots"]>,
           DeclareOpInterfaceMethods<FF_DifferentiableInterface>]> {
  let summary = "consecutive time steps of one recurrent layer in one direction";
  let description = [{
    `x` holds what the gates get from the layer's input, `input * W^T + bias`, by
    a matrix product of its own: step, sample, and G = g * H gate units, gate by
    gate. `r` is the recurrent weight [G, H], and `h0`, `c0` the state before the
    first step, zero where absent. With h the state before a step, s the logistic
    function and `*` between vectors element by element, a step computes

      * `lstm` (gates i, o, f, g): c = s(f) * c + s(i) * tanh(g), h = s(o) * tanh(c),
        each gate being x + h r^T;
      * `gru` (gates z, q, u): z = s(x + h r^T), q = s(x + h r^T),
        u = tanh(x + (q * h) r^T), h = (1 - z) * u + z * h;
      * `gru_reset_after`: as `gru` with u = tanh(x + q * (h r^T + bias)), where the
        recurrent bias has to be an operand (`bias`, for all three gates);
      * `rnn_tanh`, `rnn_relu`: h = f(x + h r^T).

    With `reverse` the steps are done from the last to the first. `y` holds the
    states after all steps, `h` and `c` those after the step that is done last,
    and `saved` what the gradient needs: i, o, f, g and c of an LSTM; z, q, u of a
    GRU and, for `gru_reset_after`, u's part of h r^T + bias; the states of an RNN,
    whose gradient takes y instead.

    A layer is a chain of such operators, so that blocks of steps and layers may
    be on different devices:

    ```mlir
    %y, %h, %c, %s = ff.recurrent lstm(%x, %r state %h0 cell %c0) {reverse = 0 : i64}
        : (tensor<10x8x64xf32>, tensor<64x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
       -> (tensor<10x8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<10x8x80xf32>)
    ```

    Iteration space: t, n, c (units). Steps depend on each other, and every unit on
    all units of the step before, so only n can be split.

    Constraints:
      1. x is [T, N, g*H] and r [g*H, H], where g is 4 for an LSTM, 3 for a GRU and
         1 for an RNN; r and bias may have a dimension of extent 1 in front.
      2. bias is [g*H], and only there with `gru_reset_after`.
      3. h0, h are [N, H]; so are c0 and c, which only an LSTM has (c always).
      4. y is [T, N, H], and saved [T, N, s*H], where s is 5 for an LSTM, 3 for
         `gru`, 4 for `gru_reset_after` and 1 for an RNN.
  }];
  let arguments = (ins FF_RecurrentKindAttr:$kind, FF_FloatTensor:$x, FF_FloatTensor:$r,
                   Optional<FF_FloatTensor>:$bias, Optional<FF_FloatTensor>:$h0,
                   Optional<FF_FloatTensor>:$c0, I64Attr:$reverse);
  let results = (outs FF_FloatTensor:$y, FF_FloatTensor:$h,
                 Optional<FF_FloatTensor>:$c, FF_FloatTensor:$saved);
  let assemblyFormat = [{
    $kind `(` $x `,` $r (`bias` $bias^)? (`state` $h0^)? (`cell` $c0^)? `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FF_RecurrentBackwardOp
    : FF_Op<"recurrent_backward",
          [Pure, AttrSizedOperandSegments,
           DeclareOpInterfaceMethods<FF_PartitionableInterface,
                                     ["getOperandSlots", "getResultSlots"]>]> {
  let summary = "gradients of the gates and the first state of ff.recurrent";
  let description = [{
    `dy`, `dh` and `dc` are the gradients of y, h and c, zero where absent. `dx` is
    the gradient of x. The gradient of `h r^T + bias` is `dr`: it differs from dx
    for `gru_reset_after` only. Gradients of weights and biases are products and
    sums of these two.

    Iteration space: as ff.recurrent.

    Constraints: 1 to 4 as ff.recurrent, with dx and dr of x's shape, dh0 of h0's
    and dc0 of c0's.
      5. There is one of dy, dh and dc at least; dc is [N, H], for an LSTM only.
      6. The gradient of a GRU has y; other kinds do not, and have no h0.
  }];
  let arguments = (ins FF_RecurrentKindAttr:$kind, FF_FloatTensor:$r, FF_FloatTensor:$saved,
                   Optional<FF_FloatTensor>:$dy, Optional<FF_FloatTensor>:$dh,
                   Optional<FF_FloatTensor>:$dc, Optional<FF_FloatTensor>:$y,
                   Optional<FF_FloatTensor>:$h0, Optional<FF_FloatTensor>:$c0,
                   I64Attr:$reverse);
  let results = (outs FF_FloatTensor:$dx, FF_FloatTensor:$dh0,
                 Optional<FF_FloatTensor>:$dc0, FF_FloatTensor:$dr);
  let assemblyFormat = [{
    $kind `(` $r `,` $saved (`dy` $dy^)? (`dh` $dh^)? (`dc` $dc^)? (`y` $y^)?
    (`state` $h0^)? (`cell` $c0^)? `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
