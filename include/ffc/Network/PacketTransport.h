//===- PacketTransport.h - messages as packets through queues ---*- C++ -*-===//
//
// The finest of the models of a network: every packet is sent, queued,
// forwarded and acknowledged. It follows FlexNetPacket, the simulator of
// TopoOpt (Wang et al., NSDI'23), which is a fork of htsim (Raiciu et al.,
// SIGCOMM'11), so that times can be compared with published ones:
//
// - Every link is a queue, first in, first out, whose head leaves at the link's
//   bandwidth and arrives, whole, after the link's latency (store and forward).
// - A message is a connection of DCTCP (Alizadeh et al., SIGCOMM'10) over
//   NewReno (RFC 6582): one byte to ask whether the other side is there, then
//   packets of full size, the last one included. Acknowledgements are one a
//   packet, take no time and are never lost.
// - It takes one of the paths of its pair, drawn by the paths' shares.
//
// docs/network-models.md, "Packet level", says how well the times agree.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_PACKETTRANSPORT_H
#define FFC_NETWORK_PACKETTRANSPORT_H

#include "ffc/Network/Transport.h"

#include <memory>
#include <string>

namespace ffc::network {

struct PacketOptions {
  int32_t packetBytes = 8936; ///< a frame of 9000 bytes without its headers
  /// How many packets a connection has under way at first, and up to how many
  /// it doubles them every round trip unless the network says that it is full.
  int64_t initialWindow = 100, slowStartThreshold = 10000;
  /// A packet that leaves a queue of more packets, itself included, is marked.
  int64_t markAbove = 50;
  /// How many packets a queue of a switch holds; more are lost. 0: any number.
  /// What servers have yet to send is never lost.
  int64_t queuePackets = 0;
  /// Queues of servers mark packets, too.
  bool serversMark = true;
  /// Weight of the newest share of marked packets in its average.
  double gain = 1.0 / 16;
  /// How long a connection waits for the first acknowledgement before it asks
  /// again: what an all-reduce sends over the network's paths, and all others.
  /// Behind a long queue that is too short, and FlexNetPacket's all-reduces
  /// then start with a window of one packet.
  Picoseconds firstTimeoutOfPart = 1'000'000'000, firstTimeout = 10'000'000'000;
  /// How long at least for later ones.
  Picoseconds shortestTimeout = 10'000'000'000;
  /// How often clocks are looked at for that.
  Picoseconds timerPeriod = 1'000'000'000;
  /// Of the drawing of paths.
  uint64_t seed = 1;
};

/// What is wrong with options, in words, or nothing: counts and times are above
/// 0 (queuePackets at least 0) and below 2^31 packets, the gain at most 1.
std::string faultOf(const PacketOptions &options);

/// What happened so far.
struct PacketCounts {
  int64_t hops = 0; ///< arrivals of packets at the ends of links
  int64_t marked = 0, lost = 0;
  int64_t sentAgain = 0; ///< because of duplicates
  int64_t timeouts = 0;  ///< and sent again, as what follows is
};

/// Neither `network` nor `options` has a fault; every pair that sends has a
/// path. The same calls give the same times, to the picosecond.
class PacketTransport final : public Transport {
public:
  /// `network` outlives this.
  PacketTransport(const Network &network, const PacketOptions &options);
  ~PacketTransport() override;

  FlowId start(VertexId src, VertexId dst, int64_t bytes, Picoseconds now,
               const std::vector<LinkId> *by) override;
  FlowId startPart(VertexId src, VertexId dst, int64_t bytes, Picoseconds now,
                   const std::vector<LinkId> *by) override;
  Picoseconds nextEvent() override;
  void advance(Picoseconds now, std::vector<FlowId> &ended) override;

  const PacketCounts &counts() const;

private:
  class Engine;
  std::unique_ptr<Engine> engine;
};

} // namespace ffc::network

#endif // FFC_NETWORK_PACKETTRANSPORT_H
