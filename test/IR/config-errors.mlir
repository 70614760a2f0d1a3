// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @devices(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 devices, one per grid point, found 1}}
  %0 = ff.unary relu(%x) {ff.config = #ff.config<grid = {c = 2}, devices = [0]>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @degree(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a positive degree, found 0}}
  %0 = ff.unary relu(%x) {ff.config = #ff.config<grid = {c = 0}, devices = []>} : tensor<4xf32> -> tensor<4xf32>
  return
}
