//===- PacketTransport.cpp - events of packets ----------------------------===//
//
// The only events are that the first packet on a link arrives at its end, one
// a link, and that clocks are looked at.
//
//===----------------------------------------------------------------------===//

#include "ffc/Network/PacketTransport.h"
#include "Earliest.h"
#include "PacketLink.h"
#include "PacketSender.h"
#include "PathDraw.h"

#include <cassert>
#include <cmath>
#include <map>
#include <utility>

using namespace ffc::network;

namespace {

/// What the other side has.
struct Receiver {
  int64_t below = 0;       ///< all numbers below
  std::vector<bool> above; ///< others, by number; empty: none

  void take(int64_t number) {
    if (number != below) {
      if (number > below) {
        if (above.size() <= static_cast<size_t>(number))
          above.resize(2 * number + 1);
        above[number] = true;
      }
      return;
    }
    do
      ++below;
    while (static_cast<size_t>(below) < above.size() && above[below]);
  }
};

struct Connection {
  PacketSender sender;
  Receiver receiver;
  FlowId flow = 0;
  int32_t firstHop = 0;
  int32_t underWay = 0; ///< packets in the network
};

} // namespace

class PacketTransport::Engine {
public:
  Engine(const Network &network, const PacketOptions &options)
      : options(options), network(network), drawn(options.seed) {
    links.reserve(network.links.size());
    for (const Link &link : network.links)
      links.emplace_back(termsOf(link));
  }

  FlowId start(const std::vector<LinkId> &path, int64_t bytes, Picoseconds now,
               Picoseconds firstTimeout);
  const std::vector<LinkId> &choosePath(VertexId src, VertexId dst);

  Picoseconds nextEvent() const {
    return active == 0 ? arrivals.time() : std::min(arrivals.time(), nextLook);
  }
  void happen(std::vector<FlowId> &ended);

  const PacketOptions options;
  PacketCounts counts;

private:
  PacketLink::Terms termsOf(const Link &link) const;
  int32_t hopsOf(const std::vector<LinkId> &path);
  void arrive(LinkId link, std::vector<FlowId> &ended);
  void look();
  void acknowledge(int32_t index, const Packet &packet, Picoseconds now,
                   std::vector<FlowId> &ended);
  void transmit(int32_t index, int64_t number, Picoseconds now);
  void forward(const Packet &packet, LinkId to, Picoseconds now);
  void sendWindow(int32_t index, Picoseconds now);
  void watch(const PacketSender &sender);
  void release(int32_t index) {
    const Connection &connection = connections[index];
    if (connection.sender.ended() && connection.underWay == 0)
      unused.push_back(index);
  }

  const Network &network;
  PathDraw drawn;
  std::vector<PacketLink> links;
  Earliest arrivals; ///< of the first packet on each link
  /// Paths, one after the other, each with -1 behind it.
  std::vector<LinkId> hops;
  std::map<std::vector<LinkId>, int32_t> hopsOfPath;
  std::vector<Connection> connections;
  std::vector<int32_t> unused; ///< connections to be used again
  FlowId started = 0;
  int32_t active = 0;
  /// When clocks are looked at: nobody's timeout is before.
  Picoseconds nextLook = kNever;
};

PacketLink::Terms PacketTransport::Engine::termsOf(const Link &link) const {
  const bool ofServer = link.src < network.numServers;
  auto timeOf = [&](double bytes) {
    return static_cast<Picoseconds>(
        std::llround(bytes * 1e12 / link.bandwidth));
  };
  PacketLink::Terms terms;
  terms.packetTime = timeOf(options.packetBytes);
  terms.askTime = timeOf(1);
  terms.latency = link.latency;
  if (!ofServer || options.serversMark)
    terms.markAbove = static_cast<uint32_t>(options.markAbove);
  if (!ofServer && options.queuePackets > 0)
    terms.mostQueued = static_cast<uint32_t>(options.queuePackets);
  return terms;
}

int32_t PacketTransport::Engine::hopsOf(const std::vector<LinkId> &path) {
  const auto [at, isNew] =
      hopsOfPath.emplace(path, static_cast<int32_t>(hops.size()));
  if (isNew) {
    hops.insert(hops.end(), path.begin(), path.end());
    hops.push_back(-1);
  }
  return at->second;
}

const std::vector<LinkId> &PacketTransport::Engine::choosePath(VertexId src,
                                                               VertexId dst) {
  const auto at = network.paths.find({src, dst});
  assert(at != network.paths.end() && "no path");
  return drawn.from(at->second).links;
}

FlowId PacketTransport::Engine::start(const std::vector<LinkId> &path,
                                      int64_t bytes, Picoseconds now,
                                      Picoseconds firstTimeout) {
  if (unused.empty()) {
    unused.push_back(static_cast<int32_t>(connections.size()));
    connections.emplace_back();
  }
  const int32_t index = unused.back();
  unused.pop_back();
  Connection &connection = connections[index];
  connection.sender.reset(options, bytes, firstTimeout);
  connection.receiver = Receiver();
  connection.flow = started++;
  connection.firstHop = hopsOf(path);
  if (active++ == 0)
    nextLook = kNever; // It was for those that have ended.
  sendWindow(index, now);
  return connection.flow;
}

