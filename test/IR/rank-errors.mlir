// RUN: ffc-opt %s --split-input-file --verify-diagnostics

// Titles are the numbers of the constraints in RankOps.td.

// rank.func 1: no ranks
// expected-error @below {{expected 'ranks' of at least one rank}}
rank.func @class0 attributes {
    ranks = array<i64>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
}

// -----

// rank.func 1: order
// expected-error @below {{expected ascending ranks in 'ranks', found 0 after 1}}
rank.func @class0 attributes {
    ranks = array<i64: 1, 0>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
}

// -----

// rank.func 1: world
// expected-error @below {{expected ranks from 0 to below 2 in 'ranks', found 2}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 2>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
}

// -----

// rank.func 2: order of a group
// expected-error @below {{expected ascending ranks in a group, found 0 after 0}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 0>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
}

// -----

// rank.func 2: not a group
// expected-error @below {{expected an array of integers in 'groups', found 3 : i64}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [3],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
}

// -----

// rank.func 3: length of a row
// expected-error @below {{expected rows of 1 integers in 'flops', found 2}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0, 1]>} {
}

// -----

// rank.func 3: negative
// expected-error @below {{expected 'state_bytes' of at least 0, found -4}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[-4]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
}

// -----

// rank.func 0: number of rows
// expected-error @below {{expected 1 or 2 rows in 'arena_bytes', found 3}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[1], [2], [3]>,
    flops = #rank.per<[0]>} {
}

// -----

// rank.func 4
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-note @below {{first used here}}
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{name 'x' is not unique}}
  %y = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.func 5: micro-batches
// expected-error @below {{expected 'micro_batches' of at least 1, found 0}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>, micro_batches = 0 : i64} {
}

// -----

// rank.func 5: no end
// expected-error @below {{expected one 'rank.micro_batch_end' in a step of 2 micro-batches, found 0}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>, micro_batches = 2 : i64} {
}

// -----

// rank.func 5: an end of nothing
// expected-error @below {{expected no 'rank.micro_batch_end' in a step of 1 micro-batches, found 1}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  rank.micro_batch_end
}

// -----

// An operator outside a function
// expected-error @below {{expects parent op 'rank.func'}}
%none = rank.absent : <f32>

// -----

// Element types
// expected-error @below {{expected an element type f32, f64, bf16, f16, i32, i64, ui8 or i1, found 'i16'}}
func.func private @f(!rank.buffer<i16>)

// -----

// A #rank.per without rows
// expected-error @below {{expected at least one row of integers}}
module attributes {per = #rank.per<>} {
}

// -----

// rank.buffer 0
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected 1 or 2 rows in 'offset', found 3}}
  %x = rank.buffer "x" "arena" at <[0], [4], [8]> "row_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.buffer 1: section
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected 'section' "state" or "arena", found "heap"}}
  %x = rank.buffer "x" "heap" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.buffer 1: order
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected 'order' "row_major", "channels_last" or "pitched", found "column_major"}}
  %x = rank.buffer "x" "arena" at <[0]> "column_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.buffer 2: missing dimension
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected a region of 2 dimensions on rank 0, found [1, 0, 4]}}
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4, 4] : <f32>
}

// -----

// rank.buffer 2: adjacent intervals
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected a region of 1 dimensions on rank 1, found [2, 0, 2, 2, 4]}}
  %x = rank.buffer "x" "arena" at <[0]> "row_major"
      region <[1, 0, 4], [2, 0, 2, 2, 4]> of [4] : <f32>
}

// -----

// rank.buffer 2: outside
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected a region inside [0:4] on rank 1, found [2:6]}}
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4], [1, 2, 6]> of [4] : <f32>
}

// -----

// rank.buffer 3: alignment
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected an offset of at least 0 and a multiple of the element size 4 on rank 0, found 2}}
  %x = rank.buffer "x" "arena" at <[2]> "row_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.buffer 3: negative
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{multiple of the element size 4 on rank 1, found -4}}
  %x = rank.buffer "x" "arena" at <[0], [-4]> "row_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.buffer 3: end
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected an end within the 64 bytes of the arena on rank 1, found 68}}
  %x = rank.buffer "x" "arena" at <[48], [52]> "row_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.buffer 3: end of the state
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  // expected-error @below {{expected an end within the 16 bytes of the state on rank 0, found 20}}
  %x = rank.buffer "x" "state" at <[4]> "row_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.input: absent
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %none = rank.absent : <f32>
  // expected-error @below {{expected a buffer, found an absent one}}
  rank.input "x" %none : <f32>
}

