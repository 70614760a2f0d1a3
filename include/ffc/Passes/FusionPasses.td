//===- FusionPasses.td - passes that make fewer operators --*- tablegen -*-===//
//
// The pipeline ffc-fuse (Pipelines.h). Included by Passes.td.
//
//===----------------------------------------------------------------------===//

def FuseSums : Pass<"fuse-sums", "::mlir::ModuleOp"> {
  let summary = "lets products sum their operands";
  let description = [{
    The gradients of a layer's weights and of its bias read the same tensor: the
    one multiplies it, the other adds it up over all dimensions but the last.
    `ff.matmul` and `ff.reduce_sum` become one `ff.matmul_sums`.

    Both must have the same role and, if the sums were given a configuration
    (`ff.config`), split what both read in the same way over the same devices.
    What needs the sums comes after the product. It keeps its name; that of the
    sums is among its `ff.aliases`.

    Before:
    ```mlir
    %0 = ff.matmul(%x, %dy) {... trans_a = 1 : i64 ...} : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %1 = ff.reduce_sum(%dy) {axes = array<i64: 0>, keepdims = 0 : i64} : tensor<8x6xf32> -> tensor<6xf32>
    ```
    After:
    ```mlir
    %0, %1 = ff.matmul_sums(%x, %dy) {... sums_of = 1 : i64 ...} : (tensor<8x4xf32>, tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def FuseAddends : Pass<"fuse-addends", "::mlir::ModuleOp"> {
  let summary = "lets operators add to their results themselves";
  let description = [{
    The other summand of a sum becomes the operand `addend` of the operator that
    produces the one, if that can add (AddingInterface), comes after the other
    summand, and nothing else needs what it produces.

    Both must have the same role and, if the sum was given a configuration
    (`ff.config`), split the value in the same way over the same devices, none of
    which holds partial sums. The operator keeps its name; those of the sum are
    among its `ff.aliases`.

    Before:
    ```mlir
    %0 = ff.matmul(%x, %w) {...} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %1 = ff.binary add(%0, %r) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    ```
    After:
    ```mlir
    %0 = ff.matmul(%x, %w addend %r) {...} : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def FuseActivations : Pass<"fuse-activations", "::mlir::ModuleOp"> {
  let summary = "lets operators clamp their results themselves";
  let description = [{
    A function that cuts its operand to bounds (relu, clip) becomes the attribute
    `clamp` of the operator that produces the operand, if that can clamp
    (ClampingInterface) and nothing else needs what it produces. Gradients read
    the clamped value, as those of these functions do anyway.

    Both must have the same role and, if the function was given a configuration
    (`ff.config`), split the value in the same way over the same devices, none of
    which holds partial sums. The operator keeps its name; those of the function
    are among its `ff.aliases`.

    Before:
    ```mlir
    %0 = ff.conv(%x, %w) {...} : (tensor<8x3x9x9xf32>, tensor<4x3x1x1xf32>) -> tensor<8x4x9x9xf32>
    %1 = ff.unary relu(%0) : tensor<8x4x9x9xf32> -> tensor<8x4x9x9xf32>
    ```
    After:
    ```mlir
    %0 = ff.conv(%x, %w) {clamp = array<f64: 0.0>, ...} : (tensor<8x3x9x9xf32>, tensor<4x3x1x1xf32>) -> tensor<8x4x9x9xf32>
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def FuseCuts : Pass<"fuse-cuts", "::mlir::ModuleOp"> {
  let summary = "lets gradients of normalisations leave out what was cut";
  let description = [{
    Where `ff.normalize` cuts its result to bounds, the gradient of the cut reads
    that result and the slopes, and writes what `ff.normalize_backward` reads
    twice. That can compute again what was cut from what it reads in any case.

    The normalisation has no addend, each of its statistics has one parameter, and
    nobody else reads the gradient of the cut. Narrow results may have the bound 0
    only: what is rounded to another one looks as if it had been cut.

    Before:
    ```mlir
    %y, %m, %v = ff.normalize(%x scale %s bias %b) {clamp = array<f64: 0.0>, ...}
    %g = ff.unary_backward relu(%dy, %y) : ...
    %dx, %ds, %db = ff.normalize_backward(%g, %x, %m, %v, %s) {...}
    ```
    After:
    ```mlir
    %y, %m, %v = ff.normalize(%x scale %s bias %b) {clamp = array<f64: 0.0>, ...}
    %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s bias %b) {clamp = array<f64: 0.0>, ...}
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def FuseGelu : Pass<"fuse-gelu", "::mlir::ModuleOp"> {
  let summary = "lets products compute GELU and its gradient";
  let description = [{
    GELU by tanh, and the product that makes its operand, become ff.matmul_gelu;
    its gradient, and the product that makes the gradient of its result for it
    alone, ff.matmul_gelu_backward. The products add a row at most.

    Only where operands are rounded, since libraries compute GELU about as exactly
    as that: to TF32 (`ff.tf32`, docs/decisions/0038), or to bf16 or f16 (0084).
    Then casts of what both make are merged, too.

    Both must have the same role and, if the function was given a configuration
    (`ff.config`), split the value in the same way over the same devices; none of
    these holds partial sums. Products keep their names; those of the functions
    are among their `ff.aliases`.

    Before:
    ```mlir
    %0 = ff.matmul(%x, %w, %b) {...} : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
    %1 = ff.unary gelu_tanh(%0) : tensor<8x6xf32> -> tensor<8x6xf32>
    %2 = ff.matmul(%dy, %v) {...} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %3 = ff.unary_backward gelu_tanh(%2, %0) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    ```
    After:
    ```mlir
    %0, %1 = ff.matmul_gelu(%x, %w, %b) {...} : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>)
    %3 = ff.matmul_gelu_backward(%dy, %v, %0) {...} : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}

def FuseCasts : Pass<"fuse-casts", "::mlir::ModuleOp"> {
  let summary = "lets operators round their results themselves";
  let description = [{
    A cast of f32 to bf16 or f16 becomes part of the operator that produces its
    operand, if that can round what it writes (NarrowingInterface) and nothing
    else needs the wide value.

    Both must have the same role and, if the cast was given a configuration
    (`ff.config`), split the value in the same way over the same devices. The
    operator keeps its name; that of the cast is among its `ff.aliases`. Casts
    behind element-wise operators are left to `fuse-elementwise`.

    Before:
    ```mlir
    %0, %m, %v = ff.normalize(%x) {...} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>)
    %1 = ff.cast(%0) : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    ```
    After:
    ```mlir
    %0, %m, %v = ff.normalize(%x) {...} : (tensor<8x4xf32>) -> (tensor<8x4xbf16>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
}

def FuseElementwise : Pass<"fuse-elementwise", "::mlir::ModuleOp"> {
  let summary = "merges chains of element-wise operators into ff.fused";
  let description = [{
    Merges producers and consumers among `ff.unary`, `ff.unary_backward`,
    `ff.binary`, `ff.select` and `ff.fused` whose results have one type, so that what passes
    between them never goes to memory. A result that others need as well becomes
    one more result. Nothing else in the order of operators changes, but that
    updates go behind what then reads the states that they write over.

    Operators are merged only if they have the same role and, where `ff.config`
    is given, the same configuration. The merged operator has the name, owner and
    results of its last one; the names of the others are among its `ff.aliases`.

    Before:
    ```mlir
    %0 = ff.binary add(%a, %b) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    %1 = ff.unary relu(%0) : tensor<8x16xf32> -> tensor<8x16xf32>
    ```
    After:
    ```mlir
    %1 = ff.fused(%a, %b) {
    ^bb0(%x0: tensor<8x16xf32>, %x1: tensor<16xf32>):
      %t0 = ff.binary add(%x0, %x1) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
      %t1 = ff.unary relu(%t0) : tensor<8x16xf32> -> tensor<8x16xf32>
      ff.yield %t1 : tensor<8x16xf32>
    } : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::ffc::ff::FFDialect"];
}
