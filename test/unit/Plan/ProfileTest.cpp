//===- ProfileTest.cpp - measured times -----------------------------------===//

#include "ffc/Plan/Profile.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Segments.h"
#include "ffc/Plan/StepTimer.h"
#include "ffc/Plan/Timing.h"

#include <gtest/gtest.h>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

constexpr Picoseconds kMicrosecond = 1'000'000;

std::string profileText(const std::string &kernels,
                        const std::string &communication = "",
                        const std::string &device = "cpu-core") {
  return "{\n\"ffc_profile\": 1,\n\"device\": \"" + device +
         "\",\n\"kernels\": [\n" + kernels + "],\n\"communication\": [" +
         communication + "]\n}\n";
}

std::string kernelText(const std::string &key, const std::string &kernel,
                       double flops, double bytes, double microseconds,
                       int devices = 1) {
  return "{\"key\": \"" + key + "\", \"kernel\": \"" + kernel +
         "\", \"devices\": " + std::to_string(devices) +
         ", \"flops\": " + std::to_string(flops) +
         ", \"bytes\": " + std::to_string(bytes) +
         ", \"median_us\": " + std::to_string(microseconds) +
         ", \"spread_us\": 0, \"samples\": 5}\n";
}

std::shared_ptr<const Profile> profileOf(const std::string &text) {
  std::string error;
  auto profile = Profile::parse(text, "p.json", error);
  if (!profile)
    throw std::runtime_error(error);
  return profile;
}

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_EQ(Profile::parse(text, "p.json", error), nullptr);
  return error;
}

