// Every pass over the step asks for the function that holds it.

// RUN: not ffc-opt %s --raise-precision 2>&1 | FileCheck %s
// RUN: not ffc-opt %s --ff-differentiate 2>&1 | FileCheck %s
// RUN: not ffc-opt %s --fuse-activations 2>&1 | FileCheck %s
// RUN: not ffc-opt %s --fuse-elementwise 2>&1 | FileCheck %s

// CHECK: main-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: expected a function 'main' with a body
func.func private @main()
