//===- PacketTransportTest.cpp - times of packets, worked out by hand -----===//

#include "ffc/Network/PacketTransport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace ffc::network;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

constexpr double kGigabyte = 1e9; // per second: a byte takes 1,000 ps
constexpr Picoseconds kMicrosecond = 1'000'000;
constexpr Picoseconds kMillisecond = 1000 * kMicrosecond;
constexpr Picoseconds kLatency = kMicrosecond / 2;

/// `servers` servers on one switch; the links to it have `up`, those from it
/// 1 GB/s.
Network makeStar(int servers, double up = kGigabyte) {
  Network network;
  network.numServers = servers;
  network.numSwitches = 1;
  auto add = [&](VertexId src, VertexId dst, double bandwidth) {
    Link link;
    link.src = src;
    link.dst = dst;
    link.bandwidth = bandwidth;
    link.latency = kLatency;
    network.links.push_back(link);
  };
  for (VertexId s = 0; s < servers; ++s) {
    add(s, servers, up);
    add(servers, s, kGigabyte);
  }
  for (VertexId src = 0; src < servers; ++src)
    for (VertexId dst = 0; dst < servers; ++dst)
      if (src != dst)
        network.paths[{src, dst}] = {{{2 * src, 2 * dst + 1}, 1}};
  EXPECT_EQ(faultOf(network), "");
  return network;
}

/// Packets of 1,000 bytes, which take a microsecond at 1 GB/s.
PacketOptions makeOptions() {
  PacketOptions options;
  options.packetBytes = 1000;
  return options;
}

/// When flows end, by number, once all have started.
std::vector<Picoseconds> endsOf(PacketTransport &transport) {
  std::vector<Picoseconds> ends;
  std::vector<FlowId> ended;
  while (transport.nextEvent() != kNever) {
    const Picoseconds now = transport.nextEvent();
    ended.clear();
    transport.advance(now, ended);
    for (FlowId flow : ended) {
      ends.resize(std::max<size_t>(ends.size(), flow + 1), kNever);
      EXPECT_EQ(ends[flow], kNever) << "ended twice";
      ends[flow] = now;
    }
  }
  return ends;
}

// The byte that asks is on each link for 1 ns and 0.5 us, the packet for 1 us
// and 0.5 us.
constexpr Picoseconds kAsked = 2 * (1000 + kLatency);
constexpr Picoseconds kOnePacket = kAsked + 2 * (kMicrosecond + kLatency);

} // namespace

TEST(PacketTransportTest, OnePacketOverTwoLinks) {
  const Network network = makeStar(2);
  PacketTransport transport(network, makeOptions());
  EXPECT_EQ(transport.nextEvent(), kNever);
  EXPECT_EQ(transport.start(0, 1, 1000, 0, nullptr), 0);
  EXPECT_THAT(endsOf(transport), ElementsAre(kOnePacket));
  EXPECT_EQ(transport.counts().hops, 4);
}

TEST(PacketTransportTest, ShortMessagesAreAPacket) {
  const Network network = makeStar(2);
  PacketTransport transport(network, makeOptions());
  transport.start(0, 1, 1, 0, nullptr);
  EXPECT_THAT(endsOf(transport), ElementsAre(kOnePacket));
}

TEST(PacketTransportTest, PacketsOfAMessageFollowEachOther) {
  const Network network = makeStar(2);
  PacketTransport transport(network, makeOptions());
  // The first byte has asked, so that 3,001 bytes are three packets.
  transport.start(0, 1, 3001, 7, nullptr);
  EXPECT_THAT(endsOf(transport),
              ElementsAre(7 + kOnePacket + 2 * kMicrosecond));
}

TEST(PacketTransportTest, WhatIsOverTheWindowWaits) {
  const Network network = makeStar(2);
  PacketOptions options = makeOptions();
  options.initialWindow = options.slowStartThreshold = 1;
  PacketTransport transport(network, options);
  transport.start(0, 1, 3001, 0, nullptr);
  // The answer to the first byte widens the window to two packets; the third
  // one is sent when the first one is acknowledged.
  EXPECT_THAT(endsOf(transport),
              ElementsAre(kOnePacket + 2 * (kMicrosecond + kLatency)));
}