LocalWork work(std::string_view kernel, const std::string &key, double flops,
               int64_t bytes, int devices = 1) {
  LocalWork work;
  work.kernel = kernel;
  work.key = key;
  work.flops = flops;
  work.bytes = bytes;
  work.devices = devices;
  return work;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST(Profile, FitFindsRatesExactly) {
  // 2 us a call, 1 ps a flop, 3 ps a byte.
  std::vector<Measurement> list = {{"a", "k", 1, 1e6, 1e6, 6 * kMicrosecond},
                                   {"b", "k", 1, 5e6, 1e6, 10 * kMicrosecond},
                                   {"c", "k", 1, 1e6, 3e6, 12 * kMicrosecond},
                                   {"d", "k", 1, 9e6, 2e6, 17 * kMicrosecond}};
  const KernelRates rates = fitRates({&list[0], &list[1], &list[2], &list[3]});
  EXPECT_NEAR(rates.call, 2e6, 1);
  EXPECT_NEAR(rates.perFlop, 1, 1e-6);
  EXPECT_NEAR(rates.perByte, 3, 1e-6);
}

TEST(Profile, RatesAreNotNegative) {
  // Twice the flops in half the time.
  std::vector<Measurement> list = {{"a", "k", 1, 1e6, 0, 2 * kMicrosecond},
                                   {"b", "k", 1, 2e6, 0, 1 * kMicrosecond}};
  const KernelRates rates = fitRates({&list[0], &list[1]});
  EXPECT_GE(rates.call, 0);
  EXPECT_GE(rates.perFlop, 0);
  EXPECT_EQ(rates.perByte, 0);
  // What one measurement cannot tell apart goes to the call.
  const KernelRates one = fitRates({&list[0]});
  EXPECT_NEAR(one.at(1e6, 0), 2e6, 1);
}

TEST(Profile, KeyThenNeighboursThenRates) {
  const auto profile = profileOf(profileText(
      kernelText("k() f32[100] -> f32[100]", "k", 0, 1000, 1) + "," +
      kernelText("k() f32[200] -> f32[200]", "k", 0, 2000, 2) + "," +
      // Another kind of operand: twice as slow.
      kernelText("k() f32[200]cl -> f32[200]", "k", 0, 2000, 4)));
  EXPECT_EQ(profile->find(work("k", "k() f32[200] -> f32[200]", 0, 2000)),
            2 * kMicrosecond);
  EXPECT_EQ(profile->find(work("k", "k() f32[201] -> f32[201]", 0, 2000)),
            std::nullopt);
  EXPECT_EQ(profile->atRates("other", 1, 1), std::nullopt);
  EXPECT_EQ(profile->calibrated(work("other", "other()", 1, 1)), std::nullopt);

  const Picoseconds rates = *profile->atRates("k", 0, 3000);
  const Picoseconds fast =
      *profile->calibrated(work("k", "k() f32[300] -> f32[300]", 0, 3000));
  const Picoseconds slow =
      *profile->calibrated(work("k", "k() f32[300]cl -> f32[300]", 0, 3000));
  EXPECT_LT(fast, rates);
  EXPECT_LT(rates, slow);
  // Nothing that differs in sizes only: the rates alone.
  EXPECT_EQ(profile->calibrated(work("k", "k() i32[300] -> f32[300]", 0, 3000)),
            rates);
}

TEST(Profile, OnSeveralDevicesAtOnce) {
  const std::string a = "k() f32[100]", b = "k() f32[200]", c = "k() f32[300]",
                    d = "k() f32[400]";
  const auto profile =
      profileOf(profileText(kernelText(a, "k", 0, 1000, 10) + "," +
                            kernelText(a, "k", 0, 1000, 15, 2) + "," +
                            kernelText(b, "k", 0, 2000, 20) + "," +
                            kernelText(b, "k", 0, 2000, 30, 2) + "," +
                            kernelText(c, "k", 0, 3000, 60) + "," +
                            kernelText(d, "k", 0, 4000, 60, 2)));
  auto find = [&](const std::string &key, int devices) {
    return profile->find(work("k", key, 0, 0, devices));
  };
  EXPECT_EQ(find(a, 1), 10 * kMicrosecond);
  EXPECT_EQ(find(a, 2), 15 * kMicrosecond);
  // No more than two were measured together.
  EXPECT_EQ(find(a, 8), 15 * kMicrosecond);
  EXPECT_EQ(find(c, 2), std::nullopt);
  // Changed as `a` and `b` are, up to the trust in no change.
  auto calibrated = [&](const std::string &key, int64_t bytes, int devices) {
    return static_cast<double>(
               *profile->calibrated(work("k", key, 0, bytes, devices))) /
           kMicrosecond;
  };
  EXPECT_NEAR(calibrated(c, 3000, 2), 60 * 1.5, 5);
  EXPECT_LT(calibrated(c, 3000, 2), 60 * 1.5);
  EXPECT_NEAR(calibrated(d, 4000, 1), 60 / 1.5, 5);
  // What was never measured is nearer to what is on as many devices.
  EXPECT_GT(calibrated("k() f32[150]", 1500, 2),
            1.2 * calibrated("k() f32[150]", 1500, 1));
}

TEST(Profile, CostAsksTheProfileForItsDevicesOnly) {
  const auto profile =
      profileOf(profileText(kernelText("k() f32[1]", "k", 10, 10, 7)));
  const CostModel cost(ranks(2), profile), other(overlapping(2), profile);
  const LocalWork known = work("k", "k() f32[1]", 10, 10),
                  similar = work("k", "k() f32[2]", 10, 10),
                  unknown = work("l", "l() f32[1]", 10, 10);
  EXPECT_EQ(cost.local(0, known).time, 7 * kMicrosecond);
  EXPECT_EQ(cost.local(0, known).source, CostModel::Source::Measured);
  EXPECT_EQ(cost.local(1, similar).source, CostModel::Source::Calibrated);
  EXPECT_EQ(cost.local(1, unknown).source, CostModel::Source::Roofline);
  EXPECT_EQ(cost.local(1, unknown).time,
            cost.kernel(1, 10, 10, Arithmetic::F32));
  EXPECT_EQ(other.local(0, known).source, CostModel::Source::Roofline);
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

TEST(Profile, CurvesAreLinesBetweenSizes) {
  const Curve curve({{100, 1000}, {200, 1000}, {400, 3000}});
  EXPECT_EQ(curve.at(0), 1000);
  EXPECT_EQ(curve.at(150), 1000);
  EXPECT_EQ(curve.at(300), 2000);
  EXPECT_EQ(curve.at(400), 3000);
  EXPECT_EQ(curve.at(500), 4000);
  EXPECT_EQ(Curve({{100, 5}}).at(1000), 5);
}

const char kCommunication[] = R"(
{"operation": "message", "members": 2, "sizes": [
  {"bytes": 1000, "median_us": 2, "spread_us": 0},
  {"bytes": 2000, "median_us": 3, "spread_us": 0}]},
{"operation": "exchange", "members": 2, "sizes": [
  {"bytes": 1000, "median_us": 3, "spread_us": 0},
  {"bytes": 2000, "median_us": 5, "spread_us": 0}]},
{"operation": "all_reduce", "members": 2, "sizes": [
  {"bytes": 1000, "median_us": 5, "spread_us": 0}]})";

TEST(Profile, GroupsThatWereMeasured) {
  const auto profile =
      profileOf(profileText(kernelText("k()", "k", 1, 1, 1), kCommunication));
  const CostModel cost(ranks(4), profile), roofline(ranks(4));
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, {1, 3}, 9000),
            5 * kMicrosecond);
  EXPECT_EQ(cost.collective(CollectiveKind::AllReduce, {0, 1, 2}, 9000),
            roofline.collective(CollectiveKind::AllReduce, {0, 1, 2}, 9000));
  EXPECT_EQ(cost.collective(CollectiveKind::Broadcast, {1, 3}, 9000),
            roofline.collective(CollectiveKind::Broadcast, {1, 3}, 9000));
  EXPECT_EQ(cost.transfer(0, 1, 1500), 5 * kMicrosecond / 2);
  // Both directions at once, as it was measured; two messages one after the
  // other, while one comes.
  const auto busy = cost.exchange({{0, 1, 1000}, {1, 0, 1000}, {1, 2, 2000}});
  ASSERT_EQ(busy.size(), 3u);
  EXPECT_EQ(busy[0].second, 3 * kMicrosecond);
  EXPECT_EQ(busy[1].second, 6 * kMicrosecond);
  EXPECT_EQ(busy[2].second, 3 * kMicrosecond);
}

