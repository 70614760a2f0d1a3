//===- OccupancyTransport.h - one message after another ---------*- C++ -*-===//
//
// Links as FlexNet's own search sees them (TopoOpt, NSDI'23): a message is cut
// into segments, and each link carries one segment at a time, first come, first
// served. A segment keeps a link busy for the link's latency and its bytes over
// the bandwidth, and only then moves on to the next. Nothing is shared at one
// instant, and messages wait behind whole segments of others.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_OCCUPANCYTRANSPORT_H
#define FFC_NETWORK_OCCUPANCYTRANSPORT_H

#include "ffc/Network/Transport.h"

#include <memory>

namespace ffc::network {

/// Segments of a flow over several paths are dealt out by the paths' shares.
/// Those that reach a link at the same instant pass it in the order in which
/// they were sent off.
class OccupancyTransport final : public Transport {
public:
  /// `network` is whole (faultOf) and outlives this.
  explicit OccupancyTransport(const Network &network,
                              int64_t segmentBytes = int64_t(1) << 20);
  ~OccupancyTransport() override;

  FlowId start(VertexId src, VertexId dst, int64_t bytes, Picoseconds now,
               const std::vector<LinkId> *by) override;
  Picoseconds nextEvent() override;
  void advance(Picoseconds now, std::vector<FlowId> &ended) override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace ffc::network

#endif // FFC_NETWORK_OCCUPANCYTRANSPORT_H
