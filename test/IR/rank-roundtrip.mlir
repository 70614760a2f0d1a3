// RUN: ffc-opt %s --verify-roundtrip | FileCheck %s

// Two ranks that each hold half of a batch: every operator once.

// CHECK: rank.schedule "direct" "all_gather" members 2 chunks 2 reducing 0 transfers [0, 0, 1, 1, 1, 0]
rank.schedule "direct" "all_gather" members 2 chunks 2 reducing 0 transfers [0, 0, 1, 1, 1, 0]

// CHECK-LABEL: rank.func @class0
// CHECK-SAME: groups = [array<i64: 0, 1>]
// CHECK-SAME: micro_batches = 2
// CHECK-SAME: ranks = array<i64: 0, 1>
rank.func @class0 attributes {
    ranks = array<i64: 0, 1>, world = 2 : i64, groups = [array<i64: 0, 1>],
    state_bytes = #rank.per<[64]>, arena_bytes = #rank.per<[256]>,
    flops = #rank.per<[64]>, micro_batches = 2 : i64} {
  // CHECK: rank.buffer "x" "arena" at <[0], [64]> "row_major"
  // CHECK-SAME: region <[1, 0, 2, 1, 0, 4], [1, 2, 4, 1, 0, 4]> of [4, 4] : <f32>
  %x = rank.buffer "x" "arena" at <[0], [64]> "row_major"
      region <[1, 0, 2, 1, 0, 4], [1, 2, 4, 1, 0, 4]> of [4, 4] : <f32>
  %y = rank.buffer "y" "arena" at <[128]> "channels_last"
      region <[1, 0, 2, 1, 0, 4]> of [2, 4] : <f32>
  %w = rank.buffer "w" "state" at <[0]> "row_major" region <[2, 0, 2, 4, 6]> of [8] : <f64>
  %mean = rank.buffer "mean" "state" at <[32]> "row_major"
      region <[1, 0, 2, 1, 0, 4], [1, 2, 4, 1, 0, 4]> of [4, 4] : <f32>
  %all = rank.buffer "all" "arena" at <[160]> "row_major"
      region <[1, 0, 4, 1, 0, 4]> of [4, 4] : <f32>
  %loss = rank.buffer "loss" "arena" at <[224]> "row_major" region <[]> of [] : <f32>
  // CHECK: %[[none:.*]] = rank.absent : <f32>
  %none = rank.absent : <f32>
  // CHECK: rank.input "x" %{{.*}} : <f32>
  rank.input "x" %x : <f32>
  // CHECK: rank.state "w" "parameter" "constant" 0.000000e+00 at 0 %{{.*}} : <f64>
  rank.state "w" "parameter" "constant" 0.0 at 0 %w : <f64>
  // CHECK: rank.kernel "mat_mul"(%{{.*}}, %{{.*}}, %[[none]]) -> (%{{.*}}) tile <[0, 2], [2, 4]> {alpha = 1.000000e+00 : f64} task <[0, 0, 0, 0], [0, 0, 1, 0]>
  rank.kernel "mat_mul"(%x, %w, %none) -> (%y) tile <[0, 2], [2, 4]> {alpha = 1.0 : f64}
      task <[0, 0, 0, 0], [0, 0, 1, 0]>
      : (!rank.buffer<f32>, !rank.buffer<f64>, !rank.buffer<f32>) -> !rank.buffer<f32>
  // CHECK: rank.copy "sum" %{{.*}} at <[0, 0]> from %{{.*}} at <[0, 0]> size <[2, 4]> task <[0, 0, 0, 1]>
  rank.copy "sum" %y at <[0, 0]> from %x at <[0, 0]> size <[2, 4]> task <[0, 0, 0, 1]> : <f32>, <f32>
  // CHECK: rank.copy "mean"
  rank.copy "mean" %mean at <[0, 0]> from %x at <[0, 0]> size <[2, 4]> task <[0, 0, 0, -3]> : <f32>, <f32>
  // CHECK: rank.micro_batch_end
  rank.micro_batch_end
  // CHECK: %[[swap:.*]] = rank.exchange send(%{{.*}}) to <[1], [0]> receive(%{{.*}}) from <[1], [0]> tag 3 task
  %swap = rank.exchange send(%x) to <[1], [0]> receive(%y) from <[1], [0]> tag 3 task <[1, 0, 0, 0]>
      : (!rank.buffer<f32>) -> !rank.buffer<f32>
  // CHECK: rank.wait %[[swap]]
  rank.wait %swap
  // CHECK: rank.collective "all_gather" "none" %{{.*}} -> %{{.*}} by "one_shot" group <[0]> root 0 task
  %gather = rank.collective "all_gather" "none" %x -> %all by "one_shot" group <[0]> root 0 task <[1, 0, 0, 1]> : <f32>, <f32>
  rank.wait %gather
  // CHECK: rank.collective "all_gather" "none" %{{.*}} -> %{{.*}} by "schedule" number 0 group <[0]> root 0 task
  %again = rank.collective "all_gather" "none" %x -> %all by "schedule" number 0 group <[0]> root 0 task <[1, 0, 0, 1]> : <f32>, <f32>
  rank.wait %again
  // CHECK: rank.collective "all_gather" "none" %{{.*}} group <[0]> root 0 starts 2 task
  %first = rank.collective "all_gather" "none" %x -> %all group <[0]> root 0 starts 2 task <[1, 0, 0, 1]> : <f32>, <f32>
  // CHECK: rank.collective "all_gather" "none" %{{.*}} group <[0]> root 0 starts 0 task
  %with = rank.collective "all_gather" "none" %x -> %all group <[0]> root 0 starts 0 task <[1, 0, 0, 1]> : <f32>, <f32>
  rank.wait %first
  rank.wait %with
  // CHECK: rank.probe "out/y" %{{.*}} : <f32>
  rank.probe "out/y" %all : <f32>
  // CHECK: rank.loss %{{.*}} : <f32>
  rank.loss %loss : <f32>
}