void PacketTransport::Engine::forward(const Packet &packet, LinkId to,
                                      Picoseconds now) {
  PacketLink &link = links[to];
  const bool wasEmpty = link.empty();
  if (!link.push(packet, now)) {
    ++counts.lost;
    --connections[packet.connection].underWay;
    release(packet.connection);
  } else if (wasEmpty) {
    arrivals.set(to, link.front().arrives);
  }
}

void PacketTransport::Engine::transmit(int32_t index, int64_t number,
                                       Picoseconds now) {
  Connection &connection = connections[index];
  ++connection.underWay;
  Packet packet;
  packet.sentAt = now;
  packet.connection = index;
  packet.number = number;
  packet.hop = connection.firstHop;
  forward(packet, hops[packet.hop], now);
}

void PacketTransport::Engine::sendWindow(int32_t index, Picoseconds now) {
  PacketSender &sender = connections[index].sender;
  while (sender.maySend())
    transmit(index, sender.send(now), now);
  watch(sender);
}

void PacketTransport::Engine::acknowledge(int32_t index, const Packet &packet,
                                          Picoseconds now,
                                          std::vector<FlowId> &ended) {
  Connection &connection = connections[index];
  --connection.underWay;
  counts.marked += packet.marked;
  PacketSender &sender = connection.sender;
  if (!sender.ended()) {
    connection.receiver.take(packet.number);
    const SenderTurn turn = sender.acknowledge(
        connection.receiver.below, packet.marked, packet.sentAt, now, options);
    if (sender.ended()) {
      --active;
      ended.push_back(connection.flow);
    } else {
      if (turn.again) {
        ++counts.sentAgain;
        transmit(index, sender.sendAgain(now), now);
      }
      if (turn.more)
        sendWindow(index, now);
    }
  }
  release(index);
}

void PacketTransport::Engine::arrive(LinkId from, std::vector<FlowId> &ended) {
  ++counts.hops;
  PacketLink &link = links[from];
  Packet packet = link.pop();
  const Picoseconds now = packet.arrives;
  arrivals.set(from, link.empty() ? kNever : link.front().arrives);
  const LinkId to = hops[++packet.hop];
  if (to >= 0)
    forward(packet, to, now);
  else
    acknowledge(packet.connection, packet, now, ended);
}

void PacketTransport::Engine::watch(const PacketSender &sender) {
  const Picoseconds timeout = sender.timeout();
  if (timeout < nextLook - options.timerPeriod)
    nextLook = (timeout / options.timerPeriod + 1) * options.timerPeriod;
}

void PacketTransport::Engine::look() {
  const Picoseconds now = std::exchange(nextLook, kNever);
  for (size_t i = 0; i < connections.size(); ++i) {
    PacketSender &sender = connections[i].sender;
    if (sender.ended())
      continue;
    if (sender.timeout() < now) {
      ++counts.timeouts;
      sender.expire(now);
      transmit(static_cast<int32_t>(i), sender.sendAgain(now), now);
    }
    watch(sender);
  }
}

void PacketTransport::Engine::happen(std::vector<FlowId> &ended) {
  if (arrivals.time() <= nextLook)
    arrive(static_cast<LinkId>(arrivals.number()), ended);
  else
    look();
}

PacketTransport::PacketTransport(const Network &network,
                                 const PacketOptions &options)
    : engine(std::make_unique<Engine>(network, options)) {
  assert(faultOf(network).empty() && faultOf(options).empty());
}

PacketTransport::~PacketTransport() = default;

FlowId PacketTransport::start(VertexId src, VertexId dst, int64_t bytes,
                              Picoseconds now, const std::vector<LinkId> *by) {
  return engine->start(by ? *by : engine->choosePath(src, dst), bytes, now,
                       engine->options.firstTimeout);
}

FlowId PacketTransport::startPart(VertexId src, VertexId dst, int64_t bytes,
                                  Picoseconds now,
                                  const std::vector<LinkId> *by) {
  if (by)
    return start(src, dst, bytes, now, by);
  return engine->start(engine->choosePath(src, dst), bytes, now,
                       engine->options.firstTimeoutOfPart);
}

Picoseconds PacketTransport::nextEvent() { return engine->nextEvent(); }

void PacketTransport::advance(Picoseconds now, std::vector<FlowId> &ended) {
  while (engine->nextEvent() <= now)
    engine->happen(ended);
}

const PacketCounts &PacketTransport::counts() const { return engine->counts; }

std::string ffc::network::faultOf(const PacketOptions &options) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  std::string fault;
  auto expect = [&](const char *what, int64_t value, int64_t least,
                    int64_t most) {
    if (fault.empty() && (value < least || value > most))
      fault = "expected " + std::string(what) + " of " + std::to_string(least) +
              " to " + std::to_string(most) + ", found " +
              std::to_string(value);
  };
  expect("packets of bytes", options.packetBytes, 1, kMost);
  expect("an initial window in packets", options.initialWindow, 1, kMost);
  expect("a slow-start threshold in packets", options.slowStartThreshold, 1,
         kMost);
  expect("a number of packets above which they are marked", options.markAbove,
         1, kMost);
  expect("a length of queues in packets", options.queuePackets, 0, kMost);
  for (Picoseconds time : {options.firstTimeoutOfPart, options.firstTimeout,
                           options.shortestTimeout, options.timerPeriod})
    expect("a timeout or period in picoseconds", time, 1, kLongestTimeout);
  if (fault.empty() && !(options.gain > 0 && options.gain <= 1))
    fault = "expected a gain above 0 and at most 1, found " +
            std::to_string(options.gain);
  return fault;
}
