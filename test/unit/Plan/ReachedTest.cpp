//===- ReachedTest.cpp - what kernels reach against measured kernels ------===//

#include "ffc/Plan/Reached.h"

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/LocalWork.h"

#include "TestTopology.h"

#include <gtest/gtest.h>

using namespace ffc::plan;
using ffc::plan::testing::errorOf;
using ffc::plan::testing::parse;

namespace {

CostModel one(const std::string &kind, const std::string &kinds = "") {
  return CostModel(parse(kinds + "devices: 1 x " + kind + "\n"));
}

/// Microseconds of a product of bf16 matrices.
double product(const CostModel &cost, double m, double n, double k) {
  return static_cast<double>(
             cost.kernel(0, 2 * m * n * k,
                         static_cast<int64_t>(2 * (m * k + k * n + m * n)),
                         Arithmetic::BF16, 1, "mat_mul")) *
         1e-6;
}

TEST(Reached, LargeProductsAreThreeQuartersOfThePeak) {
  const double size = 8192, operations = 2 * size * size * size;
  for (const char *kind : {"h100", "h200"}) {
    const double rate =
        operations / product(one(kind), size, size, size) * 1e-6;
    EXPECT_GT(rate, 0.75 * 989) << kind;
    EXPECT_LT(rate, 0.8 * 989) << kind;
  }
}

TEST(Reached, SmallerProductsReachLess) {
  // 65 us on an H200 (issue 34350 of sgl-project/sglang).
  EXPECT_NEAR(product(one("h200"), 512, 12288, 3072), 65, 4);
}

TEST(Reached, CopiesAreNineTenthsOfTheBandwidth) {
  // 3.0 and 4.3 TB/s, read and written.
  EXPECT_NEAR(static_cast<double>(one("h100").copy(0, 1'500'000'000)) * 1e-9, 1,
              0.01);
  EXPECT_NEAR(static_cast<double>(one("h200").copy(0, 2'150'000'000)) * 1e-9, 1,
              0.01);
}

TEST(Reached, KindsWithoutAGenerationReachTheirFigures) {
  const CostModel cost =
      one("k", "kinds: {k: {like: h200, generation: none, launch: 0 s}}\n");
  EXPECT_EQ(cost.kernel(0, 989e6, 0, Arithmetic::BF16, 1, "mat_mul"),
            1'000'000);
  EXPECT_EQ(cost.kernel(0, 0, 4'800'000, Arithmetic::F32), 1'000'000);
}

TEST(Reached, KernelsOfAllGenerations) {
  for (const char *kind : {"v100", "a100", "h100", "b200"}) {
    const CostModel cost = one(kind);
    // Convolutions and attention reach less than products.
    const auto time = [&](const char *kernel) {
      return cost.kernel(0, 1e12, 0, Arithmetic::BF16, 1, kernel);
    };
    EXPECT_GT(time("conv_forward"), time("mat_mul")) << kind;
    EXPECT_GT(time("attention_backward"), time("attention_forward")) << kind;
  }
  EXPECT_GT(product(one("a100"), 4096, 4096, 4096),
            product(one("h100"), 4096, 4096, 4096));
  EXPECT_GT(product(one("h100"), 4096, 4096, 4096),
            product(one("b200"), 4096, 4096, 4096));
}

TEST(Reached, GenerationsInFiles) {
  const std::string rest = "\ndevices: 1 x k\n";
  EXPECT_EQ(errorOf("kinds:\n  k: {like: h200, generation: maxwell}" + rest),
            "t.yaml:2: generation of the kind 'k': expected one of: none, "
            "volta, ampere, hopper, blackwell, found 'maxwell'");
  EXPECT_EQ(errorOf("kinds:\n  k: {like: cpu-core, generation: hopper}" + rest),
            "t.yaml:2: the kind 'k': expected the target cuda beside the "
            "generation hopper, found cpu");
  EXPECT_EQ(parse("kinds:\n  k: {like: h200, target: cpu}" + rest)
                .kindOf(0)
                .generation,
            GpuGeneration::None);
  // It says more than its figures, and so it is in the longest form.
  const Topology topology = parse("devices: 1 x a100\n");
  EXPECT_NE(topology.print().find("generation: ampere"), std::string::npos);
  EXPECT_EQ(parse(topology.print()).hash(), topology.hash());
}

} // namespace
