//===- emulated_copies_test.cpp - copies to shared memory, without a GPU --===//
//
// What the emulated device sees of kernels that use
// cuda/kernels/shared_memory.h wrongly, but for races
// (emulated_races_test.cpp).
//
//===----------------------------------------------------------------------===//
#include "cuda/kernels/shared_memory.h"
#include "ffrt/cuda/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

using namespace ffrt;

constexpr int kThreads = 64, kInts = cuda::kAsyncBytes / int(sizeof(int));

enum class Fault { none, no_wait, early, odd_place, never_waits };

/// Each thread copies a part and reads one of another warp; those with numbers
/// from `count` on are zeros. Then the other way round.
__global__ void copy_kernel(const int *from, int *to, int count, Fault fault) {
  alignas(cuda::kAsyncBytes) __shared__ int parts[kThreads + 1][kInts];
  const int i = int(threadIdx.x), other = i ^ 32;
  const auto begin = [&](int part) {
    cuda::copy_async(cuda::shared_address(parts[i]) +
                         (fault == Fault::odd_place ? 4 : 0),
                     from + part * kInts, part < count);
  };
  begin(i);
  if (fault == Fault::never_waits)
    return;
  if (fault != Fault::no_wait)
    cuda::wait_for_copies();
  __syncthreads();
  const int first = parts[other][0];
  if (fault != Fault::early)
    __syncthreads();
  begin(other);
  cuda::wait_for_copies();
  __syncthreads();
  to[2 * i] = first;
  to[2 * i + 1] = parts[other][kInts - 1];
}

constexpr int kDiffers = 3;

/// Ends the process with 0 if all was copied, else with kDiffers.
[[noreturn]] void copy(Fault fault) {
  cuda::device();
  std::vector<int> numbers(kThreads * kInts), found(2 * kThreads);
  std::iota(numbers.begin(), numbers.end(), 1);
  const std::size_t from_bytes = numbers.size() * sizeof(int),
                    to_bytes = found.size() * sizeof(int);
  int *from = nullptr, *to = nullptr;
  cudaMalloc(reinterpret_cast<void **>(&from), from_bytes);
  cudaMalloc(reinterpret_cast<void **>(&to), to_bytes);
  const cudaStream_t stream = cuda::device().stream();
  cudaMemcpyAsync(from, numbers.data(), from_bytes, cudaMemcpyHostToDevice,
                  stream);
  const int count = kThreads - 8;
  cuda::launch(1, kThreads, copy_kernel, from, to, count, fault);
  cudaMemcpyAsync(found.data(), to, to_bytes, cudaMemcpyDeviceToHost, stream);
  cuda::device().finish();
  const auto number = [&](int part, int i) {
    return part < count ? part * kInts + i + 1 : 0;
  };
  for (int i = 0; i < kThreads; ++i)
    if (found[std::size_t(2 * i)] != number(i ^ 32, 0) ||
        found[std::size_t(2 * i + 1)] != number(i, kInts - 1))
      std::exit(kDiffers);
  std::exit(0);
}

class EmulatedCopies : public ::testing::Test {
protected:
  EmulatedCopies() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(EmulatedCopies, BringPartsAndZeros) {
  EXPECT_EXIT(copy(Fault::none), ::testing::ExitedWithCode(0), "");
}

TEST_F(EmulatedCopies, ThatNobodyWaitsForAreNotThere) {
  EXPECT_EXIT(copy(Fault::no_wait), ::testing::ExitedWithCode(kDiffers), "");
}

TEST_F(EmulatedCopies, ToWhatIsStillReadAreSeen) {
  EXPECT_EXIT(copy(Fault::early), ::testing::ExitedWithCode(kDiffers), "");
}

TEST_F(EmulatedCopies, EndTheProcessWhereAGpuWould) {
  EXPECT_DEATH(copy(Fault::odd_place),
               "cp.async: expected places at multiples of 16 bytes");
  EXPECT_DEATH(copy(Fault::never_waits),
               "expected threads to wait for their copies");
}

} // namespace
