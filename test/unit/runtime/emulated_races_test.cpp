//===- emulated_races_test.cpp - what ThreadSanitizer sees of kernels -----===//
//
// In the preset races only (emulated_races.h).
//
//===----------------------------------------------------------------------===//
#ifdef FFRT_EMULATED_RACES

#include "ffrt/cuda/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using namespace ffrt;

constexpr int kThreads = 64;

enum class By { nothing, exchange, warp, block };

/// Every thread reads what its neighbour wrote.
__global__ void neighbours_kernel(int *of, int *sums, By by) {
  const unsigned i = threadIdx.x;
  of[i] = int(i);
  if (by == By::exchange)
    __shfl_xor_sync(~0u, int(i), 1);
  if (by == By::warp)
    __syncwarp();
  if (by == By::block)
    __syncthreads();
  sums[i] = of[i ^ 1];
}

/// The same of another warp.
__global__ void warps_kernel(int *of, int *sums, By by) {
  const unsigned i = threadIdx.x;
  of[i] = int(i);
  if (by == By::warp)
    __syncwarp();
  if (by == By::block)
    __syncthreads();
  sums[i] = of[i ^ 32];
}

__global__ void count_kernel(int *count, int *read, bool reads) {
  atomicAdd(count, 1);
  if (reads)
    read[threadIdx.x] = *count;
}

struct Memory {
  int *a = nullptr, *b = nullptr;
  Memory() {
    cuda::device();
    cudaMalloc(reinterpret_cast<void **>(&a), kThreads * sizeof(int));
    cudaMalloc(reinterpret_cast<void **>(&b), kThreads * sizeof(int));
  }
};

/// How a process ends that runs that kernel.
#define EXPECT_RACE(kernel, last, found)                                       \
  EXPECT_EXIT(                                                                 \
      {                                                                        \
        Memory memory;                                                         \
        cuda::launch(1, kThreads, kernel, memory.a, memory.b, last);           \
        cuda::device().finish();                                               \
        std::exit(0);                                                          \
      },                                                                       \
      ::testing::ExitedWithCode(found ? 66 : 0), found ? "data race" : "")

class EmulatedRaces : public ::testing::Test {
protected:
  EmulatedRaces() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(EmulatedRaces, ThreadsOfAWarp) {
  EXPECT_RACE(neighbours_kernel, By::nothing, true);
  EXPECT_RACE(neighbours_kernel, By::exchange, true);
  EXPECT_RACE(neighbours_kernel, By::warp, false);
  EXPECT_RACE(neighbours_kernel, By::block, false);
}

TEST_F(EmulatedRaces, WarpsOfABlock) {
  EXPECT_RACE(warps_kernel, By::nothing, true);
  EXPECT_RACE(warps_kernel, By::warp, true);
  EXPECT_RACE(warps_kernel, By::block, false);
}

TEST_F(EmulatedRaces, AtomicsOrderNothingElse) {
  EXPECT_RACE(count_kernel, false, false);
  EXPECT_RACE(count_kernel, true, true);
}

} // namespace

#endif // FFRT_EMULATED_RACES
