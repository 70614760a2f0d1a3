//===- Passes.td - passes of ffc ---------------------------*- tablegen -*-===//

#ifndef FFC_PASSES_PASSES_TD
#define FFC_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"ff-differentiate", "::mlir::ModuleOp"> {
  let summary = "adds loss, gradients and parameter updates";
  let description = [{
    Turns a forward graph into a training step. The first `ff.output` is the
    model's answer; a softmax (for cross-entropy) or sigmoid (for binary
    cross-entropy) that produces it is looked through. Gradients flow to every
    `ff.state` of kind parameter; a gradient used several times is summed in
    the order of its uses, so that results do not depend on the plan.

    Before:
    ```mlir
    %w = ff.state "w" "parameter" init #ff.init<constant, 0.0 : f64, 0> : tensor<10x4xf32>
    %y = ff.matmul(%x, %w) {...}
    ff.output %y as "out/y" : tensor<8x10xf32>
    ```
    After, in addition: argument `target`, `ff.cross_entropy`, its gradient,
    `ff.output %g as "grad/w"`, `ff.sgd_update`, `ff.store`.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross-entropy\"",
           "cross-entropy, mse, bce or none">,
    Option<"momentum", "momentum", "double", "0.9", "momentum of SGD, 0 for none">,
    Option<"nesterov", "nesterov", "bool", "false", "Nesterov momentum">,
  ];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

#endif // FFC_PASSES_PASSES_TD
