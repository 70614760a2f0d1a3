//===- timestamps.cpp - points of a step by the host's clock --------------===//
#include "common/profiling/timestamps.h"

namespace ffrt {

struct Timestamps::Impl {
  Clock clock;
  std::size_t next = 0;
  std::vector<int64_t> times;
};

Timestamps::Timestamps(Clock clock) : impl(new Impl{clock, 0, {}}) {}
Timestamps::~Timestamps() = default;

void Timestamps::reserve(std::size_t count) { impl->times.reserve(count); }

void Timestamps::restart(int next) { impl->next = std::size_t(next); }

int Timestamps::record(double) {
  if (impl->next == impl->times.size())
    impl->times.emplace_back();
  impl->times[impl->next] = impl->clock();
  return int(impl->next++);
}

int Timestamps::begin() { return record(); }

const std::vector<int64_t> &Timestamps::times() { return impl->times; }

double Timestamps::seconds_added() { return 0; }

} // namespace ffrt