TEST(PacketTransportTest, TwoMessagesThroughOneQueue) {
  const Network network = makeStar(3);
  PacketTransport transport(network, makeOptions());
  transport.start(0, 2, 1000, 0, nullptr);
  transport.start(1, 2, 1000, 0, nullptr);
  // The second one's packet waits while the first one's is sent.
  EXPECT_THAT(endsOf(transport),
              ElementsAre(kOnePacket, kOnePacket + kMicrosecond));
}

TEST(PacketTransportTest, TimersOfEndedMessagesAreForgotten) {
  const Network network = makeStar(2);
  PacketTransport transport(network, makeOptions());
  transport.start(0, 1, 1000, 0, nullptr);
  EXPECT_THAT(endsOf(transport), ElementsAre(kOnePacket));
  const Picoseconds later = 1000 * kMillisecond;
  transport.start(0, 1, 1000, later, nullptr);
  EXPECT_GE(transport.nextEvent(), later);
  EXPECT_THAT(endsOf(transport), ElementsAre(kNever, later + kOnePacket));
}

TEST(PacketTransportTest, APathGivenIsTaken) {
  const Network network = makeStar(3);
  PacketTransport transport(network, makeOptions());
  const std::vector<LinkId> up = {0};
  transport.start(0, 1, 1000, 0, &up);
  EXPECT_THAT(endsOf(transport), ElementsAre(kOnePacket / 2));
}

TEST(PacketTransportTest, ALostPacketIsSentAgainAfterATimeout) {
  const Network network = makeStar(2, 10 * kGigabyte);
  PacketOptions options = makeOptions();
  options.queuePackets = 1;
  options.shortestTimeout = 5 * kMicrosecond;
  options.timerPeriod = kMicrosecond;
  PacketTransport transport(network, options);
  transport.start(0, 1, 2001, 0, nullptr);
  // The answer to the first byte comes at 1.0011 us. The second packet reaches
  // the switch 0.1 us after the first, which is there for 1 us, and is lost.
  // The first is acknowledged at 3.1011 us; 5 us later is 8.1011 us, and clocks
  // are looked at at 9 us. A packet takes 0.1 + 0.5 + 1 + 0.5 us.
  EXPECT_THAT(endsOf(transport), ElementsAre(11'100'000));
  EXPECT_EQ(transport.counts().lost, 1);
  EXPECT_EQ(transport.counts().timeouts, 1);
}

