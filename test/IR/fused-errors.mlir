// RUN: ffc-opt %s --split-input-file --verify-diagnostics

// Constraint 0: static, not empty.
func.func @fused_dynamic(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0, found 'tensor<?xf32>'}}
  %0 = ff.fused(%x) {
  ^bb0(%a: tensor<?xf32>):
    ff.yield %a : tensor<?xf32>
  } : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @fused_1_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected block arguments of types 'tensor<4xf32>', found 'tensor<4xf64>'}}
  %0 = ff.fused(%x) {
  ^bb0(%a: tensor<4xf64>):
    %0 = ff.unary relu(%a) : tensor<4xf64> -> tensor<4xf64>
    %1 = ff.unary tanh(%0) : tensor<4xf64> -> tensor<4xf64>
    ff.yield %1 : tensor<4xf64>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_1_yield(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected yielded types 'tensor<4xf32>', 'tensor<4xf32>', found 'tensor<4xf32>'}}
  %0:2 = ff.fused(%x) {
  ^bb0(%a: tensor<4xf32>):
    %0 = ff.unary relu(%a) : tensor<4xf32> -> tensor<4xf32>
    %1 = ff.unary tanh(%0) : tensor<4xf32> -> tensor<4xf32>
    ff.yield %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @fused_1_operand_yielded(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected results of the body to be yielded, found an operand}}
  %0 = ff.fused(%x) {
  ^bb0(%a: tensor<4xf32>):
    %0 = ff.unary relu(%a) : tensor<4xf32> -> tensor<4xf32>
    %1 = ff.unary tanh(%0) : tensor<4xf32> -> tensor<4xf32>
    ff.yield %a : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_no_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected at least one result, found none}}
  ff.fused(%x) {
  ^bb0(%a: tensor<4xf32>):
    %0 = ff.unary relu(%a) : tensor<4xf32> -> tensor<4xf32>
    %1 = ff.unary tanh(%0) : tensor<4xf32> -> tensor<4xf32>
    "ff.yield"() : () -> ()
  } : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @fused_2_results(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{expected results of one shape, found 'tensor<4xf32>' and 'tensor<1xf32>'}}
  %0:2 = ff.fused(%x, %y) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<1xf32>):
    %0 = ff.unary relu(%a) : tensor<4xf32> -> tensor<4xf32>
    %1 = ff.unary relu(%b) : tensor<1xf32> -> tensor<1xf32>
    ff.yield %0, %1 : tensor<4xf32>, tensor<1xf32>
  } : (tensor<4xf32>, tensor<1xf32>) -> (tensor<4xf32>, tensor<1xf32>)
  return
}

// -----

func.func @fused_2_body(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  %0 = ff.fused(%x, %y) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<1xf32>):
    // expected-error @+1 {{expected type 'tensor<4xf32>' in the body of ff.fused, found 'tensor<1xf32>'}}
    %0 = ff.unary relu(%b) : tensor<1xf32> -> tensor<1xf32>
    %1 = ff.binary add(%a, %0) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
    ff.yield %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_2_narrow(%x: tensor<4xf32>) {
  %0 = ff.fused(%x) {
  ^bb0(%a: tensor<4xf32>):
    %0 = ff.unary relu(%a) : tensor<4xf32> -> tensor<4xf32>
    // expected-error @+1 {{expected to be yielded, not read in the body}}
    %1 = ff.cast(%0) : (tensor<4xf32>) -> tensor<4xbf16>
    %2 = ff.cast(%1) : (tensor<4xbf16>) -> tensor<4xf32>
    ff.yield %2 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_3_other(%x: tensor<4xf32>) {
  %0 = ff.fused(%x) {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{expected an element-wise operator in the body of ff.fused}}
    %0 = ff.dropout(%a) {key = 1, ratio = 0.5} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = ff.unary relu(%0) : tensor<4xf32> -> tensor<4xf32>
    ff.yield %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_3_one(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected at least 2 operators in the body, found 1}}
  %0 = ff.fused(%x) {
  ^bb0(%a: tensor<4xf32>):
    %0 = ff.unary relu(%a) : tensor<4xf32> -> tensor<4xf32>
    ff.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @yield_outside(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects parent op 'ff.fused'}}
  ff.yield %x : tensor<4xf32>
}
