//===- PacketSenderTest.cpp - windows of a connection ---------------------===//

#include "PacketSender.h"

#include <gtest/gtest.h>

#include <limits>

using namespace ffc::network;

namespace {

constexpr Picoseconds kMillisecond = 1'000'000'000;

/// A sender of many packets of 1,000 bytes, and what it has under way.
class PacketSenderTest : public ::testing::Test {
protected:
  PacketSenderTest() {
    options.packetBytes = 1000;
    options.initialWindow = 8;
  }

  /// Asks, and is answered; `now` is 0.1 ms then, a round trip.
  void begin() {
    sender.reset(options, 1'000'000, options.firstTimeout);
    EXPECT_TRUE(sender.maySend());
    EXPECT_EQ(sender.send(0), 0);
    EXPECT_FALSE(sender.maySend()) << "before the answer";
    now = kMillisecond / 10;
    hear(1);
  }
  SenderTurn hear(int64_t below, bool marked = false) {
    return sender.acknowledge(below, marked, now - kMillisecond / 10, now,
                              options);
  }
  /// Sends what may be sent; returns how many packets that were.
  int sendAll() {
    int count = 0;
    for (; sender.maySend(); ++count)
      EXPECT_EQ(sender.send(now), next++);
    return count;
  }

  PacketOptions options;
  PacketSender sender;
  Picoseconds now = 0;
  int64_t next = 1;
};

} // namespace

TEST_F(PacketSenderTest, SlowStartAddsAPacketAnAcknowledgement) {
  options.slowStartThreshold = 12;
  begin();
  EXPECT_EQ(sendAll(), 9); // 8, and one for the answer
  for (int32_t below : {2, 3, 4}) {
    hear(below);
    EXPECT_EQ(sendAll(), 2);
  }
  // The window is 12 packets. From here on a packet a window.
  hear(5);
  EXPECT_EQ(sendAll(), 1);
}

TEST_F(PacketSenderTest, AfterSlowStartAPacketAWindow) {
  options.slowStartThreshold = 8;
  begin();
  EXPECT_EQ(sendAll(), 8); // 8,125 bytes
  // Eight acknowledgements add 1000 * 1000 / window each, 123 down to 112: the
  // window is 9,066 bytes.
  int sent = 0;
  for (int32_t below = 2; below < 10; ++below) {
    hear(below);
    sent += sendAll();
  }
  EXPECT_EQ(sent, 8 + 1);
}

TEST_F(PacketSenderTest, MarksShrinkTheWindowByHalfOfTheirShare) {
  options.slowStartThreshold = 8;
  options.gain = 1; // the share of the last window alone
  begin();
  EXPECT_EQ(sendAll(), 8);
  // Of the first two acknowledgements, the answer's included, one is marked:
  // a share of a half takes a quarter off 8,125 bytes. 6,093 + 0 bytes remain,
  // since seven packets under way are more.
  hear(2, true);
  EXPECT_EQ(sendAll(), 0);
  hear(3);
  EXPECT_EQ(sendAll(), 0);
  hear(4);
  EXPECT_EQ(sendAll(), 1); // six
}

TEST_F(PacketSenderTest, TheAverageShareHasItsWeight) {
  options.initialWindow = options.slowStartThreshold = 64;
  begin();
  EXPECT_EQ(sendAll(), 64);
  // 1/16 of a half is the share, half of which goes: 1/64 of 64,015 bytes,
  // which leaves 63,014: room for all 63 packets under way and no other.
  hear(2, true);
  EXPECT_EQ(sendAll(), 0);
  hear(3);
  EXPECT_EQ(sendAll(), 1);
}

TEST_F(PacketSenderTest, AMarkEndsSlowStart) {
  options.gain = 1e-9; // which shrinks nothing
  begin();
  EXPECT_EQ(sendAll(), 9);
  hear(2, true);
  EXPECT_EQ(sendAll(), 1);
}

