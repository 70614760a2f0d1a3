//===- TrainTransport.h - windows of flows through links --------*- C++ -*-===//
//
// The level of flows with latency, and right for short flows, too. A flow does
// not have its fair share at once: it begins with a window of packets that it
// has under way, doubles it every round trip until links are full, and then
// yields to marks (DCTCP). Links serve who came first, so that a flow's rate is
// the part of the queue that is its own. Flows of a window or less never share
// fairly: they stand in queues as they came.
//
// What makes it coarser, and faster, than the level of packets
// (PacketTransport.h) is that a quarter of a window, at most 25 packets, goes
// as one train: a train passes a link in one event, head first, the next link
// taking it up when its first packet is there. It is marked if its last packet
// finds a long queue before itself. Nothing is lost, and no clock runs out.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TRAINTRANSPORT_H
#define FFC_NETWORK_TRAINTRANSPORT_H

#include "ffc/Network/PacketTransport.h"

namespace ffc::network {

class TrainTransport final : public Transport {
public:
  /// `network` is whole (faultOf) and outlives this. A flow takes one of its
  /// pair's paths, drawn by their shares. Of `options` counts what is about
  /// packets, windows, marks and drawing; queues are endless, and what is about
  /// timeouts has no meaning.
  TrainTransport(const Network &network, const PacketOptions &options);
  ~TrainTransport() override;

  FlowId start(VertexId src, VertexId dst, int64_t bytes, Picoseconds now,
               const std::vector<LinkId> *by) override;
  Picoseconds nextEvent() override;
  void advance(Picoseconds now, std::vector<FlowId> &ended) override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace ffc::network

#endif // FFC_NETWORK_TRAINTRANSPORT_H
