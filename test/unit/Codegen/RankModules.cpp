//===- RankModules.cpp - small programs in the `rank` dialect -------------===//

#include "RankModules.h"

using namespace ffc;

const char *const codegen::kLinearOnTwoRanks = R"(
rank.func @class0 attributes {ranks = array<i64: 0, 1>, world = 2 : i64,
    groups = [array<i64: 0, 1>], state_bytes = #rank.per<[128]>,
    arena_bytes = #rank.per<[704]>, flops = #rank.per<[400]>} {
  %absent = rank.absent : <f32>
  %w = rank.buffer "fc.weight" "state" at <[0]> "row_major"
      region <[1, 0, 4, 1, 0, 3]> of [4, 3] : <f32>
  %v = rank.buffer "fc.weight/momentum" "state" at <[64]> "row_major"
      region <[1, 0, 4, 1, 0, 3]> of [4, 3] : <f32>
  %x = rank.buffer "x" "arena" at <[0]> "row_major"
      region <[1, 0, 4, 1, 0, 4], [1, 4, 8, 1, 0, 4]> of [8, 4] : <f32>
  %y = rank.buffer "/fc/Gemm.y" "arena" at <[128]> "row_major"
      region <[1, 0, 4, 1, 0, 3], [1, 4, 8, 1, 0, 3]> of [8, 3] : <f32>
  %t = rank.buffer "target" "arena" at <[256]> "row_major"
      region <[1, 0, 4, 1, 0, 3], [1, 4, 8, 1, 0, 3]> of [8, 3] : <f32>
  %l = rank.buffer "loss" "arena" at <[384]> "row_major"
      region <[]> of [] : <f32>
  %dy = rank.buffer "/fc/Gemm.y.grad" "arena" at <[448]> "row_major"
      region <[1, 0, 4, 1, 0, 3], [1, 4, 8, 1, 0, 3]> of [8, 3] : <f32>
  %dw = rank.buffer "fc.weight.grad" "arena" at <[576]> "row_major"
      region <[1, 0, 4, 1, 0, 3]> of [4, 3] : <f32>
  rank.input "x" %x : !rank.buffer<f32>
  rank.input "target" %t : !rank.buffer<f32>
  rank.state "fc.weight" "parameter" "uniform" 0.5 at 0 %w : !rank.buffer<f32>
  rank.state "fc.weight/momentum" "slot" "constant" 0.0 at 0 %v : !rank.buffer<f32>
  rank.kernel "mat_mul"(%x, %w, %absent, %absent) -> (%y)
      tile <[0, 4, 0, 3, 0, 4], [4, 8, 0, 3, 0, 4]>
      {alpha = 1.0 : f64, beta = 1.0 : f64, clamp = array<f64>, trans_a = 0 : i64, trans_b = 0 : i64}
      task <[0, 0, 0, 0], [0, 0, 1, 0]>
      : (!rank.buffer<f32>, !rank.buffer<f32>, !rank.buffer<f32>, !rank.buffer<f32>) -> !rank.buffer<f32> loc("/fc/Gemm")
  rank.probe "out/y" %y : !rank.buffer<f32>
  rank.kernel "mse_forward"(%y, %t) -> (%l)
      tile <[0, 4, 0, 3], [4, 8, 0, 3]> {} task <[1, 0, 0, 0], [1, 0, 1, 0]>
      : (!rank.buffer<f32>, !rank.buffer<f32>) -> !rank.buffer<f32> loc("loss")
  %e0 = rank.collective "all_reduce" "sum" %l -> %l group <[0]> root 0
      task <[1, 0, 0, 1]> : !rank.buffer<f32>, !rank.buffer<f32> loc("loss")
  rank.wait %e0 loc("loss")
  rank.kernel "mse_backward"(%y, %t) -> (%dy)
      tile <[0, 4, 0, 3], [4, 8, 0, 3]> {} task <[2, 0, 0, 0], [2, 0, 1, 0]>
      : (!rank.buffer<f32>, !rank.buffer<f32>) -> !rank.buffer<f32> loc("loss.grad")
  rank.kernel "mat_mul"(%x, %dy, %absent, %absent) -> (%dw)
      tile <[0, 4, 0, 3, 0, 4], [0, 4, 0, 3, 4, 8]>
      {alpha = 1.0 : f64, beta = 1.0 : f64, clamp = array<f64>, trans_a = 1 : i64, trans_b = 0 : i64}
      task <[3, 0, 0, 0], [3, 0, 1, 0]>
      : (!rank.buffer<f32>, !rank.buffer<f32>, !rank.buffer<f32>, !rank.buffer<f32>) -> !rank.buffer<f32> loc("/fc/Gemm.grad_b")
  %e1 = rank.collective "all_reduce" "sum" %dw -> %dw group <[0]> root 0
      task <[4, 0, 0, 1]> : !rank.buffer<f32>, !rank.buffer<f32> loc("fc.weight.update")
  rank.wait %e1 loc("fc.weight.update")
  rank.probe "grad/fc.weight" %dw : !rank.buffer<f32>
  rank.kernel "sgd_update"(%w, %dw, %v) -> (%w, %v) tile <[0, 4, 0, 3]>
      {momentum = 0.9 : f64, nesterov = 0 : i64} task <[4, 0, 0, 0], [4, 0, 1, 0]>
      : (!rank.buffer<f32>, !rank.buffer<f32>, !rank.buffer<f32>)
      -> (!rank.buffer<f32>, !rank.buffer<f32>) loc("fc.weight.update")
  rank.loss %l : !rank.buffer<f32>
}
)";

