//===- FlowTransport.h - a network at the level of flows --------*- C++ -*-===//
//
// Flows share links as water shares pipes: their rates are max-min fair at all
// times, and change when a flow starts or ends. Packets, queues, windows and
// latencies are not there. This is what a transport protocol tends to while
// flows are long; TrainTransport.h knows short ones, too.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_FLOWTRANSPORT_H
#define FFC_NETWORK_FLOWTRANSPORT_H

#include "ffc/Network/Transport.h"

#include <memory>

namespace ffc::network {

/// A flow takes one path. Of several, the flows of a pair take each in turn, as
/// often as its share says; parts of all-reduces have a turn of their own. What
/// a ring sends over a hop is one flow. Times are rounded up to whole
/// picoseconds; equal problems give equal times.
class FlowTransport final : public Transport {
public:
  /// `network` is whole (faultOf) and outlives this.
  explicit FlowTransport(const Network &network);
  ~FlowTransport() override;

  FlowId start(VertexId src, VertexId dst, int64_t bytes, Picoseconds now,
               const std::vector<LinkId> *by) override;
  FlowId startPart(VertexId src, VertexId dst, int64_t bytes, Picoseconds now,
                   const std::vector<LinkId> *by) override;
  bool joinsRounds() const override { return true; }
  Picoseconds nextEvent() override;
  void advance(Picoseconds now, std::vector<FlowId> &ended) override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace ffc::network

#endif // FFC_NETWORK_FLOWTRANSPORT_H
