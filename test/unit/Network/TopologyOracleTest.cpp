//===- TopologyOracleTest.cpp - strides, routes and matchings -------------===//
//
// Against tables that were computed by others (../shared/data/topoopt), which
// hold what TopoOpt's rules choose and what the best choice is.
//
//===----------------------------------------------------------------------===//

#include "ffc/Network/Matching.h"

#include <yaml-cpp/yaml.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

using namespace ffc::network;
using testing::AnyOf;
using testing::ElementsAreArray;

namespace {

/// JSON is YAML.
const YAML::Node &oracle() {
  static const YAML::Node file =
      YAML::LoadFile(FFC_TOPOOPT_DATA "/topology-oracle.json");
  return file;
}

std::vector<int> intsOf(const YAML::Node &node) {
  return node.as<std::vector<int>>();
}

LinkKind kindOf(const YAML::Node &row) {
  return row["mode"].as<std::string>() == "two-way" ? LinkKind::TwoWay
                                                    : LinkKind::OneWay;
}

/// Diameter, sum and histogram of hops are those of `row`.
void expectHops(const CoinChange &change, const YAML::Node &row) {
  EXPECT_EQ(change.diameter(), row["diameter"].as<int>());
  const double mean = double(change.sum()) / double(change.hops.size() - 1);
  EXPECT_NEAR(mean, row["mean_hops"].as<double>(), 1e-6);
  std::vector<int> histogram(change.diameter() + 1);
  for (const auto &entry : row["hop_histogram"])
    histogram.at(entry.first.as<int>()) = entry.second.as<int>();
  EXPECT_EQ(change.histogram(), histogram);
}

/// The rows of strides chosen from a number of servers.
void expectChoice(const std::vector<int> &strides, int servers, LinkKind kind,
                  const YAML::Node &row) {
  EXPECT_EQ(strides, intsOf(row["strides"]));
  const std::vector<int> coins = coinsOf(strides, servers, kind);
  EXPECT_EQ(coins, intsOf(row["coins"]));
  expectHops(changeCoins(servers, coins), row);
}

} // namespace

TEST(Oracle, CandidatesOfRings) {
  for (const auto &entry : oracle()["totient_perms"]) {
    const int servers = entry.first.as<int>();
    SCOPED_TRACE(servers);
    const YAML::Node &row = entry.second;
    const std::vector<int> strides = ringStrides(servers, servers);
    EXPECT_EQ(strides.size(), row["phi"].as<size_t>());
    EXPECT_EQ(strides, intsOf(row["candidates"]));
    EXPECT_EQ(primeRingStrides(servers), intsOf(row["paper_prime_restricted"]));
    for (const auto &group : row["code_groups"])
      EXPECT_EQ(ringStrides(servers, group.first.as<int>()),
                intsOf(group.second));
  }
}

TEST(Oracle, StridesOfRules) {
  int missing = 0;
  for (const YAML::Node &row : oracle()["select_permutations"]) {
    const int servers = row["n"].as<int>();
    const int count = row["strides_to_choose"].as<int>();
    const LinkKind kind = kindOf(row);
    SCOPED_TRACE(testing::Message() << servers << " servers, degree "
                                    << row["degree"] << ", " << row["mode"]);
    const std::vector<int> candidates = ringStrides(servers, servers);
    expectChoice(geometricStrides(candidates, servers, count), servers, kind,
                 row["paper"]);
    expectChoice(geometricStrides(primeRingStrides(servers), servers, count),
                 servers, kind, row["paper_prime"]);
    const std::optional<std::vector<int>> released =
        releasedStrides(candidates, count, kind);
    EXPECT_EQ(released.has_value(), !row["code"].IsNull());
    if (released)
      expectChoice(*released, servers, kind, row["code"]);
    missing += !released;
  }
  EXPECT_EQ(missing, 8) << "rows that have no value";
}

