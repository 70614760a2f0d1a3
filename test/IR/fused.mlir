// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @fused
func.func @fused(%x: tensor<8x16xf32>, %y: tensor<16xf32>) {
  // CHECK: %{{.*}}:2 = ff.fused(%{{.*}}, %{{.*}}) attributes {ff.role = "gradient"} {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<16xf32>):
  // CHECK-NEXT:   %[[T0:.*]] = ff.binary add(%[[A]], %[[B]])
  // CHECK-NEXT:   %[[T1:.*]] = ff.unary clip(%[[T0]]) alpha 0.000000e+00 beta 6.000000e+00
  // CHECK-NEXT:   %[[T2:.*]] = ff.select(%[[T1]], %[[A]], %[[B]])
  // CHECK-NEXT:   ff.yield %[[T2]], %[[T0]] : tensor<8x16xf32>, tensor<8x16xf32>
  // CHECK-NEXT: } : (tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  %z:2 = ff.fused(%x, %y) attributes {ff.role = "gradient"} {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<16xf32>):
    %0 = ff.binary add(%a, %b)
        : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    %1 = ff.unary clip(%0) alpha 0.0 beta 6.0
        : tensor<8x16xf32> -> tensor<8x16xf32>
    %2 = ff.select(%1, %a, %b)
        : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    ff.yield %2, %0 : tensor<8x16xf32>, tensor<8x16xf32>
  } : (tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  return
}

// What is yielded may be narrowed.
// CHECK-LABEL: @narrow
func.func @narrow(%x: tensor<8x16xf32>) {
  // CHECK: %[[T:.*]] = ff.unary relu
  // CHECK-NEXT: %[[N:.*]] = ff.cast(%[[T]])
  // CHECK-NEXT: ff.yield %[[N]], %[[T]] : tensor<8x16xbf16>, tensor<8x16xf32>
  %z:2 = ff.fused(%x) {
  ^bb0(%a: tensor<8x16xf32>):
    %0 = ff.unary relu(%a) : tensor<8x16xf32> -> tensor<8x16xf32>
    %1 = ff.cast(%0) : (tensor<8x16xf32>) -> tensor<8x16xbf16>
    ff.yield %1, %0 : tensor<8x16xbf16>, tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> (tensor<8x16xbf16>, tensor<8x16xf32>)
  return
}
