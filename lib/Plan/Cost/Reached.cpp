//===- Reached.cpp - what kernels reach of a device's figures -------------===//
//
// Most shares follow the first runs of programs on an H100
// (bench/results/gpu-2026-11-26.md): what kernels of each kind took in a step
// of GPT-2 and of ResNet-50 in bf16. Others are published: products of bf16
// reach 0.78 to 0.81 of the peak at 8192 x 8192 x 8192 and 0.60 at 512 x 12288
// x 3072, which a share, what is not hidden and a ramp explain together; copies
// reach 3.0 of 3.35 TB/s on an H100 and 4.3 of 4.8 TB/s on an H200.
//
// That other generations reach as much is assumed. A profile replaces all of
// this.
//
//===----------------------------------------------------------------------===//

#include "ffc/Plan/Reached.h"

using namespace ffc::plan;

/// Of kernels that keep the memory busy and nothing else.
static constexpr double kOfBandwidth = 0.9;
/// Tiles are loaded while others are multiplied, but for the first ones and for
/// the results of the last.
static constexpr double kExposed = 0.5;
static constexpr Picoseconds kRamp = 2'000'000;

namespace {

/// Of kernels whose names begin so.
struct Row {
  std::string_view prefix;
  Reached reached;
};

} // namespace

/// The first that fits counts.
static constexpr Row kRows[] = {
    // With the sums of an operand, for which more kernels start.
    {"mat_mul_sums", {0.65, kOfBandwidth, kExposed, kRamp}},
    {"mat_mul", {0.8, kOfBandwidth, kExposed, kRamp}},
    {"conv_backward_weights", {0.3, kOfBandwidth, kExposed, kRamp}},
    {"conv_", {0.5, kOfBandwidth, kExposed, kRamp}},
    // cuDNN's.
    {"attention_backward", {0.45, kOfBandwidth, kExposed, kRamp}},
    {"attention_", {0.7, kOfBandwidth, kExposed, kRamp}},
    // A step, and the product that it waits for.
    {"recurrent_", {0.8, kOfBandwidth, 0, 4'500'000}},
    // Ours.
    {"normalize_backward", {1, 0.33, 0, kRamp}},
    {"normalize_", {1, 0.5, 0, kRamp}},
    {"cross_entropy", {1, 0.55, 0, kRamp}},
    {"fused", {1, 0.6, 0, kRamp}},
    {"max_pool", {1, 0.3, 0, kRamp}},
    {"", {1, kOfBandwidth, 0, kRamp}},
};

Reached ffc::plan::reachedBy(GpuGeneration generation,
                             std::string_view kernel) {
  if (generation != GpuGeneration::None)
    for (const Row &row : kRows)
      if (kernel.substr(0, row.prefix.size()) == row.prefix)
        return row.reached;
  return {};
}

double ffc::plan::reachedBandwidth(const DeviceKind &kind,
                                   std::string_view kernel) {
  return kind.memoryBandwidth * reachedBy(kind.generation, kernel).bandwidth;
}

double ffc::plan::reachedFlops(const DeviceKind &kind, Arithmetic arithmetic,
                               std::string_view kernel) {
  return kind.flopsPerSecond(arithmetic) *
         reachedBy(kind.generation, kernel).flops;
}
