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

/// A flow over several paths uses all of them at once, by their shares, and is
/// as fast as the slowest of them lets it be. Times are rounded up to whole
/// picoseconds; equal problems give equal times.
class FlowTransport final : public Transport {
public:
  /// `network` is whole (faultOf) and outlives this.
  explicit FlowTransport(const Network &network);
  ~FlowTransport() override;

  FlowId start(VertexId src, VertexId dst, int64_t bytes, Picoseconds now,
               const std::vector<LinkId> *by) override;
  Picoseconds nextEvent() override;
  void advance(Picoseconds now, std::vector<FlowId> &ended) override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace ffc::network

#endif // FFC_NETWORK_FLOWTRANSPORT_H
