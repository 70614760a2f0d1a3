//===- timestamps.cu - points of a step by the GPU's clock ----------------===//
//
// The GPU records the time and goes on: the host does not wait, and tasks of a
// replay follow each other as they do without timestamps, but for what one
// adds. That is measured once, between short kernels, and taken off.
//
//===----------------------------------------------------------------------===//
#include "common/profiling/timestamps.h"

#include "common/device/replay.h"
#include "cuda/profiling/timed_event.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/trace.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

using cuda::device;
using cuda::TimedEvent;

namespace {

/// Takes about two microseconds, in which the next kernel is made ready.
__global__ void short_kernel(float *to) {
  constexpr int kSteps = 1000;
  float x = *to;
  for (int i = 0; i < kSteps; ++i)
    x = x * 0.5f + 1;
  *to = x;
}

/// Seconds of replayed kernels, each with a timestamp behind it or without.
double seconds_of_kernels(int count, bool timed) {
  constexpr int kRounds = 10;
  std::vector<TimedEvent> events(std::size_t(count) + 1);
  Replay replay;
  double least = 0;
  for (int round = 0; round < kRounds; ++round) {
    replay.run(Context(), [&] {
      events.front().record();
      for (int i = 1; i <= count; ++i) {
        cuda::launch(1, 1, short_kernel, device().scratch<float>());
        if (timed || i == count)
          events[std::size_t(i)].record();
      }
    });
    device().finish();
    const double seconds = events.back().seconds_since(events.front());
    // The first rounds start them one by one, and load the graph.
    if (round == 2 || (round > 2 && seconds < least))
      least = seconds;
  }
  return least;
}

} // namespace

struct Timestamps::Impl final : cuda::Deferred {
  /// A timestamp, at an event or between that and the one before.
  struct Point {
    std::size_t event;
    double weight; ///< of what lies between the point before and this
    double share;  ///< of the time up to the event
  };
  const double added = Timestamps::seconds_added();
  std::vector<TimedEvent> events;
  std::vector<Point> points;
  std::vector<int64_t> times;
  std::size_t next_event = 0, next = 0; ///< point
  int64_t first_time = 0;               ///< of the first event, on the host

  ~Impl() { device().forget(*this); }

  /// What lies before the last points has been started: the next event is
  /// theirs.
  void start() override {
    std::size_t first = next;
    double sum = 0, so_far = 0;
    for (; first > 0 && points[first - 1].event == next_event; --first)
      sum += points[first - 1].weight;
    for (std::size_t i = first; i < next; ++i) {
      so_far += points[i].weight;
      points[i].share = sum > 0 ? so_far / sum : 1;
    }
    if (next_event == events.size())
      events.emplace_back();
    events[next_event++].record();
  }

  /// From one event to the next.
  double seconds_to(std::size_t event) const {
    const TimedEvent &end = events[event];
    return std::max(0.0, end.seconds_since(events[event - 1]) -
                             (end.is_replayed() ? added : 0));
  }
};

double Timestamps::seconds_added() {
  constexpr int kKernels = 200;
  static const double seconds =
      std::max(0.0, (seconds_of_kernels(kKernels, true) -
                     seconds_of_kernels(kKernels, false)) /
                        (kKernels - 1));
  return seconds;
}

Timestamps::Timestamps(Clock) : impl(std::make_unique<Impl>()) {}
Timestamps::~Timestamps() = default;

void Timestamps::reserve(std::size_t count) {
  impl->points.reserve(count);
  impl->times.reserve(count);
  impl->events.reserve(count);
  while (impl->events.size() < count)
    impl->events.emplace_back();
}

void Timestamps::restart(int number) {
  device().start_deferred();
  impl->next = std::size_t(number);
  impl->next_event = number == 0 ? 0 : impl->points[impl->next - 1].event + 1;
}

int Timestamps::record(double weight) {
  if (impl->next == 0)
    impl->first_time = Trace::now();
  if (impl->next == impl->points.size())
    impl->points.emplace_back();
  impl->points[impl->next++] = {impl->next_event, weight, 1};
  if (device().has_deferred())
    device().after_deferred(*impl);
  else
    impl->start();
  return int(impl->next) - 1;
}

int Timestamps::begin() {
  return impl->next == 0 ? record() : int(impl->next) - 1;
}

const std::vector<int64_t> &Timestamps::times() {
  device().finish();
  impl->times.clear();
  double before = 0, after = 0; // at the events around a point
  std::size_t event = 0;
  for (const Impl::Point &point : impl->points) {
    for (; event < point.event; ++event) {
      before = after;
      after += impl->seconds_to(event + 1);
    }
    const double seconds = before + point.share * (after - before);
    impl->times.push_back(impl->first_time + std::llround(seconds * 1e9));
  }
  return impl->times;
}

} // namespace ffrt