TEST_F(PacketSenderTest, ThreeDuplicatesSendTheFirstAgain) {
  begin();
  EXPECT_EQ(sendAll(), 9);
  for (int i = 0; i < 2; ++i) {
    const SenderTurn turn = hear(1);
    EXPECT_FALSE(turn.again);
    EXPECT_EQ(sendAll(), 0);
  }
  const SenderTurn turn = hear(1);
  EXPECT_TRUE(turn.again);
  EXPECT_FALSE(turn.more);
  EXPECT_EQ(sender.sendAgain(now), 1);
  // Half of nine, and the three that arrived: 7.5; every other duplicate is
  // another packet that arrived. Nine are under way.
  hear(1);
  EXPECT_EQ(sendAll(), 0); // 8.5
  hear(1);
  EXPECT_EQ(sendAll(), 0); // 9.5
  hear(1);
  EXPECT_EQ(sendAll(), 1); // 10.5
  // All that was under way when the loss was noticed has arrived: half of nine.
  EXPECT_FALSE(hear(10).again);
  EXPECT_EQ(sendAll(), 1); // that one and the acknowledgement's
}

TEST_F(PacketSenderTest, ASecondHoleIsSentAtOnce) {
  begin();
  EXPECT_EQ(sendAll(), 9);
  for (int i = 0; i < 3; ++i)
    hear(1);
  const SenderTurn turn = hear(4);
  EXPECT_TRUE(turn.again);
  EXPECT_EQ(sender.sendAgain(now), 4);
  // 7.5 packets, less the three that have left, and the one that is sent again:
  // 5.5, and a duplicate adds one. Six are under way.
  EXPECT_EQ(sendAll(), 0);
  hear(4);
  EXPECT_EQ(sendAll(), 0);
  hear(4);
  EXPECT_EQ(sendAll(), 1);
}

TEST_F(PacketSenderTest, DuplicatesFromBeforeATimeoutAreNoLoss) {
  begin();
  EXPECT_EQ(sendAll(), 9);
  now += 11 * kMillisecond;
  sender.expire(now);
  sender.sendAgain(now);
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(hear(1).again);
}

TEST_F(PacketSenderTest, ATimeoutGoesBackToOnePacketAndWaitsTwiceAsLong) {
  begin();
  EXPECT_EQ(sendAll(), 9);
  const Picoseconds sentAt = now;
  EXPECT_EQ(sender.timeout(), sentAt + options.shortestTimeout);
  now = sentAt + 11 * kMillisecond;
  sender.expire(now);
  EXPECT_EQ(sender.sendAgain(now), 1);
  EXPECT_EQ(sender.timeout(), now + 2 * options.shortestTimeout);
  EXPECT_FALSE(sender.maySend());
  next = 2; // All that follows is sent again, too.
  hear(2);
  EXPECT_EQ(sendAll(), 2);
  // It had arrived after all.
  hear(10);
  next = 10;
  EXPECT_EQ(sendAll(), 3);
}

TEST_F(PacketSenderTest, TimeoutsAreOfRoundTrips) {
  sender.reset(options, 1'000'000, options.firstTimeout);
  sender.send(0);
  EXPECT_EQ(sender.timeout(), options.firstTimeout);
  now = 40 * kMillisecond;
  sender.acknowledge(1, false, 0, now, options);
  EXPECT_EQ(sender.timeout(), kNever) << "nothing is under way";
  sendAll();
  // RFC 6298: the round trip and four times half of it.
  EXPECT_EQ(sender.timeout(), now + 3 * 40 * kMillisecond);
}

TEST_F(PacketSenderTest, MessagesMayBeOfAnySize) {
  sender.reset(options, std::numeric_limits<int64_t>::max(),
               options.firstTimeout);
  sender.send(0);
  hear(1);
  EXPECT_EQ(sendAll(), 9);
  EXPECT_FALSE(sender.ended());
}

TEST_F(PacketSenderTest, EndsWithTheLastPacket) {
  sender.reset(options, 2001, options.firstTimeout);
  EXPECT_EQ(sender.send(0), 0);
  now = kMillisecond;
  hear(1);
  EXPECT_EQ(sendAll(), 2);
  hear(2);
  EXPECT_FALSE(sender.ended());
  hear(3);
  EXPECT_TRUE(sender.ended());
}
