//===- PacketLink.h - packets on a link -------------------------*- C++ -*-===//
#ifndef FFC_LIB_NETWORK_PACKETLINK_H
#define FFC_LIB_NETWORK_PACKETLINK_H

#include "ffc/Network/Transport.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ffc::network {

struct Packet {
  Picoseconds sentAt = 0;
  Picoseconds arrives = 0; ///< at the end of the link that it is on
  int64_t number = 0;      ///< in its connection
  int32_t connection = 0;
  int32_t hop = 0; ///< where in the table of paths
  bool marked = false;
};

/// Packets that wait for a link or are on it, in order. When one is added, it
/// is known at once when it leaves and arrives, since nothing overtakes.
class PacketLink {
public:
  static constexpr uint32_t kAnyNumber = UINT32_MAX;

  struct Terms {
    Picoseconds packetTime = 0; ///< to send a packet
    Picoseconds askTime = 0;    ///< to send one of a single byte
    Picoseconds latency = 0;
    uint32_t markAbove = kAnyNumber, mostQueued = kAnyNumber; ///< packets
  };

  explicit PacketLink(const Terms &terms) : terms(terms), packets(64) {}

  bool empty() const { return first == last; }
  const Packet &front() const { return packets[first & mask()]; }
  Packet pop() { return packets[first++ & mask()]; }

  /// False: the queue is full and the packet is lost.
  bool push(Packet packet, Picoseconds now) {
    const uint32_t held = last - first;
    if (held >= terms.mostQueued && leaves(last - terms.mostQueued) > now)
      return false;
    // The packet that has `markAbove` others behind it when it leaves.
    if (held >= terms.markAbove && leaves(last - terms.markAbove) >= now)
      packets[(last - terms.markAbove) & mask()].marked = true;
    free = std::max(free, now) +
           (packet.number == 0 ? terms.askTime : terms.packetTime);
    packet.arrives = free + terms.latency;
    if (held == packets.size())
      grow();
    packets[last++ & mask()] = packet;
    return true;
  }

private:
  uint32_t mask() const { return static_cast<uint32_t>(packets.size()) - 1; }
  Picoseconds leaves(uint32_t index) const {
    return packets[index & mask()].arrives - terms.latency;
  }
  void grow() {
    std::vector<Packet> wider(2 * packets.size());
    for (uint32_t i = first; i != last; ++i)
      wider[i & (wider.size() - 1)] = packets[i & mask()];
    packets = std::move(wider);
  }

  Terms terms;
  Picoseconds free = 0;         ///< when all of them have left
  uint32_t first = 0, last = 0; ///< they wrap around, as places in `packets` do
  std::vector<Packet> packets;  ///< a power of two of them, used as a ring
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_PACKETLINK_H
