//===- TopologySearchTest.cpp - networks for a step -----------------------===//

#include "ffc/Network/TopologySearch.h"

#include "TestStep.h"
#include "ffc/Network/FlowTransport.h"
#include "ffc/Network/KnownNetworks.h"
#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/PacketTransport.h"
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TopologyText.h"
#include "ffc/Plan/Topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace ffc::network;
using testing::ElementsAre;

namespace {

constexpr Picoseconds kMillisecond = 1'000'000'000;

TopologySearchOptions optionsOf(int degree, double gigabits,
                                LinkKind kind = LinkKind::TwoWay,
                                int64_t proposals = 200) {
  TopologySearchOptions options;
  options.degree = degree;
  options.kind = kind;
  options.bandwidth = gigabits * 1e9 / 8;
  options.latency = 1'000'000;
  options.proposals = proposals;
  return options;
}

/// What is found keeps to the degree, is connected and whole, and its time is
/// that of the step with divided all-reduces.
std::optional<FoundTopology>
searchAndCheck(const TaskGraph &graph, const TopologySearchOptions &options) {
  const Traffic traffic = trafficOf(graph);
  auto timeOn = [&](const Network &network,
                    const std::vector<RingOrders> &rings) {
    FlowTransport transport(network);
    std::string error;
    const std::optional<SimulatedStep> step = simulate(
        divideAllReduces(graph, traffic, rings), network, transport, {}, error);
    EXPECT_TRUE(step) << error;
    return step ? step->finish : 0;
  };
  std::optional<FoundTopology> found = searchTopology(traffic, options, timeOn);
  if (!found)
    return found;
  const Network &network = found->network;
  EXPECT_EQ(faultOf(network), "");
  const size_t n = static_cast<size_t>(graph.numServers);
  EXPECT_EQ(network.paths.size(), n * (n - 1)) << "every pair is connected";
  std::vector<int> sending(n), receiving(n);
  for (const Link &link : network.links) {
    EXPECT_DOUBLE_EQ(link.bandwidth, options.bandwidth * link.interfaces);
    sending[link.src] += link.interfaces;
    receiving[link.dst] += link.interfaces;
  }
  for (size_t v = 0; v < n; ++v) {
    EXPECT_LE(sending[v], options.degree);
    EXPECT_LE(receiving[v], options.degree);
    EXPECT_TRUE(options.kind == LinkKind::OneWay || sending[v] == receiving[v]);
  }
  for (size_t g = 0; g < traffic.groups.size(); ++g) {
    std::set<VertexId> members(traffic.groups[g].members.begin(),
                               traffic.groups[g].members.end());
    EXPECT_FALSE(found->rings[g].empty());
    for (const std::vector<VertexId> &ring : found->rings[g]) {
      EXPECT_EQ(ring.size(), members.size());
      EXPECT_EQ(std::set<VertexId>(ring.begin(), ring.end()), members);
    }
  }
  EXPECT_EQ(found->time, timeOn(network, found->rings));
  EXPECT_GE(found->time, stepBound(traffic, options.degree, options.kind,
                                   options.bandwidth));
  return found;
}

/// Any step: some transfers, some groups, of any members.
TaskGraph randomStep(int servers, std::mt19937 &random) {
  StepBuilder step(servers);
  auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  for (int i = below(3 * servers); i > 0; --i) {
    const int src = below(servers), dst = below(servers);
    if (src != dst)
      step.transfer(src, dst, 1 + below(20'000'000), below(2) == 0);
  }
  for (int i = below(4); i > 0; --i) {
    std::vector<VertexId> members = firstServers(servers);
    std::shuffle(members.begin(), members.end(), random);
    members.resize(1 + below(servers));
    step.allReduce(members, 1 + below(50'000'000));
  }
  return step.graph;
}

} // namespace

TEST(TopologySearch, KeepsToWhatIsGiven) {
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    const int servers = 2 + static_cast<int>(random() % 8);
    const LinkKind kind = random() % 3 ? LinkKind::TwoWay : LinkKind::OneWay;
    TopologySearchOptions options =
        optionsOf(1 + static_cast<int>(random() % 6), 10, kind);
    options.rule = std::array{TopologyRule::Best, TopologyRule::Paper,
                              TopologyRule::TopoOpt}[random() % 3];
    SCOPED_TRACE(testing::Message() << "round " << round << ": " << servers
                                    << " servers, degree " << options.degree);
    const bool can =
        servers == 2 || kind == LinkKind::OneWay || options.degree > 1;
    EXPECT_EQ(searchAndCheck(randomStep(servers, random), options).has_value(),
              can);
  }
}