codegen::ProgramMeta codegen::linearMeta() {
  ProgramMeta meta;
  meta.model = "linear";
  meta.modelHash = "0123456789abcdef";
  meta.batch = 8;
  meta.predictedStepSeconds = 0.0125;
  plan::TensorType x{{8, 4}}, y{{8, 3}}, w{{4, 3}};
  meta.inputs = {{"x", x, false, 0}, {"target", y, true, 0}};
  meta.outputs = {{"out/y", y}, {"grad/fc.weight", w}, {"loss", {{}}}};
  std::string split = "{n = 2} on 0 1";
  meta.ops["/fc/Gemm"] = {
      "", Direction::Forward, "linear", "8x4, 4x3 -> 8x3", split, 192};
  meta.ops["/fc/Gemm.grad_b"] = {
      "/fc/Gemm", Direction::Backward, "linear", "8x4, 8x3 -> 4x3", split, 192};
  meta.ops["fc.weight.update"] = {"/fc/Gemm", Direction::Update, "sgd_update",
                                  "", "{replica = 2} on 0 1"};
  meta.ops["loss"] = {"", Direction::Forward, "mse", "8x3, 8x3 -> ()", split,
                      48};
  meta.ops["loss.grad"] = {
      "loss", Direction::Backward, "mse", "8x3, 8x3 -> 8x3", split, 48};
  return meta;
}

const char *const codegen::kTwoClasses = R"(
rank.func @sender attributes {ranks = array<i64: 0>, world = 3 : i64,
    groups = [array<i64: 0, 1>, array<i64: 0, 2>],
    state_bytes = #rank.per<[0]>,
    arena_bytes = #rank.per<[64]>, flops = #rank.per<[0]>} {
  %x = rank.buffer "x" "arena" at <[0]> "row_major"
      region <[1, 0, 2, 1, 0, 2]> of [2, 6] : <i64>
  rank.input "x" %x : !rank.buffer<i64>
  %e = rank.exchange send(%x, %x) to <[1, 2]> receive() from <[]> tag 7
      task <[0, 0, 0, 0]> statement 0 : (!rank.buffer<i64>, !rank.buffer<i64>) -> () loc("first")
  rank.wait %e statement 2 loc("second")
}
rank.func @receiver attributes {ranks = array<i64: 1, 2>, world = 3 : i64,
    groups = [array<i64: 0, 1>, array<i64: 0, 2>],
    state_bytes = #rank.per<[0]>,
    arena_bytes = #rank.per<[256], [320]>, flops = #rank.per<[0]>} {
  %x = rank.buffer "float" "arena" at <[64], [128]> "row_major"
      region <[1, 0, 2, 1, 0, 2]> of [2, 6] : <i64>
  %p = rank.buffer "packed" "arena" at <[0]> "channels_last"
      region <[1, 0, 2, 2, 0, 1, 4, 5], [1, 0, 2, 2, 1, 2, 5, 6]>
      of [2, 6] : <i64>
  %none = rank.buffer "none" "arena" at <[0]> "row_major"
      region <[0, 0]> of [2, 6] : <i64>
  %e = rank.exchange send() to <[]> receive(%x) from <[0]> tag 7
      task <[0, 0, 0, 0]> statement 0 : () -> !rank.buffer<i64> loc("first")
  rank.wait %e statement 0 loc("first")
  rank.copy "none" %p at <[0, 0], [0, 1]> from %x at <[0, 0]> size <[2, 1]>
      task <[0, 0, 0, 0]> statement 0 : !rank.buffer<i64>, !rank.buffer<i64> loc("first")
  rank.copy "sum" %x at <[0, 0]> from %p at <[0, 0]> size <[2, 2]>
      task <[0, 0, 0, 0]> statement 0 : !rank.buffer<i64>, !rank.buffer<i64> loc("first")
  %b = rank.collective "broadcast" "none" %x -> %x group <[0], [1]> root 1
      task <[1, 0, 0, 0]> statement 1 : !rank.buffer<i64>, !rank.buffer<i64> loc("first")
  rank.wait %b statement 3 loc("second")
  rank.kernel "concat"(%p, %none) -> (%x) tile <[]> {axis = 1 : i64}
      task <[1, 0, 0, 0]> statement 4 : (!rank.buffer<i64>, !rank.buffer<i64>) -> !rank.buffer<i64> loc("second")
}
)";
