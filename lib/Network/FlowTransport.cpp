//===- FlowTransport.cpp - a network at the level of flows ----------------===//

#include "ffc/Network/FlowTransport.h"

#include "Earliest.h"
#include "FairShares.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

using namespace ffc::network;

namespace {

/// Of a time that is rounded up: what is less than this beyond a whole
/// picosecond is taken for an error of arithmetic.
constexpr double kRounding = 1.0 / 16;
/// Of shares, what is less than this is an error of arithmetic.
constexpr double kSameShare = 1e-9;

/// Flows that go the same way. All are served alike, so that each ends when
/// what was served to one that is always there reaches a mark.
struct Stream {
  struct Mark {
    double served = 0;
    FlowId flow = 0;
    bool operator>(const Mark &other) const {
      return std::pair(served, flow) > std::pair(other.served, other.flow);
    }
  };
  std::priority_queue<Mark, std::vector<Mark>, std::greater<>> marks;
  double served = 0; ///< bytes, up to `since`
  double rate = 0;   ///< bytes per picosecond
  Picoseconds since = 0;
  bool stale = false; ///< its end is to be computed again
};

} // namespace

struct FlowTransport::State {
  explicit State(const Network &network);

  StreamId streamOf(const std::vector<LinkId> &links);
  StreamId streamOf(VertexId src, VertexId dst, bool isPart);
  StreamId streamOver(const std::map<LinkId, double> &parts);
  FlowId add(StreamId id, int64_t bytes);
  void settle(StreamId id);
  void touch(StreamId id);
  void endFlows(StreamId id, std::vector<FlowId> &ended);
  Picoseconds nextEvent();

  const Network &network;
  FairShares shares;
  std::vector<Stream> streams;
  std::map<std::map<LinkId, double>, StreamId> byParts;
  std::map<std::vector<LinkId>, StreamId> byLinks;
  /// By path of a pair, how many flows it has taken less than its share; of
  /// parts of all-reduces and of others.
  std::map<std::tuple<VertexId, VertexId, bool>, std::vector<double>> pairs;
  FlowId numFlows = 0;
  Earliest ends; ///< by stream, of its next flow
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

StreamId
FlowTransport::State::streamOver(const std::map<LinkId, double> &parts) {
  auto [entry, isNew] = byParts.emplace(parts, 0);
  if (isNew) {
    std::vector<FairShares::Crossed> crossed;
    for (auto [link, part] : parts)
      crossed.push_back({link, part});
    entry->second = shares.addStream(crossed);
    streams.emplace_back();
  }
  return entry->second;
}

StreamId FlowTransport::State::streamOf(const std::vector<LinkId> &links) {
  auto [entry, isNew] = byLinks.emplace(links, 0);
  if (isNew) {
    std::map<LinkId, double> parts;
    for (LinkId link : links)
      ++parts[link];
    entry->second = streamOver(parts);
  }
  return entry->second;
}

/// By the path of the pair that is most behind its share, the first one of
/// these: where shares are equal, each in turn.
StreamId FlowTransport::State::streamOf(VertexId src, VertexId dst,
                                        bool isPart) {
  const std::vector<Path> &paths = network.paths.at({src, dst});
  if (paths.size() == 1)
    return streamOf(paths.front().links);
  std::vector<double> &behind = pairs[{src, dst, isPart}];
  behind.resize(paths.size());
  size_t next = 0;
  for (size_t i = 0; i < paths.size(); ++i) {
    behind[i] += paths[i].share;
    if (behind[i] > behind[next] + kSameShare)
      next = i;
  }
  behind[next] -= 1;
  return streamOf(paths[next].links);
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

FlowId FlowTransport::State::add(StreamId id, int64_t bytes) {
  settle(id);
  Stream &stream = streams[id];
  if (stream.marks.empty())
    stream.served = 0; // so that it stays exact
  stream.marks.push({stream.served + static_cast<double>(bytes), numFlows});
  shares.addFlows(id, 1);
  touch(id);
  return numFlows++;
}

void FlowTransport::State::endFlows(StreamId id, std::vector<FlowId> &ended) {
  settle(id);
  Stream &stream = streams[id];
  const double reached = stream.served + stream.rate * kRounding;
  while (!stream.marks.empty() && stream.marks.top().served <= reached) {
    ended.push_back(stream.marks.top().flow);
    stream.marks.pop();
    shares.addFlows(id, -1);
  }
  ends.set(id, kNever); // until it is computed again
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
    if (stream.marks.empty()) {
      ends.set(id, kNever);
      continue;
    }
    settle(id);
    const double left =
        (stream.marks.top().served - stream.served) / stream.rate;
    const double time = std::ceil(std::max(left - kRounding, 0.0));
    ends.set(id, now + static_cast<Picoseconds>(time));
  }
  stale.clear();
  return ends.time();
}

FlowTransport::FlowTransport(const Network &network)
    : state(std::make_unique<State>(network)) {}
FlowTransport::~FlowTransport() = default;

FlowId FlowTransport::start(VertexId src, VertexId dst, int64_t bytes,
                            Picoseconds now, const std::vector<LinkId> *by) {
  state->now = now;
  return state->add(by ? state->streamOf(*by)
                       : state->streamOf(src, dst, /*isPart=*/false),
                    bytes);
}

FlowId FlowTransport::startPart(VertexId src, VertexId dst, int64_t bytes,
                                Picoseconds now,
                                const std::vector<LinkId> *by) {
  state->now = now;
  return state->add(by ? state->streamOf(*by)
                       : state->streamOf(src, dst, /*isPart=*/true),
                    bytes);
}

Picoseconds FlowTransport::nextEvent() { return state->nextEvent(); }

void FlowTransport::advance(Picoseconds now, std::vector<FlowId> &ended) {
  // Those of an instant end in the order of their numbers.
  const size_t first = ended.size();
  while (state->nextEvent() <= now) {
    state->now = now;
    state->endFlows(static_cast<StreamId>(state->ends.number()), ended);
  }
  state->now = now;
  std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
}