TEST(Oracle, BestStrides) {
  int exhaustive = 0;
  for (const YAML::Node &row : oracle()["select_permutations"]) {
    const int servers = row["n"].as<int>();
    const LinkKind kind = kindOf(row);
    SCOPED_TRACE(testing::Message() << servers << " servers, degree "
                                    << row["degree"] << ", " << row["mode"]);
    const BestStrides best =
        bestStrides(servers, row["strides_to_choose"].as<int>(), kind, 1);
    const CoinChange change =
        changeCoins(servers, coinsOf(best.strides, servers, kind));
    const YAML::Node &expected = row["best"];
    EXPECT_LE(change.diameter(), expected["diameter"].as<int>());
    if (expected["exhaustive"].as<bool>()) {
      EXPECT_TRUE(best.exhaustive);
      expectHops(change, expected);
      ++exhaustive;
    }
  }
  EXPECT_EQ(exhaustive, 45);
}

TEST(Oracle, CoinChange) {
  for (const auto &entry : oracle()["coin_change_paths"]) {
    const std::string name = entry.first.as<std::string>();
    SCOPED_TRACE(name);
    const size_t colon = name.find(':');
    const int servers = std::stoi(name.substr(0, colon));
    const std::vector<int> coins = intsOf(YAML::Load(name.substr(colon + 1)));
    const CoinChange change = changeCoins(servers, coins);
    EXPECT_EQ(change.hops, intsOf(entry.second["distance"]));
    for (int distance = 0; distance < servers; ++distance) {
      int sum = 0;
      for (int coin : change.coins[distance]) {
        sum += coin;
        EXPECT_THAT(coins, testing::Contains(coin));
      }
      EXPECT_EQ(sum % servers, distance);
      EXPECT_EQ(int(change.coins[distance].size()), change.hops[distance]);
      const std::string key = std::to_string(distance);
      EXPECT_EQ(
          change.choices[distance],
          entry.second["number_of_shortest_multisets"][key].as<int64_t>());
    }
  }
}

TEST(Oracle, TimesOfRings) {
  constexpr Picoseconds kMicrosecond = 1'000'000;
  for (const YAML::Node &row : oracle()["ring_allreduce"]) {
    auto time = [&](Picoseconds latency) {
      return double(ringTime(row["bytes"].as<int64_t>(), row["n"].as<int>(),
                             row["rings"].as<int>(),
                             row["gbps"].as<double>() * 1e9 / 8, latency)) /
             1e9;
    };
    EXPECT_NEAR(time(0), row["bandwidth_ms"].as<double>(), 1e-6);
    EXPECT_NEAR(time(kMicrosecond),
                row["with_latency_1us_per_step_ms"].as<double>(), 1e-6);
  }
}

namespace {

double weightOf(const Pairs &pairs, const Demand &demand) {
  double weight = 0;
  for (auto [a, b] : pairs)
    weight += demand.at(a, b);
  return weight;
}

void expectRounds(const Demand &demand, DemandRule rule,
                  const YAML::Node &expected) {
  Demand twoWay = demand; // pairs count both directions
  const std::vector<Pairs> rounds = matchingRounds(
      twoWay, static_cast<int>(expected.size()), rule, LinkKind::TwoWay);
  Demand left = demand;
  std::map<std::pair<int, int>, int> links;
  for (size_t i = 0; i < rounds.size(); ++i) {
    Pairs pairs;
    for (const YAML::Node &pair : expected[i]["edges"])
      pairs.push_back({pair[0].as<int>(), pair[1].as<int>()});
    EXPECT_EQ(rounds[i], pairs);
    EXPECT_NEAR(weightOf(rounds[i], left), expected[i]["weight"].as<double>(),
                1e-3);
    for (auto [a, b] : rounds[i]) {
      const int count = ++links[{a, b}];
      left.at(a, b) =
          demand.at(a, b) /
          (rule == DemandRule::Halved ? double(1 << count) : count + 1.0);
    }
  }
}

} // namespace

TEST(Oracle, RoundsOfMatchings) {
  for (const auto &entry : oracle()["matching"]) {
    SCOPED_TRACE(entry.first.as<std::string>());
    const YAML::Node &table = entry.second["demand_MB"];
    Demand demand(static_cast<int>(table.size()));
    for (int i = 0; i < demand.size; ++i)
      for (int j = 0; j < demand.size; ++j)
        demand.at(i, j) = table[i][j].as<double>();
    expectRounds(demand, DemandRule::Halved, entry.second["rounds_halving"]);
    expectRounds(demand, DemandRule::Released,
                 entry.second["rounds_code_rule"]);
  }
}
