//===- OccupancyTransport.cpp - one message after another -----------------===//

#include "ffc/Network/OccupancyTransport.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>

using namespace ffc::network;

namespace {

/// A segment that has reached the end of the links before its `hop`.
struct Arrival {
  Picoseconds time = 0;
  int64_t order = 0; ///< of being sent off
  FlowId flow = 0;
  int32_t hop = 0;
  int64_t bytes = 0;
  const std::vector<LinkId> *path = nullptr;
  bool operator>(const Arrival &other) const {
    return std::pair(time, order) > std::pair(other.time, other.order);
  }
};

} // namespace

struct OccupancyTransport::State {
  State(const Network &network, int64_t segmentBytes)
      : network(network), segmentBytes(segmentBytes),
        freeAt(network.links.size(), 0) {}

  void sendOff(FlowId flow, const std::vector<LinkId> *path, int64_t bytes,
               Picoseconds now);
  void pass(Arrival arrival);

  const Network &network;
  const int64_t segmentBytes;
  std::vector<Picoseconds> freeAt; ///< by link
  std::set<std::vector<LinkId>> paths;
  std::vector<int64_t> segmentsLeft; ///< by flow
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  int64_t sent = 0;
};

/// The next link of an arrival, which is not at its destination.
void OccupancyTransport::State::pass(Arrival arrival) {
  const LinkId id = (*arrival.path)[arrival.hop];
  const Link &link = network.links[id];
  const double bytes = static_cast<double>(arrival.bytes);
  const auto busy = static_cast<Picoseconds>(
      std::ceil(bytes * 1e12 / link.bandwidth - 1.0 / 16));
  freeAt[id] = std::max(freeAt[id], arrival.time) + link.latency + busy;
  arrival.time = freeAt[id];
  ++arrival.hop;
  arrivals.push(arrival);
}

void OccupancyTransport::State::sendOff(FlowId flow,
                                        const std::vector<LinkId> *path,
                                        int64_t bytes, Picoseconds now) {
  Arrival arrival;
  arrival.time = now;
  arrival.order = sent++;
  arrival.flow = flow;
  arrival.bytes = bytes;
  arrival.path = path;
  pass(arrival);
}

OccupancyTransport::OccupancyTransport(const Network &network,
                                       int64_t segmentBytes)
    : state(std::make_unique<State>(network, segmentBytes)) {}
OccupancyTransport::~OccupancyTransport() = default;

FlowId OccupancyTransport::start(VertexId src, VertexId dst, int64_t bytes,
                                 Picoseconds now,
                                 const std::vector<LinkId> *by) {
  const auto flow = static_cast<FlowId>(state->segmentsLeft.size());
  const int64_t size = state->segmentBytes;
  const int64_t count = (bytes + size - 1) / size;
  state->segmentsLeft.push_back(count);
  const std::vector<Path> *paths =
      by ? nullptr : &state->network.paths.at({src, dst});
  // What each path is behind its share.
  std::vector<double> due(paths ? paths->size() : 0, 0);
  for (int64_t s = 0; s < count; ++s) {
    const std::vector<LinkId> *path = by;
    if (paths) {
      for (size_t p = 0; p < due.size(); ++p)
        due[p] += (*paths)[p].share;
      const auto most = std::max_element(due.begin(), due.end());
      *most -= 1;
      path = &(*paths)[static_cast<size_t>(most - due.begin())].links;
    } else if (s == 0) {
      by = path = &*state->paths.insert(*by).first; // outlives the call
    }
    state->sendOff(flow, path, std::min(size, bytes - s * size), now);
  }
  return flow;
}

Picoseconds OccupancyTransport::nextEvent() {
  return state->arrivals.empty() ? kNever : state->arrivals.top().time;
}

void OccupancyTransport::advance(Picoseconds now, std::vector<FlowId> &ended) {
  while (nextEvent() <= now) {
    const Arrival arrival = state->arrivals.top();
    state->arrivals.pop();
    if (static_cast<size_t>(arrival.hop) < arrival.path->size())
      state->pass(arrival);
    else if (--state->segmentsLeft[arrival.flow] == 0)
      ended.push_back(arrival.flow);
  }
}
