//===- sort.cu - numbers in order of their keys ---------------------------===//
//
// A radix sort from the lowest digit on. Every thread has a run of consecutive
// numbers: it counts their digits, and when it is known where those of a digit
// and a run begin, it moves them there one after the other, so that numbers of
// equal digits keep their order.
//
//===----------------------------------------------------------------------===//
#include "cuda/sort.h"

#include "ffrt/cuda/launch.h"

#include <algorithm>

namespace ffrt::cuda {

namespace {

constexpr int kBits = 4, kDigits = 1 << kBits;
/// More runs make the sum over their counts longer than the runs.
constexpr int64_t kMostRuns = 16384, kLeastRun = 8;
constexpr int kScanThreads = 1024;

/// Numbers in runs of `length`.
struct Runs {
  int64_t n, length, count;
  explicit Runs(int64_t n)
      : n(n), length(std::max(kLeastRun, (n + kMostRuns - 1) / kMostRuns)),
        count((n + length - 1) / length) {}
};

/// One digit of the keys of numbers; those of the first pass are in order.
struct Pass {
  Runs runs;
  const int64_t *keys, *from;
  int shift;

  /// f(number, its digit) for a run, in order.
  template <class F> __device__ void for_run(int64_t run, F f) const {
    const int64_t begin = run * runs.length, end = begin + runs.length;
    for (int64_t i = begin; i < end && i < runs.n; ++i) {
      const int64_t number = from ? from[i] : i;
      f(number, int(keys[number] >> shift) & (kDigits - 1));
    }
  }
};

/// counts[digit][run] = how often the run has the digit.
void count_digits(const Pass &pass, int64_t *counts) {
  for_elements(
      pass.runs.count, FFRT_LAMBDA(int64_t run) {
        int64_t count[kDigits] = {};
        pass.for_run(run, [&](int64_t, int digit) { ++count[digit]; });
        for (int d = 0; d < kDigits; ++d)
          counts[d * pass.runs.count + run] = count[d];
      });
}

/// Moves numbers to where those of their digit and run begin.
void move_numbers(const Pass &pass, const int64_t *begins, int64_t *to) {
  for_elements(
      pass.runs.count, FFRT_LAMBDA(int64_t run) {
        int64_t next[kDigits];
        for (int d = 0; d < kDigits; ++d)
          next[d] = begins[d * pass.runs.count + run];
        pass.for_run(run, [&](int64_t number, int digit) {
          to[next[digit]++] = number;
        });
      });
}

/// One block: every number becomes the sum of those before it.
__global__ void sum_before_kernel(int64_t *values, int64_t n) {
  __shared__ int64_t sums[kScanThreads];
  const int64_t length = (n + kScanThreads - 1) / kScanThreads,
                begin = threadIdx.x * length,
                end = begin + length < n ? begin + length : n;
  int64_t sum = 0;
  for (int64_t i = begin; i < end; ++i)
    sum += values[i];
  sums[threadIdx.x] = sum;
  for (unsigned delta = 1; delta < kScanThreads; delta *= 2) {
    __syncthreads();
    const int64_t other =
        threadIdx.x >= delta ? sums[threadIdx.x - delta] : int64_t(0);
    __syncthreads();
    sums[threadIdx.x] += other;
  }
  int64_t before = sums[threadIdx.x] - sum;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t value = values[i];
    values[i] = before;
    before += value;
  }
}

} // namespace

int64_t sort_scratch(int64_t n) { return 2 * n + kDigits * Runs(n).count; }

const int64_t *sort_by_key(const int64_t *keys, int64_t n, int64_t limit,
                           int64_t *scratch) {
  Pass pass{Runs(n), keys, nullptr, 0};
  int64_t *to = scratch, *spare = scratch + n, *counts = scratch + 2 * n;
  do {
    count_digits(pass, counts);
    launch(1, kScanThreads, sum_before_kernel, counts,
           kDigits * pass.runs.count);
    move_numbers(pass, counts, to);
    pass.from = to;
    pass.shift += kBits;
    std::swap(to, spare);
  } while ((limit - 1) >> pass.shift > 0);
  return pass.from;
}

} // namespace ffrt::cuda
