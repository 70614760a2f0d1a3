//===- measure.h - what programs that measure a GPU share -------*- C++ -*-===//
//
// Every program prints a line of JSON for each thing that it has measured.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_BENCH_GPU_MEASURE_H
#define FFC_BENCH_GPU_MEASURE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

/// Ends the program unless a call of a library has succeeded, which is 0 in all
/// of them.
#define CHECK(call)                                                            \
  do {                                                                         \
    const int status_ = int(call);                                             \
    if (status_ != 0) {                                                        \
      std::fprintf(stderr, "error: %s: status %d\n", #call, status_);          \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

/// What was measured is there even if the program does not end.
inline const int kLineByLine = std::setvbuf(stdout, nullptr, _IOLBF, 0);

/// Memory of the device, filled with numbers that are random and small in all
/// types: products of equal numbers take less power, and less time.
class Buffer {
public:
  explicit Buffer(std::size_t bytes) {
    CHECK(cudaMalloc(&memory, bytes));
    std::vector<uint16_t> words(std::min(bytes, std::size_t(16) << 20) / 2);
    uint32_t state = 1;
    for (uint16_t &word : words) {
      state = state * 1664525 + 1013904223;
      word = uint16_t(0x3800 | (state >> 16 & 0x87ff));
    }
    for (std::size_t at = 0; at < bytes; at += words.size() * 2)
      CHECK(cudaMemcpy(static_cast<char *>(memory) + at, words.data(),
                       std::min(words.size() * 2, bytes - at),
                       cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(memory); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  template <class T> T *as() const { return static_cast<T *>(memory); }

private:
  void *memory = nullptr;
};

struct Times {
  double median, least; ///< milliseconds
};

/// Of a piece of work that is started on the default stream, after a warm-up:
/// rounds of several, so that starting it does not count.
template <class F> Times measure(F &&work) {
  constexpr int kRounds = 11;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  auto round = [&](int repeats) {
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < repeats; ++i)
      work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    return double(milliseconds) / repeats;
  };
  round(3);
  // A round takes 2 ms at least.
  const int repeats = int(std::clamp(2.0 / round(3), 1.0, 1000.0));
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i)
    times.push_back(round(repeats));
  std::sort(times.begin(), times.end());
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return {times[kRounds / 2], times[0]};
}

#endif // FFC_BENCH_GPU_MEASURE_H
