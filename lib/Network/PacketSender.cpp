//===- PacketSender.cpp - windows of a connection -------------------------===//

#include "PacketSender.h"

#include <algorithm>
#include <cstdlib>

using namespace ffc::network;

void PacketSender::reset(const PacketOptions &options, int64_t bytes,
                         Picoseconds firstTimeout) {
  *this = PacketSender();
  packet = options.packetBytes;
  // The byte of packet 0 is the message's first.
  const int64_t others = std::max(bytes, packet) - 1;
  total = 1 + others / packet + (others % packet == 0 ? 0 : 1);
  window = options.initialWindow * packet;
  threshold = options.slowStartThreshold * packet;
  fitAfter = 2 * packet;
  patience = firstTimeout;
}

/// RFC 6298, 2.2 and 2.3.
void PacketSender::measure(Picoseconds roundTrip, Picoseconds shortest) {
  if (smoothed == 0) {
    smoothed = roundTrip;
    deviation = roundTrip / 2;
  } else {
    deviation = 3 * deviation / 4 + std::abs(roundTrip - smoothed) / 4;
    smoothed = 7 * smoothed / 8 + roundTrip / 8;
  }
  patience = std::max(smoothed + 4 * deviation, shortest);
}

/// DCTCP: once a window, the window shrinks by half of the average share of
/// marked packets. The first mark ends slow start.
void PacketSender::countMark(bool marked, double gain) {
  ++seen;
  if (marked) {
    ++seenMarked;
    threshold = std::min(threshold, window);
  }
  if (seen * packet < fitAfter)
    return;
  markedShare +=
      gain * (static_cast<double>(seenMarked) / static_cast<double>(seen) -
              markedShare);
  seen = seenMarked = 0;
  if (markedShare > 0) {
    window = std::max(static_cast<int64_t>(static_cast<double>(window) *
                                           (1 - markedShare / 2)),
                      packet);
    threshold = window;
  }
  fitAfter = window;
}

void PacketSender::shrinkOnLoss() {
  seen = seenMarked = 0;
  fitAfter = window;
  threshold = std::max(window / 2, 2 * packet);
}

/// RFC 5681, 3.1; a sender that does not use its window does not widen it.
void PacketSender::grow() {
  const int64_t room = std::min(window - inFlight(), packet);
  if (room < 0)
    return;
  if (window < threshold)
    window += std::min(threshold - window, room);
  else
    window += room * packet / window;
}

SenderTurn PacketSender::acknowledgeNew(int64_t below, Picoseconds now) {
  deadline = now + patience;
  if (below >= sent) {
    sent = below; // What was given up for lost was not.
    deadline = kNever;
  }
  const int64_t news = (below - acknowledged) * packet;
  acknowledged = below;
  if (!recovering) {
    duplicates = 0;
    grow();
    return {false, true};
  }
  if (below >= recovered) {
    window = std::min(threshold, inFlight() + packet);
    duplicates = 0;
    recovering = false;
    return {false, true};
  }
  // More than one packet was lost.
  window = std::max<int64_t>(window - news, 0) + packet;
  return {true, true};
}

SenderTurn PacketSender::acknowledgeTwice() {
  if (recovering) {
    window += packet;
    return {false, true};
  }
  if (++duplicates != 3)
    return {false, true};
  if (acknowledged < recovered) // RFC 6582, 4: these are of the last loss.
    return {false, false};
  shrinkOnLoss();
  window = threshold + 3 * packet;
  recovering = true;
  recovered = sent;
  return {true, false};
}

SenderTurn PacketSender::acknowledge(int64_t below, bool marked,
                                     Picoseconds sentAt, Picoseconds now,
                                     const PacketOptions &options) {
  countMark(marked, options.gain);
  measure(now - sentAt, options.shortestTimeout);
  return below > acknowledged ? acknowledgeNew(below, now) : acknowledgeTwice();
}

void PacketSender::expire(Picoseconds now) {
  if (recovering)
    window = std::min(threshold, inFlight() + packet);
  shrinkOnLoss();
  window = packet;
  recovering = false;
  recovered = sent;
  sent = acknowledged + 1;
  duplicates = 0;
  patience = std::min(2 * patience, kLongestTimeout);
  deadline = now + patience;
}