TEST(TopologySearch, MoreIsNeverWorse) {
  std::mt19937 random(2);
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    const int servers = 3 + static_cast<int>(random() % 6);
    const LinkKind kind = round % 3 ? LinkKind::TwoWay : LinkKind::OneWay;
    const TaskGraph step = randomStep(servers, random);
    Picoseconds before = kNever;
    for (int degree = 2; degree <= 5; ++degree) {
      const Picoseconds time =
          searchAndCheck(step, optionsOf(degree, 10, kind))->time;
      EXPECT_LE(time, before) << "degree " << degree;
      before = time;
    }
    for (double gigabits : {15.0, 40.0, 400.0}) {
      const Picoseconds time =
          searchAndCheck(step, optionsOf(5, gigabits, kind))->time;
      EXPECT_LE(time, before) << gigabits << " Gbit/s";
      before = time;
    }
  }
}

TEST(TopologySearch, RoughNetworksAreAmongAllAndChangesGain) {
  std::mt19937 random(4);
  int better = 0;
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    const TaskGraph step = randomStep(5 + round % 4, random);
    TopologySearchOptions options = optionsOf(3, 10);
    options.proposals = 100;
    const Picoseconds all = searchAndCheck(step, options)->time;
    options.leastDegree = options.degree;
    const Picoseconds ofDegree = searchAndCheck(step, options)->time;
    EXPECT_LE(all, ofDegree);
    options.leastDegree = options.degree + 1;
    EXPECT_EQ(searchAndCheck(step, options)->time, ofDegree);
    options.isRough = true;
    const auto rough = searchAndCheck(step, options);
    EXPECT_LE(ofDegree, rough->time);
    options.changes = 30;
    const auto changed = searchAndCheck(step, options);
    EXPECT_LE(changed->time, rough->time);
    EXPECT_GT(changed->judged, rough->judged);
    better += changed->time < rough->time;
  }
  EXPECT_GT(better, 0);
}

TEST(TopologySearch, SameSeedSameNetwork) {
  std::mt19937 random(3);
  const TaskGraph step = randomStep(7, random);
  const auto first = searchAndCheck(step, optionsOf(4, 10));
  const auto second = searchAndCheck(step, optionsOf(4, 10));
  EXPECT_EQ(first->rings, second->rings);
  EXPECT_EQ(first->time, second->time);
}

// Fewer strides than interfaces ask for.
TEST(TopologySearch, TwelveServersOfDegreeEight) {
  StepBuilder step(12);
  step.allReduce(firstServers(12), 96'000'000);
  for (TopologyRule rule :
       {TopologyRule::Best, TopologyRule::Paper, TopologyRule::TopoOpt}) {
    TopologySearchOptions options = optionsOf(8, 10);
    options.rule = rule;
    const auto found = searchAndCheck(step.graph, options);
    // 176 MB on 8 interfaces of 1.25 GB/s, after 2 ms.
    EXPECT_NEAR(double(found->time), 19.6e9, 0.1e9);
  }
}

TEST(TopologySearch, GroupsThatAreNotTheFirstServers) {
  StepBuilder step(8);
  step.allReduce({7, 2, 5}, 30'000'000).allReduce({6, 1}, 30'000'000);
  const auto found = searchAndCheck(step.graph, optionsOf(4, 10));
  // 40 MB and 30 MB on two interfaces or more, which they share with nobody.
  EXPECT_LT(double(found->time), 2e9 + 16.2e9);
}

TEST(TopologySearch, AllReduceOverFourGiB) {
  StepBuilder step(4);
  step.allReduce(firstServers(4), int64_t(6) << 30);
  const auto found = searchAndCheck(step.graph, optionsOf(2, 100));
  // 1.5 times 6 GiB on two interfaces of 12.5 GB/s.
  EXPECT_NEAR(double(found->time), 388.5e9, 0.1e9);
}

TEST(TopologySearch, OneMemberAndNothingToSend) {
  StepBuilder step(5);
  step.allReduce({3}, int64_t(10) << 30);
  EXPECT_EQ(searchAndCheck(step.graph, optionsOf(2, 10))->time,
            2 * kMillisecond);
}

// All interfaces but those that keep six servers together are for the pairs:
// that takes one of each server.
TEST(TopologySearch, PairsAreJoined) {
  StepBuilder step(6);
  for (auto [a, b] : {std::pair(0, 3), {1, 4}, {2, 5}})
    step.transfer(a, b, 12'500'000).transfer(b, a, 12'500'000);
  for (int degree : {2, 3, 4})
    EXPECT_NEAR(
        double(searchAndCheck(step.graph,
                              optionsOf(degree, 10, LinkKind::TwoWay, 5000))
                   ->time),
        2e9 + 10e9 / (degree - 1), 0.1e9);
}