// -----

// rank.probe: absent
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %none = rank.absent : <f32>
  // expected-error @below {{expected a buffer, found an absent one}}
  rank.probe "x" %none : <f32>
}

// -----

// rank.state 1
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %w = rank.buffer "w" "state" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'kind' "parameter", "slot", "statistic", "constant", "copy" or "average", found "weight"}}
  rank.state "w" "weight" "constant" 0.0 at 0 %w : <f32>
}

// -----

// rank.state 1
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %w = rank.buffer "w" "state" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'of' of copies and averages, and of nothing else}}
  rank.state "w" "copy" "constant" 0.0 at 0 %w : <f32>
}

// -----

// rank.state 3
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %w = rank.buffer "w" "state" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'init' "file", "constant", "uniform", "normal", "positions", "upper" or "lower", found "zeros"}}
  rank.state "w" "slot" "zeros" 0.0 at 0 %w : <f32>
}

// -----

// rank.state 2
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %w = rank.buffer "w" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a buffer of the state section, found 'w' in the arena}}
  rank.state "w" "slot" "constant" 0.0 at 0 %w : <f32>
}

// -----

// rank.loss 1
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %loss = rank.buffer "loss" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a buffer of 1 element on rank 0, found 4}}
  rank.loss %loss : <f32>
}

// -----

// rank.kernel 1
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected rows of 4 integers in 'task', found 3}}
  rank.kernel "k"(%x) -> () tile <[0, 4]> {} task <[0, 0, 0]> : (!rank.buffer<f32>) -> ()
}

// -----

// rank.kernel 2: odd
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected pairs lo <= hi in 'tile', found [0, 4, 1]}}
  rank.kernel "k"(%x) -> () tile <[0, 4, 1]> {} task <[0, 0, 0, 0]> : (!rank.buffer<f32>) -> ()
}

// -----

// rank.kernel 2: order
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected pairs lo <= hi in 'tile', found [4, 0]}}
  rank.kernel "k"(%x) -> () tile <[0, 4], [4, 0]> {} task <[0, 0, 0, 0]> : (!rank.buffer<f32>) -> ()
}

// -----

// rank.copy 1
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'combine' "none", "sum", "max" or "mean", found "product"}}
  rank.copy "product" %y at <[0]> from %x at <[0]> size <[4]> task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.copy 4
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a mean in the state section, found 'y' in section 'arena'}}
  rank.copy "mean" %y at <[0]> from %x at <[0]> size <[4]> task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.copy 2: type
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <i32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected the element type and rank of 'x' in 'y'}}
  rank.copy "none" %y at <[0]> from %x at <[0]> size <[4]> task <[0, 0, 0, 0]> : <f32>, <i32>
}

// -----

// rank.copy 2: absent
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.absent : <f32>
  // expected-error @below {{expected a buffer, found an absent one}}
  rank.copy "none" %y at <[0]> from %x at <[0]> size <[4]> task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.copy 3: target
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a box inside the [4] elements of 'y' on rank 1, found size [4] at [1]}}
  rank.copy "none" %y at <[0], [1]> from %x at <[0]> size <[4]> task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.copy 3: source
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4], [1, 0, 2]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a box inside the [2] elements of 'x' on rank 1, found size [4] at [0]}}
  rank.copy "none" %y at <[0]> from %x at <[0]> size <[4]> task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.exchange 1
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected rows of 1 integers in 'send_peers', found 2}}
  %e = rank.exchange send(%x) to <[1, 1], [0, 0]> receive(%y) from <[1], [0]> tag 0
      task <[0, 0, 0, 0]> : (!rank.buffer<f32>) -> !rank.buffer<f32>
}

// -----

