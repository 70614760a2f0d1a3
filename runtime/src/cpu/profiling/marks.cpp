//===- marks.cpp - points of a step by the host's clock -------------------===//
#include "common/profiling/marks.h"

namespace ffrt {

struct Marks::Impl {
  Clock clock;
  std::size_t next = 0;
  std::vector<int64_t> times;
};

Marks::Marks(Clock clock) : impl(new Impl{clock, 0, {}}) {}
Marks::~Marks() = default;

void Marks::reserve(std::size_t count) { impl->times.reserve(count); }

void Marks::restart(int next) { impl->next = std::size_t(next); }

int Marks::set(double) {
  if (impl->next == impl->times.size())
    impl->times.emplace_back();
  impl->times[impl->next] = impl->clock();
  return int(impl->next++);
}

int Marks::begin() { return set(); }

const std::vector<int64_t> &Marks::times() { return impl->times; }

double Marks::seconds_added() { return 0; }

} // namespace ffrt