TEST(KnownNetworks, AreWhole) {
  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    const int servers = 2 + static_cast<int>(random() % 8);
    const TaskGraph step = randomStep(servers, random);
    const Traffic traffic = trafficOf(step);
    const TopologySearchOptions options =
        optionsOf(2 + static_cast<int>(random() % 4), 10,
                  round % 2 ? LinkKind::TwoWay : LinkKind::OneWay);
    std::vector<std::string> names;
    for (const KnownNetwork &known : knownNetworks(traffic, options)) {
      names.push_back(known.name);
      EXPECT_EQ(faultOf(known.network), "") << known.name;
      FlowTransport transport(known.network);
      std::string error;
      EXPECT_TRUE(simulate(divideAllReduces(step, traffic, known.rings),
                           known.network, transport, {}, error))
          << known.name << ": " << error;
    }
    EXPECT_EQ(names.size(), 7u);
  }
}

// Four servers send 12.5 MB to each other at once, after 1 ms and before 1 ms.
TEST(KnownNetworks, TimesByHand) {
  StepBuilder step(4);
  for (int src = 0; src < 4; ++src)
    for (int dst = 0; dst < 4; ++dst)
      if (src != dst)
        step.transfer(src, dst, 12'500'000);
  const Traffic traffic = trafficOf(step.graph);
  TopologySearchOptions options = optionsOf(3, 10);
  options.latency = 0;
  std::map<std::string, double> times;
  for (const KnownNetwork &known : knownNetworks(traffic, options)) {
    FlowTransport transport(known.network);
    std::string error;
    times[known.name] =
        double(
            simulate(step.graph, known.network, transport, {}, error)->finish) /
        1e9;
  }
  EXPECT_NEAR(times["full mesh"], 12, 1e-6);
  EXPECT_NEAR(times["switch, all interfaces as one"], 12, 1e-6);
  EXPECT_NEAR(times["fat tree, one interface"], 32, 1e-6);
  EXPECT_NEAR(times["fat tree of equal cost"], 62, 1e-6);
}

TEST(TopologySearch, TopologyFileReadsBack) {
  StepBuilder step(6);
  step.allReduce(firstServers(6), 1'000'000);
  for (int i = 0; i < 40; ++i)
    step.transfer(0, 3, 10'000'000).transfer(4, 1, 10'000'000);
  for (LinkKind kind : {LinkKind::TwoWay, LinkKind::OneWay}) {
    const auto found = searchAndCheck(step.graph, optionsOf(3, 10, kind));
    for (int devices : {1, 4}) {
      ServerParts parts;
      parts.devices = devices;
      parts.bandwidth = 25e9;
      std::string error;
      const auto topology = ffc::plan::Topology::parse(
          printTopology(found->network, "six: \"all\"", parts), "six.yaml",
          error);
      ASSERT_TRUE(topology) << error;
      EXPECT_EQ(topology->name(), "six: \"all\"");
      EXPECT_EQ(topology->numDevices(), 6 * devices);
      EXPECT_EQ(topology->nodes().size(), 6u);
      for (const auto &[ends, paths] : found->network.paths) {
        const auto routes =
            topology->routes(ends.first * devices, ends.second * devices);
        ASSERT_EQ(routes.size(), paths.size());
        for (size_t i = 0; i < paths.size(); ++i) {
          EXPECT_NEAR(routes[i].share, paths[i].share, 1e-6);
          // Device, NIC, routers, NIC, device; a single device is the server.
          EXPECT_EQ(routes[i].links.size(),
                    paths[i].links.size() + (devices > 1 ? 4 : 0));
          EXPECT_EQ(routes[i].latency,
                    Picoseconds(paths[i].links.size()) * 1'000'000);
        }
      }
      // The pair of task graph and topology takes as long as was said.
      const auto network = networkOf(*topology, error);
      ASSERT_TRUE(network) << error;
      FlowTransport transport(*network);
      const auto again = simulate(
          divideAllReduces(step.graph, trafficOf(step.graph), found->rings),
          *network, transport, {}, error);
      ASSERT_TRUE(again) << error;
      EXPECT_NEAR(double(again->finish), double(found->time),
                  0.001 * double(found->time));
      if (devices > 1)
        continue;
      // Packet by packet, too.
      const auto packets = [&](const Network &each) {
        PacketTransport transport(each, {});
        return simulate(divideAllReduces(step.graph, trafficOf(step.graph),
                                         found->rings),
                        each, transport, {}, error)
            ->finish;
      };
      EXPECT_NEAR(double(packets(*network)), double(packets(found->network)),
                  0.001 * double(packets(found->network)));
    }
  }
}
