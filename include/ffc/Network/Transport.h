//===- Transport.h - how long messages take on a network --------*- C++ -*-===//
//
// What the simulation of a task graph (Simulate.h) asks of a model of the
// network: it starts flows, and is told which ended. Models are in
// FlowTransport.h and PacketTransport.h.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TRANSPORT_H
#define FFC_NETWORK_TRANSPORT_H

#include "ffc/Network/Network.h"

#include <limits>
#include <vector>

namespace ffc::network {

using FlowId = int32_t; ///< counted from 0 in the order of start()

constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

class Transport {
public:
  virtual ~Transport() = default;

  /// At `now`, which is not before any time given earlier, `src` begins to send
  /// `bytes` > 0 to `dst`, by the network's paths, or, if `by` is not null, by
  /// that path. Returns the flow's number.
  virtual FlowId start(VertexId src, VertexId dst, int64_t bytes,
                       Picoseconds now, const std::vector<LinkId> *by) = 0;
  /// As start(), of what an all-reduce sends. Models may tell it apart.
  virtual FlowId startPart(VertexId src, VertexId dst, int64_t bytes,
                           Picoseconds now, const std::vector<LinkId> *by) {
    return start(src, dst, bytes, now, by);
  }
  /// Whether the rounds of a ring are one: what goes over a hop in all of them
  /// is one flow, as if each round began with the first bytes of the one
  /// before.
  virtual bool joinsRounds() const { return false; }
  /// When something happens next if nothing else starts; kNever: all flows have
  /// ended.
  virtual Picoseconds nextEvent() = 0;
  /// Lets time pass up to `now`, at most nextEvent(), and appends the flows
  /// that ended, in order, to `ended`.
  virtual void advance(Picoseconds now, std::vector<FlowId> &ended) = 0;
};

} // namespace ffc::network

#endif // FFC_NETWORK_TRANSPORT_H