// rank.exchange 2: itself
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected peers of rank 1 among the other 1 ranks in 'receive_peers', found 1}}
  %e = rank.exchange send(%x) to <[1], [0]> receive(%y) from <[1], [1]> tag 0
      task <[0, 0, 0, 0]> : (!rank.buffer<f32>) -> !rank.buffer<f32>
}

// -----

// rank.exchange 2: outside
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected peers of rank 0 among the other 1 ranks in 'send_peers', found 2}}
  %e = rank.exchange send(%x) to <[2], [0]> receive(%y) from <[1], [0]> tag 0
      task <[0, 0, 0, 0]> : (!rank.buffer<f32>) -> !rank.buffer<f32>
}

// -----

// rank.exchange 3
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.absent : <f32>
  %y = rank.buffer "y" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a buffer, found an absent one}}
  %e = rank.exchange send(%x) to <[1], [0]> receive(%y) from <[1], [0]> tag 0
      task <[0, 0, 0, 0]> : (!rank.buffer<f32>) -> !rank.buffer<f32>
}

// -----

// rank.collective 1: kind
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'kind' "all_reduce", "all_gather", "reduce_scatter" or "broadcast", found "scan"}}
  %e = rank.collective "scan" "sum" %x -> %x group <[0]> root 0 task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 1: reduction missing
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'reduce' "sum" or "max", found "none"}}
  %e = rank.collective "all_reduce" "none" %x -> %x group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 1: reduction given
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'reduce' "none", found "sum"}}
  %e = rank.collective "broadcast" "sum" %x -> %x group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 7: no such algorithm
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'algorithm' "library", "one_shot", "two_shot" or "schedule", found "ring"}}
  %e = rank.collective "all_reduce" "sum" %x -> %x by "ring" group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 7: of another kind
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 'algorithm' "library" or "one_shot", found "two_shot"}}
  %e = rank.collective "broadcast" "none" %x -> %x by "two_shot" group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 8: no number
rank.schedule "direct" "all_reduce" members 2 chunks 1 reducing 1 transfers [0, 1, 0, 0, 0, 1]
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a schedule's number for "schedule" alone, found algorithm "schedule" without one}}
  %e = rank.collective "all_reduce" "sum" %x -> %x by "schedule" group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 8: a number all the same
rank.schedule "direct" "all_reduce" members 2 chunks 1 reducing 1 transfers [0, 1, 0, 0, 0, 1]
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a schedule's number for "schedule" alone, found algorithm "library" with one}}
  %e = rank.collective "all_reduce" "sum" %x -> %x number 0 group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 8: no such schedule
rank.schedule "direct" "all_reduce" members 2 chunks 1 reducing 1 transfers [0, 1, 0, 0, 0, 1]
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected one of 1 schedules, found 1}}
  %e = rank.collective "all_reduce" "sum" %x -> %x by "schedule" number 1 group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 8: of another kind
rank.schedule "direct" "all_gather" members 2 chunks 2 reducing 0 transfers [0, 0, 1, 1, 1, 0]
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a schedule of all_reduce, found one of all_gather}}
  %e = rank.collective "all_reduce" "sum" %x -> %x by "schedule" number 0 group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 8: of more members
rank.schedule "direct" "all_reduce" members 3 chunks 1 reducing 2 transfers [0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 2]
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a schedule of 2 members, found one of 3}}
  %e = rank.collective "all_reduce" "sum" %x -> %x by "schedule" number 0 group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 9: none before it
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a collective that starts at least 1, found 0}}
  %e0 = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0 starts 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 9: one starts by itself
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %e0 = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0 starts 3
      task <[0, 0, 0, 0]> : <f32>, <f32>
  %e1 = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0 starts 0
      task <[0, 0, 0, 1]> : <f32>, <f32>
  // expected-error @below {{expected 1 more collectives that start with one before, found another operator}}
  %e2 = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0
      task <[0, 0, 0, 2]> : <f32>, <f32>
}

// -----

// rank.collective 9: something else between
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %e0 = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0 starts 2
      task <[0, 0, 0, 0]> : <f32>, <f32>
  // expected-error @below {{expected 1 more collectives that start with one before, found another operator}}
  rank.wait %e0
  %e1 = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0 starts 0
      task <[0, 0, 0, 1]> : <f32>, <f32>
}

