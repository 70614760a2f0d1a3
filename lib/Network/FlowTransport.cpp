//===- FlowTransport.cpp - a network at the level of flows ----------------===//

#include "ffc/Network/FlowTransport.h"

#include "FairShares.h"

#include <algorithm>
#include <cmath>
#include <queue>

using namespace ffc::network;

namespace {

/// Of a time that is rounded up: what is less than this beyond a whole
/// picosecond is taken for an error of arithmetic.
constexpr double kRounding = 1.0 / 16;

/// The parts of flows that go the same way. All are served alike, so that each
/// ends when what was served to one, per weight, reaches a mark.
struct Stream {
  struct Mark {
    double served = 0;
    FlowId flow = 0;
    bool operator>(const Mark &other) const {
      return std::pair(served, flow) > std::pair(other.served, other.flow);
    }
  };
  std::priority_queue<Mark, std::vector<Mark>, std::greater<>> marks;
  double served = 0; ///< bytes per weight, up to `since`
  double rate = 0;   ///< bytes per picosecond and weight
  Picoseconds since = 0;
  uint32_t version = 0; ///< of its end among the events
  bool stale = false;   ///< its end is to be computed again
};

struct Event {
  Picoseconds time = 0;
  StreamId stream = 0;
  uint32_t version = 0;
  bool operator>(const Event &other) const {
    return std::pair(time, stream) > std::pair(other.time, other.stream);
  }
};

} // namespace

struct FlowTransport::State {
  explicit State(const Network &network);

  StreamId streamOf(const std::vector<LinkId> &links, double share);
  const std::vector<StreamId> &streamsFrom(VertexId src, VertexId dst);
  void add(StreamId id, FlowId flow, double bytes);
  void settle(StreamId id);
  void touch(StreamId id);
  void endParts(StreamId id, std::vector<FlowId> &ended);
  Picoseconds nextEvent();

  const Network &network;
  FairShares shares;
  std::vector<Stream> streams;
  std::map<std::pair<std::vector<LinkId>, double>, StreamId> byLinks;
  std::map<std::pair<VertexId, VertexId>, std::vector<StreamId>> byPair;
  std::vector<int32_t> partsLeft; ///< by flow
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<StreamId> stale;
  Picoseconds now = 0;
};

static std::vector<double> capacitiesOf(const Network &network) {
  std::vector<double> capacities;
  for (const Link &link : network.links)
    capacities.push_back(link.bandwidth / 1e12);
  return capacities;
}

FlowTransport::State::State(const Network &network)
    : network(network), shares(capacitiesOf(network)) {}

StreamId FlowTransport::State::streamOf(const std::vector<LinkId> &links,
                                        double share) {
  auto [entry, isNew] = byLinks.emplace(std::pair(links, share), 0);
  if (isNew) {
    entry->second = shares.addStream(links, share);
    streams.emplace_back();
  }
  return entry->second;
}

const std::vector<StreamId> &FlowTransport::State::streamsFrom(VertexId src,
                                                               VertexId dst) {
  auto [entry, isNew] =
      byPair.emplace(std::pair(src, dst), std::vector<StreamId>());
  if (isNew)
    for (const Path &path : network.paths.at({src, dst}))
      entry->second.push_back(streamOf(path.links, path.share));
  return entry->second;
}

/// Up to now.
void FlowTransport::State::settle(StreamId id) {
  Stream &stream = streams[id];
  stream.served += stream.rate * static_cast<double>(now - stream.since);
  stream.since = now;
}

void FlowTransport::State::touch(StreamId id) {
  if (!streams[id].stale) {
    streams[id].stale = true;
    stale.push_back(id);
  }
}

void FlowTransport::State::add(StreamId id, FlowId flow, double bytes) {
  settle(id);
  Stream &stream = streams[id];
  if (stream.marks.empty())
    stream.served = 0; // so that it stays exact
  stream.marks.push({stream.served + bytes, flow});
  shares.addFlows(id, 1);
  touch(id);
}

void FlowTransport::State::endParts(StreamId id, std::vector<FlowId> &ended) {
  settle(id);
  Stream &stream = streams[id];
  const double reached = stream.served + stream.rate * kRounding;
  while (!stream.marks.empty() && stream.marks.top().served <= reached) {
    const FlowId flow = stream.marks.top().flow;
    stream.marks.pop();
    shares.addFlows(id, -1);
    if (--partsLeft[flow] == 0)
      ended.push_back(flow);
  }
  touch(id);
}

Picoseconds FlowTransport::State::nextEvent() {
  for (StreamId id : shares.update()) {
    settle(id);
    streams[id].rate = shares.rate(id);
    touch(id);
  }
  for (StreamId id : stale) {
    Stream &stream = streams[id];
    stream.stale = false;
    ++stream.version;
    if (stream.marks.empty())
      continue;
    settle(id);
    const double left =
        (stream.marks.top().served - stream.served) / stream.rate;
    const double time = std::ceil(std::max(left - kRounding, 0.0));
    events.push({now + static_cast<Picoseconds>(time), id, stream.version});
  }
  stale.clear();
  while (!events.empty() &&
         events.top().version != streams[events.top().stream].version)
    events.pop();
  return events.empty() ? kNever : events.top().time;
}

FlowTransport::FlowTransport(const Network &network)
    : state(std::make_unique<State>(network)) {}
FlowTransport::~FlowTransport() = default;

FlowId FlowTransport::start(VertexId src, VertexId dst, int64_t bytes,
                            Picoseconds now, const std::vector<LinkId> *by) {
  state->now = now;
  const auto flow = static_cast<FlowId>(state->partsLeft.size());
  const auto size = static_cast<double>(bytes);
  if (by) {
    state->partsLeft.push_back(1);
    state->add(state->streamOf(*by, 1), flow, size);
    return flow;
  }
  const std::vector<StreamId> &parts = state->streamsFrom(src, dst);
  state->partsLeft.push_back(static_cast<int32_t>(parts.size()));
  for (StreamId part : parts)
    state->add(part, flow, size);
  return flow;
}

Picoseconds FlowTransport::nextEvent() { return state->nextEvent(); }

void FlowTransport::advance(Picoseconds now, std::vector<FlowId> &ended) {
  const size_t first = ended.size();
  while (state->nextEvent() <= now) {
    state->now = now;
    const StreamId id = state->events.top().stream;
    state->events.pop();
    ++state->streams[id].version;
    state->endParts(id, ended);
  }
  state->now = now;
  std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
}
