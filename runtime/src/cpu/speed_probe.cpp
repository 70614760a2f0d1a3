//===- speed_probe.cpp - how fast the machine is just now -----------------===//
#include "cpu/speed_probe.h"

#include "common/statistics.h"
#include "ffrt/parallel.h"

#include <chrono>
#include <omp.h>

namespace ffrt {

namespace {

constexpr std::size_t kCopied = std::size_t(4) << 20; // floats
constexpr int kLanes = 64;
constexpr int64_t kRounds = 400'000;

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Multiplications and additions in as many lanes as hide their latency.
float multiply_and_add(int64_t rounds, float seed) {
  float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i)
    lanes[i] = seed + float(i);
  for (int64_t r = 0; r < rounds; ++r)
    for (int i = 0; i < kLanes; ++i)
      lanes[i] = lanes[i] * 0.999f + 0.001f;
  float sum = 0.0f;
  for (float lane : lanes)
    sum += lane;
  return sum;
}

} // namespace

SpeedProbe::SpeedProbe() : from(kCopied, 1.0f), to(kCopied, 0.0f) {}

Speed SpeedProbe::measure() {
  Speed speed;
  double start = now();
  std::vector<float> sums(static_cast<std::size_t>(omp_get_max_threads()));
  parallel_for(int64_t(sums.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      sums[std::size_t(i)] = multiply_and_add(kRounds, from[std::size_t(i)]);
  });
  double end = now();
  speed.compute = end - start;
  // What was computed is used, or it would not be.
  from[0] = sums[0] > 0.0f ? 1.0f : 2.0f;
  // The first pass leaves the caches as the second one finds them, whatever ran
  // before.
  for (int pass = 0; pass < 2; ++pass) {
    start = now();
    parallel_for(int64_t(kCopied), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[std::size_t(i)] = from[std::size_t(i)];
    });
    end = now();
  }
  speed.memory = end - start;
  return speed;
}

Speed median(const std::vector<Speed> &speeds) {
  std::vector<double> compute, memory;
  for (const Speed &speed : speeds) {
    compute.push_back(speed.compute);
    memory.push_back(speed.memory);
  }
  return {quantile(compute, 0.5), quantile(memory, 0.5)};
}

double slowdown(const Speed &speed, const Speed &reference) {
  return (speed.compute / reference.compute +
          speed.memory / reference.memory) /
         2.0;
}

} // namespace ffrt
