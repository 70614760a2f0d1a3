//===- marks.cu - points of a step by the GPU's clock ---------------------===//
//
// The GPU notes when it comes to a mark and goes on: the host does not wait,
// and tasks of a replay follow each other as they do without marks, but for
// what a mark adds. That is measured once, between short kernels, and taken
// off.
//
//===----------------------------------------------------------------------===//
#include "common/profiling/marks.h"

#include "common/device/replay.h"
#include "cuda/profiling/stamp.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/trace.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

using cuda::device;
using cuda::Stamp;

namespace {

/// Takes about two microseconds, in which the next kernel is made ready.
__global__ void short_kernel(float *to) {
  constexpr int kSteps = 1000;
  float x = *to;
  for (int i = 0; i < kSteps; ++i)
    x = x * 0.5f + 1;
  *to = x;
}

/// Seconds of replayed kernels, each with a mark behind it or without.
double seconds_of_kernels(int count, bool marked) {
  constexpr int kRounds = 10;
  std::vector<Stamp> stamps(std::size_t(count) + 1);
  Replay replay;
  double least = 0;
  for (int round = 0; round < kRounds; ++round) {
    replay.run(Context(), [&] {
      stamps.front().set();
      for (int i = 1; i <= count; ++i) {
        cuda::launch(1, 1, short_kernel, device().scratch<float>());
        if (marked || i == count)
          stamps[std::size_t(i)].set();
      }
    });
    device().finish();
    const double seconds = stamps.back().seconds_since(stamps.front());
    // The first rounds start them one by one, and load the graph.
    if (round == 2 || (round > 2 && seconds < least))
      least = seconds;
  }
  return least;
}

} // namespace

struct Marks::Impl final : cuda::Deferred {
  /// A mark, at a stamp or between that and the one before.
  struct Point {
    std::size_t stamp;
    double weight; ///< of what lies between the point before and this
    double share;  ///< of the time up to the stamp
  };
  const double added = Marks::seconds_added();
  std::vector<Stamp> stamps;
  std::vector<Point> points;
  std::vector<int64_t> times;
  std::size_t next_stamp = 0, next = 0; ///< point
  int64_t first_time = 0;               ///< of the first stamp, on the host

  ~Impl() { device().forget(*this); }

  /// What lies before the last points has been started: the next stamp is
  /// theirs.
  void start() override {
    std::size_t first = next;
    double sum = 0, passed = 0;
    for (; first > 0 && points[first - 1].stamp == next_stamp; --first)
      sum += points[first - 1].weight;
    for (std::size_t i = first; i < next; ++i) {
      passed += points[i].weight;
      points[i].share = sum > 0 ? passed / sum : 1;
    }
    if (next_stamp == stamps.size())
      stamps.emplace_back();
    stamps[next_stamp++].set();
  }

  /// From one stamp to the next.
  double seconds_to(std::size_t stamp) const {
    const Stamp &end = stamps[stamp];
    return std::max(0.0, end.seconds_since(stamps[stamp - 1]) -
                             (end.is_replayed() ? added : 0));
  }
};

double Marks::seconds_added() {
  constexpr int kKernels = 200;
  static const double seconds =
      std::max(0.0, (seconds_of_kernels(kKernels, true) -
                     seconds_of_kernels(kKernels, false)) /
                        (kKernels - 1));
  return seconds;
}

Marks::Marks(Clock) : impl(std::make_unique<Impl>()) {}
Marks::~Marks() = default;

void Marks::reserve(std::size_t count) {
  impl->points.reserve(count);
  impl->times.reserve(count);
  impl->stamps.reserve(count);
  while (impl->stamps.size() < count)
    impl->stamps.emplace_back();
}

void Marks::restart(int number) {
  device().start_deferred();
  impl->next = std::size_t(number);
  impl->next_stamp = number == 0 ? 0 : impl->points[impl->next - 1].stamp + 1;
}

int Marks::set(double weight) {
  if (impl->next == 0)
    impl->first_time = Trace::now();
  if (impl->next == impl->points.size())
    impl->points.emplace_back();
  impl->points[impl->next++] = {impl->next_stamp, weight, 1};
  if (device().has_deferred())
    device().after_deferred(*impl);
  else
    impl->start();
  return int(impl->next) - 1;
}

int Marks::begin() { return impl->next == 0 ? set() : int(impl->next) - 1; }

const std::vector<int64_t> &Marks::times() {
  device().finish();
  impl->times.clear();
  double before = 0, after = 0; // at the stamps around a point
  std::size_t stamp = 0;
  for (const Impl::Point &point : impl->points) {
    for (; stamp < point.stamp; ++stamp) {
      before = after;
      after += impl->seconds_to(stamp + 1);
    }
    const double seconds = before + point.share * (after - before);
    impl->times.push_back(impl->first_time + std::llround(seconds * 1e9));
  }
  return impl->times;
}

} // namespace ffrt
