//===- TrainTransport.cpp - windows of flows through links ----------------===//

#include "ffc/Network/TrainTransport.h"

#include "PathDraw.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>

using namespace ffc::network;

namespace {

/// How many packets a flow may have under way, by what came back (DCTCP over
/// slow start and congestion avoidance). In packets.
class Window {
public:
  explicit Window(const PacketOptions &options)
      : size(static_cast<double>(options.initialWindow)),
        threshold(static_cast<double>(options.slowStartThreshold)),
        gain(options.gain) {}

  double packets() const { return size; }
  /// Word of a train is back.
  void acknowledge(double packets, bool isMarked);

private:
  double size, threshold, gain;
  double average = 0; ///< share of marked packets
  double seen = 0, marked = 0;
  double round = 0; ///< so many packets are a round trip
};

void Window::acknowledge(double packets, bool isMarked) {
  seen += packets;
  if (isMarked) {
    marked += packets;
    threshold = std::min(threshold, size);
  }
  if (seen >= round) {
    average += gain * (marked / seen - average);
    seen = marked = 0;
    if (average > 0) {
      size = std::max(1.0, size * (1 - average / 2));
      threshold = size;
    }
    round = size;
  }
  if (size < threshold)
    size = std::min(threshold, size + packets);
  else
    size += packets / size;
}

struct Flow {
  Flow(const PacketOptions &options, const std::vector<LinkId> *path,
       int64_t packets)
      : window(options), path(path), packets(packets) {}

  Window window;
  const std::vector<LinkId> *path;
  int64_t packets, sent = 0, acknowledged = 0;
};

/// Packets that go together and have come past the links before `hop`. One
/// without packets asks whether the other side is there.
struct Train {
  Picoseconds head = 0; ///< when its first packet is there
  Picoseconds tail = 0; ///< when its last one is
  int64_t order = 0;    ///< of those of an instant: who came first
  FlowId flow = 0;
  int32_t hop = 0;
  int32_t packets = 0;
  bool marked = false;
  bool operator>(const Train &other) const {
    return std::pair(head, order) > std::pair(other.head, other.order);
  }
};

} // namespace

struct TrainTransport::State {
  State(const Network &network, const PacketOptions &options);

  void sendTrains(FlowId flow, Picoseconds now);
  void push(Train train);
  void pass(Train train);
  void arrive(const Train &train, std::vector<FlowId> &ended);

  const Network &network;
  const PacketOptions options;
  std::vector<double> packetTime;  ///< by link, in picoseconds
  std::vector<Picoseconds> freeAt; ///< by link
  std::vector<Flow> flows;
  std::set<std::vector<LinkId>> paths;
  PathDraw drawn;
  std::priority_queue<Train, std::vector<Train>, std::greater<>> trains;
  int64_t pushed = 0;
};

TrainTransport::State::State(const Network &network,
                             const PacketOptions &options)
    : network(network), options(options), freeAt(network.links.size(), 0),
      drawn(options.seed) {
  for (const Link &link : network.links)
    packetTime.push_back(static_cast<double>(options.packetBytes) * 1e12 /
                         link.bandwidth);
}

void TrainTransport::State::push(Train train) {
  train.order = pushed++;
  trains.push(train);
}

/// As many trains as the window lets go. A train that would be cut short by it
/// waits for more room, unless nothing else is under way.
void TrainTransport::State::sendTrains(FlowId id, Picoseconds now) {
  constexpr double kTrainsOfWindow = 4;
  constexpr int64_t kLongest = 25;
  Flow &flow = flows[id];
  while (flow.sent < flow.packets) {
    const double window = flow.window.packets();
    const int64_t left = flow.packets - flow.sent;
    const int64_t wanted = std::min(
        left, std::clamp<int64_t>(std::llround(window / kTrainsOfWindow), 1,
                                  kLongest));
    const int64_t underWay = flow.sent - flow.acknowledged;
    const auto room = static_cast<int64_t>(window) - underWay;
    if (room < wanted && (underWay > 0 || room < 1))
      return;
    Train train;
    train.head = train.tail = now;
    train.flow = id;
    train.packets = static_cast<int32_t>(std::min(room, wanted));
    flow.sent += train.packets;
    push(train);
  }
}

/// The train's next link. Its head leaves as soon as the link is free, its tail
/// not before it has come.
void TrainTransport::State::pass(Train train) {
  const std::vector<LinkId> &path = *flows[train.flow].path;
  const LinkId id = path[train.hop++];
  const Link &link = network.links[id];
  const Picoseconds packet = std::llround(packetTime[id]);
  const Picoseconds start = std::max(freeAt[id], train.head);
  Picoseconds end = start;
  if (train.packets > 0) {
    end = std::max<Picoseconds>(
        start + std::llround(packetTime[id] * train.packets),
        train.tail + packet);
    const double queue = static_cast<double>(end - train.tail) / packetTime[id];
    if (queue > static_cast<double>(options.markAbove) &&
        (options.serversMark || link.src >= network.numServers))
      train.marked = true;
    freeAt[id] = end;
  }
  train.tail = end + link.latency;
  const bool isLast = static_cast<size_t>(train.hop) == path.size();
  train.head =
      isLast || train.packets == 0 ? train.tail : start + packet + link.latency;
  push(train);
}

/// At its destination, of which the sender knows at once.
void TrainTransport::State::arrive(const Train &train,
                                   std::vector<FlowId> &ended) {
  Flow &flow = flows[train.flow];
  if (train.packets > 0) {
    flow.acknowledged += train.packets;
    flow.window.acknowledge(train.packets, train.marked);
  }
  if (flow.acknowledged == flow.packets)
    ended.push_back(train.flow);
  else
    sendTrains(train.flow, train.tail);
}

TrainTransport::TrainTransport(const Network &network,
                               const PacketOptions &options)
    : state(std::make_unique<State>(network, options)) {}
TrainTransport::~TrainTransport() = default;

FlowId TrainTransport::start(VertexId src, VertexId dst, int64_t bytes,
                             Picoseconds now, const std::vector<LinkId> *by) {
  const int64_t packet = state->options.packetBytes;
  const auto id = static_cast<FlowId>(state->flows.size());
  state->flows.emplace_back(
      state->options,
      by ? &*state->paths.insert(*by).first
         : &state->drawn.from(state->network.paths.at({src, dst})).links,
      (bytes + packet - 1) / packet);
  Train question;
  question.head = question.tail = now;
  question.flow = id;
  state->push(question);
  return id;
}

Picoseconds TrainTransport::nextEvent() {
  return state->trains.empty() ? kNever : state->trains.top().head;
}

void TrainTransport::advance(Picoseconds now, std::vector<FlowId> &ended) {
  while (nextEvent() <= now) {
    const Train train = state->trains.top();
    state->trains.pop();
    const size_t hops = state->flows[train.flow].path->size();
    if (static_cast<size_t>(train.hop) < hops)
      state->pass(train);
    else
      state->arrive(train, ended);
  }
}
