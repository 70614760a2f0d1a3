// RUN: ffc-opt %s --split-input-file --verify-diagnostics

func.func @normalize_0_empty(%x: tensor<0x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected operand 0 to have known extents over 0}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<0x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<0x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_1_axes(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 3, found [2, 0]}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 2, 0>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_1_param_dims(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected param_dims in ascending order within a tensor of rank 3, found [3]}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 3>}
      : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_2_scale(%x: tensor<4x3x2xf32>, %s: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected scale of type 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_2_bias(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3x1xf32>) {
  // expected-error @+1 {{expected bias of type 'tensor<3xf32>', found 'tensor<3x1xf32>'}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3x1xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_3_y(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<4x3x2xf32>', found 'tensor<4x2x3xf32>'}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_3_mean(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<3xf32>', found 'tensor<1x3x1xf32>'}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<1x3x1xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_3_var(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @normalize_4_epsilon(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected a positive epsilon, found 0.0}}
  %y, %m, %v = ff.normalize(%x scale %s bias %b) {axes = array<i64: 0, 2>,
      epsilon = 0.0 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_0_empty(%dy: tensor<4x3x2xf32>, %x: tensor<?x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected operand 1 to have known extents over 0}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<?x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_1_axes(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected axes in ascending order within a tensor of rank 3, found [0, 0]}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_dy(%dy: tensor<4x3xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected dy of type 'tensor<4x3x2xf32>', found 'tensor<4x3xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_mean(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<4xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected mean of type 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_var(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<4xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected var of type 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_scale(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<4xf32>) {
  // expected-error @+1 {{expected scale of type 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_addend(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected an addend of type 'tensor<4x3x2xf32>', found 'tensor<3xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s addend %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_dx(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<4x3x2xf32>', found 'tensor<4x3xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_dscale(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<3xf32>', found 'tensor<2xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<2xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_dbias(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<3xf32>', found 'tensor<2xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<2xf32>)
  return
}

// -----

func.func @normalize_backward_4_epsilon(%dy: tensor<4x3x2xf32>, %x: tensor<4x3x2xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>,
    %s: tensor<3xf32>) {
  // expected-error @+1 {{expected a positive epsilon, found -1}}
  %dx, %ds, %db = ff.normalize_backward(%dy, %x, %m, %v, %s)
      {axes = array<i64: 0, 2>, epsilon = -1.0 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_clamp(%x: tensor<4x3xf32>, %m: tensor<3xf32>) {
  // expected-error @+1 {{expected one or two bounds in 'clamp', found 3}}
  %dx, %ds, %db = ff.normalize_backward(%x, %x, %m, %m) {axes = array<i64: 0>, clamp = array<f64: 0.0, 1.0, 2.0>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_bias(%x: tensor<4x3xf32>, %m: tensor<3xf32>) {
  // expected-error @+1 {{expected a bias only with clamp, found one without}}
  %dx, %ds, %db = ff.normalize_backward(%x, %x, %m, %m bias %m) {axes = array<i64: 0>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_bias_type(%x: tensor<4x3xf32>, %m: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected bias of type 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%x, %x, %m, %m bias %b) {axes = array<i64: 0>, clamp = array<f64: 0.0>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_cut_of_elements(%x: tensor<4x3xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected one parameter per statistic with clamp, found axes [1] and param_dims [1]}}
  %dx, %ds, %db = ff.normalize_backward(%x, %x, %m, %m) {axes = array<i64: 1>, clamp = array<f64: 0.0>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_clamp(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected one or two bounds in 'clamp', found 0}}
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, clamp = array<f64>,
      epsilon = 0.1 : f64, param_dims = array<i64: 1>}
      : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_3_mean_of_groups(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<2x3xf32>', found 'tensor<3xf32>'}}
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>, sample_groups = 2}
      : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_5_one_group(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected at least 2 sample_groups, found 1}}
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>, sample_groups = 1}
      : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>)
  return
}

// -----

func.func @normalize_5_division(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected sample_groups that divide dimension 0 of extent 4, found 3}}
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>, sample_groups = 3}
      : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  return
}

// -----

func.func @normalize_5_axes(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected dimension 0 in axes and not in param_dims with sample_groups, found axes [1] and param_dims [1]}}
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 1>, epsilon = 0.1 : f64,
      param_dims = array<i64: 1>, sample_groups = 2}
      : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @normalize_5_param_dims(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected dimension 0 in axes and not in param_dims with sample_groups, found axes [0] and param_dims [0]}}
  %y, %m, %v = ff.normalize(%x) {axes = array<i64: 0>, epsilon = 0.1 : f64,
      param_dims = array<i64: 0>, sample_groups = 2}
      : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @normalize_backward_5_division(%x: tensor<4x3xf32>, %m: tensor<3x3xf32>) {
  // expected-error @+1 {{expected sample_groups that divide dimension 0 of extent 4, found 3}}
  %dx, %ds, %db = ff.normalize_backward(%x, %x, %m, %m)
      {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>,
       sample_groups = 3}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
      -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @normalize_backward_mean_of_groups(%x: tensor<4x3xf32>, %m: tensor<3xf32>) {
  // expected-error @+1 {{expected mean of type 'tensor<2x3xf32>', found 'tensor<3xf32>'}}
  %dx, %ds, %db = ff.normalize_backward(%x, %x, %m, %m)
      {axes = array<i64: 0>, epsilon = 0.1 : f64, param_dims = array<i64: 1>,
       sample_groups = 2}
      : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
