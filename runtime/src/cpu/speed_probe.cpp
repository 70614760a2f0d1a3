//===- speed_probe.cpp - how fast the machine is just now -----------------===//
#include "cpu/speed_probe.h"

#include "common/statistics.h"
#include "ffrt/parallel.h"

#include <chrono>
#include <dnnl.h>

namespace ffrt {

namespace {

constexpr std::size_t kCopied = std::size_t(4) << 20; // floats
/// A product whose right side does not fit into the innermost caches, as most
/// in steps.
constexpr dnnl_dim_t kRows = 64, kColumns = 1024, kDepth = 1024;
constexpr int kProducts = 2;

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

} // namespace

SpeedProbe::SpeedProbe() : from(kCopied, 1.0f), to(kCopied, 0.0f) {}

Speed SpeedProbe::measure() {
  static_assert(kRows * kDepth + kDepth * kColumns <= dnnl_dim_t(kCopied) &&
                kRows * kColumns <= dnnl_dim_t(kCopied));
  Speed speed;
  auto multiply = [&] {
    dnnl_sgemm('N', 'N', kRows, kColumns, kDepth, 1.0f, from.data(), kDepth,
               from.data() + kRows * kDepth, kColumns, 0.0f, to.data(),
               kColumns);
  };
  multiply();
  double start = now();
  for (int i = 0; i < kProducts; ++i)
    multiply();
  double end = now();
  speed.compute = end - start;
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

Speed steady_speed(SpeedProbe &probe, Comm &comm) {
  constexpr int kCalls = 21;
  std::vector<Speed> speeds;
  for (int i = 0; i < kCalls; ++i) {
    comm.barrier();
    speeds.push_back(probe.measure());
  }
  return median(speeds);
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
  return (speed.compute / reference.compute + speed.memory / reference.memory) /
         2.0;
}

} // namespace ffrt
