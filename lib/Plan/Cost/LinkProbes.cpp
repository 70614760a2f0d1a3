//===- LinkProbes.cpp - messages that show slow links ---------------------===//
#include "ffc/Plan/LinkProbes.h"

#include <algorithm>

using namespace ffc::plan;

namespace {

/// All distances for up to so many devices.
constexpr int kAllDistances = 8;
constexpr int64_t kLeastBytes = int64_t(64) << 10;
constexpr int64_t kMostBytes = int64_t(32) << 20;
constexpr Picoseconds kLong = 100'000'000, kTooLong = 1'000'000'000;

std::vector<Picoseconds> timesOf(const CostModel &costs, int devices,
                                 int distance, int64_t bytes) {
  std::vector<CostModel::Transfer> messages;
  for (int device = 0; device < devices; ++device)
    if ((device ^ distance) < devices)
      messages.push_back({device, device ^ distance, bytes});
  std::vector<Picoseconds> busy(devices);
  for (auto [device, time] : costs.exchange(messages))
    busy[device] = time;
  std::vector<Picoseconds> times;
  for (int device = 0; device < devices; ++device)
    if (const int other = device ^ distance; device < other && other < devices)
      times.push_back(std::max(busy[device], busy[other]));
  return times;
}

} // namespace

std::vector<LinkProbe> ffc::plan::linkProbes(const CostModel &costs,
                                             int devices) {
  std::vector<LinkProbe> probes;
  auto next = [&](int distance) {
    return devices <= kAllDistances ? distance + 1 : 2 * distance;
  };
  int end = 1; // above what the numbers of two devices differ by
  while (end < devices)
    end *= 2;
  for (int distance = 1; distance < end; distance = next(distance)) {
    LinkProbe probe{distance, kLeastBytes / 2, {}};
    do {
      probe.bytes *= 2;
      probe.times = timesOf(costs, devices, distance, probe.bytes);
    } while (
        !probe.times.empty() && probe.bytes < kMostBytes &&
        *std::min_element(probe.times.begin(), probe.times.end()) < kLong &&
        *std::max_element(probe.times.begin(), probe.times.end()) < kTooLong);
    if (!probe.times.empty())
      probes.push_back(std::move(probe));
  }
  return probes;
}