TEST(Profile, OneOfMessageAndExchangeStandsForBoth) {
  for (const char *operation : {"message", "exchange"}) {
    const auto profile = profileOf(
        profileText(kernelText("k()", "k", 1, 1, 1),
                    "{\"operation\": \"" + std::string(operation) +
                        "\", \"members\": 2, \"sizes\": [{\"bytes\": 10, "
                        "\"median_us\": 2, \"spread_us\": 0}]}"));
    const CostModel cost(ranks(2), profile);
    EXPECT_EQ(cost.transfer(0, 1, 10), 2 * kMicrosecond);
    for (const auto &[device, time] : cost.exchange({{0, 1, 10}, {1, 0, 10}}))
      EXPECT_EQ(time, 2 * kMicrosecond);
  }
}

//===----------------------------------------------------------------------===//
// One plan
//===----------------------------------------------------------------------===//

/// Times everything that `program` does locally: `step` us more for each.
std::string measureAll(const Graph &graph, const Strategy &strategy,
                       const Program &program) {
  std::map<std::pair<std::string, int>, std::string> lines;
  double time = 1;
  for (const DeviceProgram &device : program.devices)
    for (const Action &action : device.actions)
      if (const auto w = workOf(graph, strategy, device, action, true))
        lines.emplace(std::pair(w->key, w->devices),
                      kernelText(w->key, std::string(w->kernel), w->flops,
                                 static_cast<double>(w->bytes), time++,
                                 w->devices));
  std::string text;
  for (const auto &[key, line] : lines)
    text += (text.empty() ? "" : ",") + line;
  return profileText(text, kCommunication);
}