TEST(PacketTransportTest, ALostPacketIsSentAgainAfterThreeDuplicates) {
  const Network network = makeStar(2, 1.25 * kGigabyte);
  PacketOptions options = makeOptions();
  options.queuePackets = 5;
  options.initialWindow = 30;
  PacketTransport transport(network, options);
  transport.start(0, 1, 30'000, 0, nullptr);
  // 30 packets take 30 us on the slower link; those that are lost a round trip
  // of about 3 us each, as NewReno finds them one by one; no timeout of 10 ms.
  EXPECT_LT(endsOf(transport).at(0), 60 * kMicrosecond);
  EXPECT_GT(transport.counts().lost, 0);
  EXPECT_GT(transport.counts().sentAgain, 0);
  EXPECT_EQ(transport.counts().timeouts, 0);
}

TEST(PacketTransportTest, WhatServersHaveToSendIsNotLost) {
  const Network network = makeStar(2);
  PacketOptions options = makeOptions();
  options.queuePackets = 2;
  PacketTransport transport(network, options);
  transport.start(0, 1, 90'001, 0, nullptr);
  EXPECT_THAT(endsOf(transport), ElementsAre(kOnePacket + 89 * kMicrosecond));
  EXPECT_EQ(transport.counts().lost, 0);
}

TEST(PacketTransportTest, PacketsThatLeaveALongQueueAreMarked) {
  const Network network = makeStar(2);
  PacketOptions options = makeOptions();
  options.initialWindow = 100;
  options.markAbove = 60;
  for (bool serversMark : {true, false}) {
    options.serversMark = serversMark;
    PacketTransport transport(network, options);
    transport.start(0, 1, 100'001, 0, nullptr);
    endsOf(transport);
    // Queues when packets leave: 100, 99, ..., 61, 60, ...
    EXPECT_EQ(transport.counts().marked, serversMark ? 40 : 0);
  }
}

TEST(PacketTransportTest, MarksKeepQueuesFromOverflowing) {
  // Two senders share a link.
  const Network network = makeStar(3);
  PacketOptions options = makeOptions();
  options.serversMark = false;
  options.queuePackets = 250;
  auto lostWith = [&](int64_t markAbove) {
    options.markAbove = markAbove;
    PacketTransport transport(network, options);
    transport.start(0, 2, 10'000'000, 0, nullptr);
    transport.start(1, 2, 10'000'000, 0, nullptr);
    endsOf(transport);
    return transport.counts().lost;
  };
  EXPECT_EQ(lostWith(50), 0);
  EXPECT_GT(lostWith(1000), 100);
}

TEST(PacketTransportTest, PartsOfAllReducesAskAgainSooner) {
  const Network network = makeStar(3);
  PacketOptions options = makeOptions();
  options.initialWindow = 3000; // 3 ms of packets before who comes later
  for (bool isPart : {true, false}) {
    PacketTransport transport(network, options);
    std::vector<FlowId> ended;
    transport.start(0, 1, 3'000'000, 0, nullptr);
    while (transport.nextEvent() < kMillisecond / 10)
      transport.advance(transport.nextEvent(), ended);
    if (isPart)
      transport.startPart(0, 2, 1000, kMillisecond / 10, nullptr);
    else
      transport.start(0, 2, 1000, kMillisecond / 10, nullptr);
    endsOf(transport);
    EXPECT_EQ(transport.counts().timeouts > 0, isPart);
  }
}

namespace {

/// Times of messages between servers that have two paths, one of which is
/// longer by 1 us.
std::vector<Picoseconds> endsOnTwoPaths(uint64_t seed, double shareOfShort) {
  Network network = makeStar(2);
  Link longer = network.links[3];
  longer.latency += kMicrosecond;
  network.links.push_back(longer);
  network.paths[{0, 1}] = {{{0, 3}, shareOfShort}, {{0, 4}, 1 - shareOfShort}};
  PacketOptions options = makeOptions();
  options.seed = seed;
  PacketTransport transport(network, options);
  std::vector<Picoseconds> times;
  std::vector<FlowId> ended;
  for (int i = 0; i < 1000; ++i) {
    const Picoseconds now = i * kMillisecond;
    transport.start(0, 1, 1000, now, nullptr);
    ended.clear();
    while (ended.empty()) {
      times.resize(i + 1);
      times.back() = transport.nextEvent() - now;
      transport.advance(transport.nextEvent(), ended);
    }
  }
  return times;
}

} // namespace

TEST(PacketTransportTest, PathsAreDrawnByTheirShares) {
  const std::vector<Picoseconds> times = endsOnTwoPaths(1, 0.25);
  const auto shorter = std::count(times.begin(), times.end(), kOnePacket);
  const auto longer =
      std::count(times.begin(), times.end(), kOnePacket + 2 * kMicrosecond);
  EXPECT_EQ(shorter + longer, 1000);
  EXPECT_NEAR(static_cast<double>(shorter), 250, 60); // over four deviations
}

TEST(PacketTransportTest, EqualSeedsGiveEqualTimes) {
  EXPECT_EQ(endsOnTwoPaths(5, 0.5), endsOnTwoPaths(5, 0.5));
  EXPECT_NE(endsOnTwoPaths(5, 0.5), endsOnTwoPaths(6, 0.5));
}

TEST(PacketTransportTest, FaultsOfOptionsAreNamed) {
  auto faultWith = [](auto change) {
    PacketOptions options;
    change(options);
    return faultOf(options);
  };
  EXPECT_EQ(faultOf(PacketOptions()), "");
  EXPECT_EQ(faultWith([](PacketOptions &o) { o.packetBytes = 0; }),
            "expected packets of bytes of 1 to 2147483647, found 0");
  EXPECT_THAT(faultWith([](PacketOptions &o) { o.initialWindow = 0; }),
              HasSubstr("initial window"));
  EXPECT_THAT(faultWith([](PacketOptions &o) { o.slowStartThreshold = -1; }),
              HasSubstr("slow-start threshold"));
  EXPECT_THAT(faultWith([](PacketOptions &o) { o.markAbove = 0; }),
              HasSubstr("are marked"));
  EXPECT_THAT(faultWith([](PacketOptions &o) { o.queuePackets = -1; }),
              HasSubstr("length of queues"));
  EXPECT_THAT(faultWith([](PacketOptions &o) { o.timerPeriod = 0; }),
              HasSubstr("timeout or period"));
  EXPECT_EQ(faultWith([](PacketOptions &o) { o.gain = 2; }),
            "expected a gain above 0 and at most 1, found 2.000000");
}