// -----

// rank.collective 9: another reduction
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %e0 = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0 starts 2
      task <[0, 0, 0, 0]> : <f32>, <f32>
  // expected-error @below {{expected a collective like the one that it starts with, found another}}
  %e1 = rank.collective "all_reduce" "max" %x -> %x group <[0]> root 0 starts 0
      task <[0, 0, 0, 1]> : <f32>, <f32>
}

// -----

// rank.collective 9: too few
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected 1 more collectives, found the end}}
  %e0 = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0 starts 2
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.schedule 1
// expected-error @below {{expected 'kind' "all_reduce", "all_gather" or "reduce_scatter", found "scan"}}
rank.schedule "direct" "scan" members 2 chunks 1 reducing 1 transfers [0, 1, 0, 0, 0, 1]

// -----

// rank.schedule 2
// expected-error @below {{expected transfers of three numbers each, found 5 numbers}}
rank.schedule "direct" "all_reduce" members 2 chunks 1 reducing 1 transfers [0, 1, 0, 0, 0]

// -----

// rank.schedule 3
// expected-error @below {{'direct': expected chunk 0 whole at member 1, found it is not}}
rank.schedule "direct" "all_reduce" members 2 chunks 1 reducing 1 transfers [0, 1, 0]

// -----

// rank.collective 2: no such group
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected one of 1 groups, found 1}}
  %e = rank.collective "all_reduce" "sum" %x -> %x group <[1]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 2: not a member
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected rank 0 in group 0 [1]}}
  %e = rank.collective "all_reduce" "sum" %x -> %x group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 3
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a root below 2, found 2}}
  %e = rank.collective "broadcast" "none" %x -> %x group <[0]> root 2
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 4
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <i32>
  // expected-error @below {{expected the element type of 'x' in 'y'}}
  %e = rank.collective "all_gather" "none" %x -> %y group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <i32>
}

// -----

// rank.collective 5
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected all_reduce in place, found 'x' and 'y'}}
  %e = rank.collective "all_reduce" "sum" %x -> %y group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 6: gather
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected a whole of 2 parts of 4 elements on rank 0, found 4}}
  %e = rank.collective "all_gather" "none" %x -> %y group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.collective 6: scatter
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  %y = rank.buffer "y" "arena" at <[16]> "row_major" region <[1, 0, 1]> of [4] : <f32>
  // expected-error @below {{expected a whole of 2 parts of 1 elements on rank 0, found 4}}
  %e = rank.collective "reduce_scatter" "sum" %x -> %y group <[0]> root 0
      task <[0, 0, 0, 0]> : <f32>, <f32>
}

// -----

// rank.func 6
// expected-error @below {{expected 'symmetric_arena' from 0 to the 64 bytes of a rank, found 128}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[256], [64]>,
    flops = #rank.per<[0]>, symmetric_arena = 128 : i64} {
}

// -----

// rank.func 6: negative
// expected-error @below {{expected 'symmetric_state' from 0 to the 16 bytes of a rank, found -1}}
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>, symmetric_state = -1 : i64} {
}

// -----

// rank.buffer 4
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[16]>, arena_bytes = #rank.per<[64]>,
    flops = #rank.per<[0]>, symmetric_arena = 32 : i64} {
  %x = rank.buffer "x" "arena" at <[0], [48]> "row_major" region <[1, 0, 4]> of [4] : <f32>
  // expected-error @below {{expected to lie before or behind byte 32, where the symmetric part of the arena ends, on rank 1, found bytes 24 to 40}}
  %y = rank.buffer "y" "arena" at <[16], [24]> "row_major" region <[1, 0, 4]> of [4] : <f32>
}

// -----

// rank.func 7
// expected-error@+1 {{expected a block without arguments, found 1}}
rank.func @class0 attributes {ranks = array<i64: 0>, world = 1 : i64, groups = [],
    state_bytes = #rank.per<[0]>, arena_bytes = #rank.per<[0]>, flops = #rank.per<[0]>} {
^bb0(%e: !rank.event):
  rank.wait %e
}