TEST(Profile, SearchAndPlanSeeTheSameTimes) {
  constexpr int kDevices = 3;
  for (unsigned seed = 0; seed < 20; ++seed) {
    TestGraph g = trainingGraph();
    if (seed % 2)
      g.graph.microBatches = 3;
    std::mt19937 random(seed);
    const Strategy strategy = randomStrategy(g.graph, kDevices, random);
    const CostModel roofline(ranks(kDevices));
    const auto profile = profileOf(measureAll(
        g.graph, strategy, planProgram(g.graph, strategy, kDevices, roofline)));
    const CostModel cost(ranks(kDevices), profile);
    for (const Strategy &timed :
         {strategy, randomStrategy(g.graph, kDevices, random)}) {
      const Program program = planProgram(g.graph, timed, kDevices, cost);
      SegmentTable table(g.graph, kDevices, cost);
      std::vector<ConfigId> configs;
      for (const Configuration &config : timed)
        configs.push_back(table.intern(config));
      EXPECT_EQ(StepTimer(table, configs).makespan(),
                timeProgram(g.graph, timed, program, cost).makespan)
          << "seed " << seed;
    }
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

TEST(Profile, MalformedFiles) {
  const std::string good = kernelText("k()", "k", 1, 1, 1);
  EXPECT_EQ(errorOf("[]"),
            "p.json:1: expected a profile to be a map with the keys "
            "ffc_profile, model, date, machine, versions, device, ranks, "
            "threads, cores, probe_us, kernels, communication; found a list");
  EXPECT_EQ(errorOf("{\"ffc_profile\": 2}"),
            "p.json:1: expected a profile of version 1, found '2'");
  EXPECT_EQ(errorOf("{\"ffc_profile\": 1}"),
            "p.json:1: a profile lacks the key 'device'");
  EXPECT_EQ(errorOf(profileText("")),
            "p.json:4: expected the kernels of a profile to be a list, found "
            "an empty one");
  EXPECT_EQ(errorOf(profileText(good + "," + good)),
            "p.json:6: expected every key once for a number of devices, found "
            "'k()' on 1 again");
  EXPECT_EQ(errorOf(profileText(kernelText("k()", "k", 1, 1, 1, 0))),
            "p.json:5: expected devices of a kernel from 1 to 1048576, found "
            "'0'");
  EXPECT_EQ(errorOf(profileText(kernelText("k()", "k", 1, 1, -2))),
            "p.json:5: expected 'median_us' of a kernel's measurement to be a "
            "number of at least 0, found '-2.000000'");
  EXPECT_EQ(errorOf(profileText("{\"key\": \"k()\"}")),
            "p.json:5: a kernel's measurement lacks the key 'kernel'");
  EXPECT_EQ(errorOf(profileText(good, R"({"operation": "gossip", "members": 2,
      "sizes": [{"bytes": 1, "median_us": 1}]})")),
            "p.json:7: expected an operation of message, exchange, all_reduce, "
            "all_gather, reduce_scatter and broadcast, found 'gossip'");
  EXPECT_EQ(errorOf(profileText(good, R"({"operation": "exchange", "members": 2,
      "sizes": [{"bytes": 2, "median_us": 2}, {"bytes": 4, "median_us": 1}]})")),
            "p.json:8: expected sizes of ascending 'bytes' that do not take "
            "less than smaller ones, found 4 bytes after 2");
  const std::string once =
      R"({"operation": "exchange", "members": 2, "sizes": [{"bytes": 2, "median_us": 2}]})";
  EXPECT_EQ(errorOf(profileText(good, once + ",\n" + once)),
            "p.json:8: expected every operation once for a number of members, "
            "found 'exchange' of 2 again");
  EXPECT_EQ(errorOf(profileText(good, "1, 2")).substr(0, 51),
            "p.json:7: expected a communication's measurement to");
  std::string error;
  EXPECT_EQ(Profile::load("/nowhere/p.json", error), nullptr);
  EXPECT_EQ(error,
            "/nowhere/p.json: cannot be read: No such file or directory");
}

} // namespace
