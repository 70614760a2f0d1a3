//===- Passes.td - passes of ffc ---------------------------*- tablegen -*-===//

#ifndef FFC_PASSES_PASSES_TD
#define FFC_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def RecognizePatterns : Pass<"recognize-patterns", "::mlir::ModuleOp"> {
  let summary = "makes one operator of what exporters spell out";
  let description = [{
    Comes before differentiation, so that gradients are those of the whole. The
    forms are exact, up to the order of factors and terms and the rounding of
    constants to f32:

      * gelu:       x * 0.5 * (1 + erf(x / sqrt(2)))
      * silu:       x * sigmoid(x)
      * hard_swish: x * hard_sigmoid(x, 1/6, 0.5), x * clip(x + 3, 0, 6) / 6
      * normalize:  (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), means
                    over the last dimensions, and then * scale, + bias of these
                    dimensions
      * attention:  transpose(softmax(scale * q k^T, masked) v), dropout or not,
                    with what scales q or k; where weights that are no numbers,
                    since a mask hides all of a row, become 0, so do the results
      * matmul:     products of operands whose last two dimensions are swapped,
                    and then + bias, a vector

    A slice of a concatenation, dimensions moved in between or not, is taken from
    the operand that has it.

    Nothing is matched whose parts are used elsewhere. The new operator has the
    name of the last one matched, with the names of the others as `ff.aliases`,
    and a remark tells of it. Constants that nothing uses any more are removed.

    Before:
    ```mlir
    %0 = ff.unary sigmoid(%x) : tensor<8x16xf32> -> tensor<8x16xf32>
    %1 = ff.binary mul(%x, %0) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
    After:
    ```mlir
    %1 = ff.unary silu(%x) : tensor<8x16xf32> -> tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def MergeConstants : Pass<"merge-constants", "::mlir::ModuleOp"> {
  let summary = "computes equal constants once";
  let description = [{
    Operators that do the same to the same constants become one, that of the
    first, with the names of the others as `ff.aliases`: models have a mask for
    every layer. (Common subexpressions of what is computed from inputs and
    parameters stay, since each is a choice of its own.)

    Before:
    ```mlir
    %a = ff.state "a" "constant" init <positions, 0.0 : f64, 0> : tensor<4x1xf32>
    %b = ff.state "b" "constant" init <positions, 0.0 : f64, 0> : tensor<4x1xf32>
    %0 = ff.unary sqrt(%a) : tensor<4x1xf32> -> tensor<4x1xf32>
    %1 = ff.unary sqrt(%b) : tensor<4x1xf32> -> tensor<4x1xf32>
    ```
    After:
    ```mlir
    %a = ff.state "a" "constant" init <positions, 0.0 : f64, 0> : tensor<4x1xf32>
    %0 = ff.unary sqrt(%a) : tensor<4x1xf32> -> tensor<4x1xf32>
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def MarkCausal : Pass<"mark-causal", "::mlir::ModuleOp"> {
  let summary = "finds attention to what came before";
  let description = [{
    Computes the masks of `ff.attention` that are made of constants, and says of
    those that hide all later positions, by -10000 or less, and nothing else that
    they are causal: libraries have kernels for that. If they are added, kernels
    leave out what they hide (`hidden` is -inf). Masks of more than 2^24 elements
    are left as they are.

    Before:
    ```mlir
    %m = ff.state "later" "constant" init <upper, 1.0 : f64, 0> : tensor<4x4xf32>
    %y, %lse = ff.attention(%q, %k, %v mask %m) {hidden = array<f64: -10000.0>, ...}
    ```
    After:
    ```mlir
    %y, %lse = ff.attention(%q, %k, %v mask %m) {causal = 1 : i64, hidden = array<f64: -10000.0>, ...}
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def ApplyRewrites : Pass<"rewrite", "::mlir::ModuleOp"> {
  let summary = "other operators that compute the same";
  let description = [{
    Applies rules of ffc/Passes/Rewrites.h to a forward graph, in the order of
    that table. They are not always for the better: which ones are applied is
    chosen together with the strategy (docs/decisions/0065).

      * move-transposes: transposes are moved up to others that they cancel with
      * merge-narrow-products, merge-wide-products: layers of one operand are one
        product with all of their weights, columns dealt out in groups, of which
        each takes its part
      * join-sums: a sum of layers is one product of their operands side by side
      * batch-products: small layers of equal shapes are one batch of products

    Before:
    ```mlir
    %q = ff.matmul(%x, %wq) {...} : (tensor<8x16xf32>, tensor<16x10xf32>) -> tensor<8x10xf32>
    %k = ff.matmul(%x, %wk) {...} : (tensor<8x16xf32>, tensor<16x5xf32>) -> tensor<8x5xf32>
    ```
    After `rules=merge-narrow-products`, in five groups of columns:
    ```mlir
    %0 = ff.reshape(%wq) : (tensor<16x10xf32>) -> tensor<16x5x2xf32>
    %1 = ff.reshape(%wk) : (tensor<16x5xf32>) -> tensor<16x5x1xf32>
    %2 = ff.concat(%0, %1) {axis = 2 : i64} : ... -> tensor<16x5x3xf32>
    %3 = ff.reshape(%2) : (tensor<16x5x3xf32>) -> tensor<16x15xf32>
    %4 = ff.matmul(%x, %3) {...} : ... -> tensor<8x15xf32>
    %5 = ff.reshape(%4) : (tensor<8x15xf32>) -> tensor<8x5x3xf32>
    %6 = ff.slice(%5) {starts = array<i64: 0, 0, 0>} : (tensor<8x5x3xf32>) -> tensor<8x5x2xf32>
    %q = ff.reshape(%6) : (tensor<8x5x2xf32>) -> tensor<8x10xf32>
    %7 = ff.slice(%5) {starts = array<i64: 0, 0, 2>} : (tensor<8x5x3xf32>) -> tensor<8x5x1xf32>
    %k = ff.reshape(%7) : (tensor<8x5x1xf32>) -> tensor<8x5xf32>
    ```
  }];
  let options = [
    ListOption<"rules", "rules", "std::string", "names of rules">,
  ];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def Differentiate : Pass<"ff-differentiate", "::mlir::ModuleOp"> {
  let summary = "adds loss, gradients and parameter updates";
  let description = [{
    Turns a forward graph into a training step. The first `ff.output` is the
    model's answer; a softmax (for cross-entropy) or sigmoid (for binary
    cross-entropy) that produces it is looked through. Gradients flow to every
    `ff.state` of kind parameter; a gradient used several times is summed in
    the order of its uses, so that results do not depend on the plan.

    With `row-updates`, a parameter whose only gradient is one of few rows
    (RowGradientInterface) is updated in these rows, and has no gradient to look
    at. This needs SGD without momentum, and no weight decay at run time.

    With `clip-norm`, gradients are multiplied by what bounds the norm of all of
    them together, and updates come after the last gradient. They do with
    `loss-scale` as well, the gradient of the loss in the first step: updates
    divide by it, a step whose gradients are not finite is skipped, and what
    follows from that for the next one is ff.loss_scale's business.

    With `micro-batches`, which the function then says, a step does all but the
    updates so often, on a batch each, and updates take the mean of each gradient
    (docs/decisions/0024).

    Before:
    ```mlir
    %w = ff.state "w" "parameter" init #ff.init<constant, 0.0 : f64, 0> : tensor<10x4xf32>
    %y = ff.matmul(%x, %w) {...}
    ff.output %y as "out/y" : tensor<8x10xf32>
    ```
    After, in addition: argument `target`, `ff.cross_entropy`, its gradient,
    `ff.output %g as "grad/w"`, `ff.update`, `ff.store`.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross-entropy\"",
           "cross-entropy, mse, bce or none">,
    Option<"classAxis", "class-axis", "int64_t", "INT64_MIN",
           "dimension of the classes in cross-entropy, from the end if negative "
           "(default: that of the softmax, else 2 of rank 3 and 1 otherwise)">,
    Option<"labelSmoothing", "label-smoothing", "double", "0",
           "the share of a target that stands for all classes, from 0 to 1">,
    Option<"optimizer", "optimizer", "std::string", "\"sgd\"",
           "sgd, adam, adamw, adagrad, rmsprop, lamb, hf_adamw or lion, with numbers: "
           "\"sgd:momentum=0,nesterov=0\"">,
    Option<"clipNorm", "clip-norm", "double", "0",
           "the most that the norm of all gradients may be, 0 for any">,
    Option<"ema", "ema", "double", "0",
           "what running means of parameters keep of themselves in a step, 0 for "
           "none">,
    Option<"lossScale", "loss-scale", "double", "0",
           "the gradient of the loss in the first step, 0 for 1 in all steps">,
    Option<"fixedLossScale", "fixed-loss-scale", "bool", "false",
           "the gradient of the loss is the same in all steps">,
    Option<"rowUpdates", "row-updates", "bool", "false",
           "update tables in the rows that were looked up">,
    Option<"microBatches", "micro-batches", "int64_t", "1",
           "how often a step does what comes before the updates">,
  ];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def Evaluate : Pass<"ff-evaluate", "::mlir::ModuleOp"> {
  let summary = "makes an evaluation of a forward graph that is trained";
  let description = [{
    Batch normalisations take running statistics, which stay as they are, dropout
    drops nothing, and instead of the model's outputs there is what a loss and
    metrics are made of, a row for each of the samples (or of their positions):

      * of cross-entropy `rows/loss`, `rows/top`, the likeliest classes in
        descending order along the last dimension (five, or all if there are
        fewer), and `rows/target`;
      * of mse and bce `rows/prediction` (logits for bce), and `rows/target`;
      * of a loss of the model's own the first, if it is a cross-entropy, else
        `rows/loss`, which is that of the whole batch.

    The function says which (`ff.rows`).

    Before:
    ```mlir
    %a = ff.dropout(%x) {key = 1 : i64, ratio = 5.0e-01 : f64} : (tensor<8x10xf32>) -> tensor<8x10xf32>
    ff.output %a as "out/y" : tensor<8x10xf32>
    ```
    After:
    ```mlir
    %0 = ff.softmax(%x) {axes = array<i64: 1>, log = 1 : i64} : ...
    %1 = ff.reshape(%target) : (tensor<8xi32>) -> tensor<8x1xi32>
    %2 = ff.gather_elements(%0, %1) {axis = 1 : i64} : ...
    %3 = ff.unary scale %2 ...
    %4 = ff.reshape(%3) : (tensor<8x1xf32>) -> tensor<8xf32>
    ff.output %4 as "rows/loss" : tensor<8xf32>
    %y, %index = ff.top_k(%x) {axis = 1 : i64, largest = 1 : i64} : ...
    ff.output %index as "rows/top" : tensor<8x5xi64>
    ff.output %target as "rows/target" : tensor<8xi32>
    ```
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross-entropy\"",
           "as of --ff-differentiate">,
    Option<"classAxis", "class-axis", "int64_t", "INT64_MIN",
           "as of --ff-differentiate">,
  ];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def FuseLosses : Pass<"fuse-losses", "::mlir::ModuleOp"> {
  let summary = "takes losses from their gradients";
  let description = [{
    What the gradient of a cross-entropy computes of the logits, maxima and sums
    of exponentials, is what the loss is made of. Where the gradient can be
    computed in the place of the loss, that is because its slope is known there
    (none, or the loss scale), `ff.cross_entropy_backward` gives both, under the
    name of the loss. Comes before there is a strategy.

    Before:
    ```mlir
    %loss = ff.cross_entropy(%x, %t) {axis = 1 : i64}
    %unused, %dx = ff.cross_entropy_backward(%x, %t) {axis = 1 : i64}
    ```
    After:
    ```mlir
    %loss, %dx = ff.cross_entropy_backward(%x, %t) {axis = 1 : i64}
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def RaisePrecision : Pass<"raise-precision", "::mlir::ModuleOp"> {
  let summary = "everything in f64 instead of f32";
  let description = [{
    For programs that check others. Comes after differentiation.

    Before:
    ```mlir
    %y = ff.matmul(%x, %w) {...} : (tensor<8x16xf32>, tensor<16x10xf32>) -> tensor<8x10xf32>
    ```
    After:
    ```mlir
    %y = ff.matmul(%x, %w) {...} : (tensor<8x16xf64>, tensor<16x10xf64>) -> tensor<8x10xf64>
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def LowerPrecision : Pass<"lower-precision", "::mlir::ModuleOp"> {
  let summary = "operands of products, and values between products, as bf16, f16 or tf32";
  let description = [{
    What kernels multiply and add up (PartitionableInterface::getMultipliedOperands) is cast
    to `type` before, once per value and step. A value that is multiplied, or was
    computed of narrow values, and that nothing but kernels for narrow operands
    read (PartitionableInterface::getNarrowable, element-wise operators) is
    rounded behind what makes it, and everybody reads it so, but GELU by tanh right
    behind a product, and its gradient, which are of the sum (docs/decisions/0084).
    A bias that is added to such a result is rounded, too. Kernels compute in f32,
    sums are f32, and so is all else, parameters and their gradients among it. Comes
    after differentiation, so that gradients are as narrow. TF32 is no type in memory:
    the main function says that GPUs round operands to it (`ff.tf32`).

    Element-wise operators that read narrow values become `ff.fused`, whose body
    widens them.

    Before:
    ```mlir
    %y = ff.matmul(%x, %w) {...} : (tensor<8x16xf32>, tensor<16x10xf32>) -> tensor<8x10xf32>
    ```
    After:
    ```mlir
    %0 = ff.cast(%x) : (tensor<8x16xf32>) -> tensor<8x16xbf16>
    %1 = ff.cast(%w) : (tensor<16x10xf32>) -> tensor<16x10xbf16>
    %y = ff.matmul(%0, %1) {...} : (tensor<8x16xbf16>, tensor<16x10xbf16>) -> tensor<8x10xf32>
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", "\"bf16\"", "bf16, f16 or tf32">,
  ];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def KeepRounded : Pass<"keep-rounded", "::mlir::ModuleOp"> {
  let summary = "lets updates round parameters for the next step";
  let description = [{
    A parameter that products read rounded is cast in every step, and pass. Its
    update has it in registers: it writes what the cast would make of it, to a
    state of its own of the kind "copy". Parameters that other operators than
    ff.update change, or none, are cast as before.

    Before:
    ```mlir
    %w = ff.state "w" "parameter" init #i : tensor<16x10xf32>
    %0 = ff.cast(%w) : (tensor<16x10xf32>) -> tensor<16x10xbf16>
    ...
    %1 = ff.update sgd(%w, %dw) {...} : (...) -> tensor<16x10xf32>
    ff.store %1 to "w" : tensor<16x10xf32>
    ```
    After:
    ```mlir
    %w = ff.state "w" "parameter" init #i : tensor<16x10xf32>
    %0 = ff.state "w.bf16" "copy" of "w" init #i : tensor<16x10xbf16>
    ...
    %1:2 = ff.update sgd(%w, %dw) {...} : (...) -> (tensor<16x10xf32>, tensor<16x10xbf16>)
    ff.store %1#0 to "w" : tensor<16x10xf32>
    ff.store %1#1 to "w.bf16" : tensor<16x10xbf16>
    ```
  }];
}

include "ffc/Passes/FusionPasses.td"

#endif // FFC_PASSES_PASSES_TD
