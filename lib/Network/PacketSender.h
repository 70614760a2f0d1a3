//===- PacketSender.h - one end of a connection that sends ------*- C++ -*-===//
//
// DCTCP (Alizadeh et al., "Data Center TCP", SIGCOMM'10) over NewReno
// (RFC 5681, RFC 6582, timers of RFC 6298), as numbers alone: it is told what
// was acknowledged and says what may be sent.
//
// Packets are counted: number 0 asks whether the other side is there, numbers
// from 1 carry data.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_NETWORK_PACKETSENDER_H
#define FFC_LIB_NETWORK_PACKETSENDER_H

#include "ffc/Network/PacketTransport.h"

namespace ffc::network {

/// RFC 6298, 2.5, allows a longest timeout of at least a minute.
constexpr Picoseconds kLongestTimeout = 60'000'000'000'000;

/// What a sender does next: the first packet that was not acknowledged again,
/// then new ones as long as maySend().
struct SenderTurn {
  bool again = false;
  bool more = false;
};

class PacketSender {
public:
  void reset(const PacketOptions &options, int64_t bytes,
             Picoseconds firstTimeout);

  /// The other side says that it has all packets below `below`, in answer to
  /// one that was sent at `sentAt`.
  SenderTurn acknowledge(int64_t below, bool marked, Picoseconds sentAt,
                         Picoseconds now, const PacketOptions &options);
  /// Nothing was heard until timeout(); the first packet that was not
  /// acknowledged is to be sent again.
  void expire(Picoseconds now);

  bool ended() const { return acknowledged == total; }
  bool maySend() const {
    return sent < total &&
           (acknowledged == 0 ? sent == 0 : inFlight() + packet <= window);
  }
  /// The number of the next new packet, which is sent at `now`.
  int64_t send(Picoseconds now) {
    keepTime(now);
    return sent++;
  }
  int64_t sendAgain(Picoseconds now) {
    keepTime(now);
    return acknowledged;
  }
  /// kNever: nothing is under way.
  Picoseconds timeout() const { return deadline; }

private:
  int64_t inFlight() const { return (sent - acknowledged) * packet; }
  void keepTime(Picoseconds now) {
    if (deadline == kNever)
      deadline = now + patience;
  }
  void measure(Picoseconds roundTrip, Picoseconds shortest);
  void countMark(bool marked, double gain);
  void shrinkOnLoss();
  void grow();
  SenderTurn acknowledgeNew(int64_t below, Picoseconds now);
  SenderTurn acknowledgeTwice();

  int64_t packet = 0;                 ///< bytes
  int64_t total = 0;                  ///< packets
  int64_t acknowledged = 0, sent = 0; ///< all below
  int64_t window = 0, threshold = 0;  ///< bytes

  // Marks since the window was last fitted to them.
  int64_t seen = 0, seenMarked = 0;
  int64_t fitAfter = 0; ///< bytes seen
  double markedShare = 0;

  // Losses.
  int32_t duplicates = 0;
  bool recovering = false;
  int64_t recovered = 0; ///< once all below are acknowledged

  Picoseconds smoothed = 0, deviation = 0; ///< of round trips; 0: none yet
  Picoseconds patience = 0, deadline = kNever;
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_PACKETSENDER_H
