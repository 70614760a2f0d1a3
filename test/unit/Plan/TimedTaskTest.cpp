//===- TimedTaskTest.cpp - rules of the sweep -----------------------------===//

#include "ffc/Plan/TimedTask.h"

#include <gtest/gtest.h>

#include <random>

using namespace ffc::plan;

namespace {

using Busy = std::vector<std::pair<DeviceId, Picoseconds>>;
using Pairs = std::vector<std::pair<DeviceId, DeviceId>>;

/// When an exchange that begins at `ready` ends, by device, pair by pair.
std::vector<Picoseconds> pairByPair(const std::vector<Picoseconds> &ready,
                                    const Busy &busy, const Pairs &met) {
  std::vector<Picoseconds> complete = ready, ends = ready;
  for (auto [a, b] : met) {
    complete[a] = std::max(complete[a], ready[b]);
    complete[b] = std::max(complete[b], ready[a]);
  }
  for (auto [device, time] : busy)
    ends[device] = complete[device] + time;
  return ends;
}

void expectPairByPair(int devices, const Pairs &met, std::mt19937 &random) {
  Busy busy;
  std::vector<Picoseconds> ready;
  for (DeviceId d = 0; d < devices; ++d) {
    ready.push_back(random() % 1000);
    for (auto [a, b] : met)
      if (a == d || b == d) {
        busy.push_back({d, random() % 1000});
        break;
      }
  }
  TimedTasks tasks;
  tasks.addExchange(busy, met);
  std::vector<Picoseconds> queues = ready;
  tasks.advance({queues.data(), queues.data()});
  EXPECT_EQ(queues, pairByPair(ready, busy, met));
}

TEST(TimedTask, ExchangesWaitForThoseTheyMeet) {
  std::mt19937 random(1);
  for (int devices : {2, 5, 64, 70}) {
    Pairs all, halves, some;
    for (DeviceId a = 0; a < devices; ++a)
      for (DeviceId b = 0; b < devices; ++b) {
        if (a == b)
          continue;
        all.push_back({a, b});
        if (a < devices / 2 && b >= devices / 2)
          halves.push_back({a, b});
        if (random() % devices < 2)
          some.push_back({a, b});
      }
    expectPairByPair(devices, all, random);
    expectPairByPair(devices, halves, random);
    expectPairByPair(devices, some, random);
  }
}

TEST(TimedTask, FewCirclesWhereAllMeetAll) {
  TimedTasks all, halves;
  all.addExchange({{0, 1}, {1, 1}, {2, 1}}, {{0, 1}, {1, 0}, {1, 2}, {2, 0}});
  EXPECT_EQ(all.all()[0].endRendezvous, 1u);
  halves.addExchange({{0, 1}, {1, 1}, {2, 1}, {3, 1}},
                     {{0, 2}, {0, 3}, {1, 2}, {1, 3}});
  EXPECT_EQ(halves.all()[0].endRendezvous, 2u);
  // Nobody meets himself.
  std::vector<uint32_t> met;
  all.eachMet(all.all()[0], 1, [&](uint32_t other) { met.push_back(other); });
  EXPECT_EQ(met, (std::vector<uint32_t>{0, 2}));
}

TEST(TimedTask, WaitsSayByHowMuchTheyWereLate) {
  TimedTasks start;
  start.addCollective({0, 1}, 10);
  std::vector<Picoseconds> local = {5, 8}, network = {0, 0}, ends(2);
  start.start({local.data(), network.data()}, ends.data());
  EXPECT_EQ(ends, (std::vector<Picoseconds>{18, 18}));
  local = {20, 30};
  EXPECT_EQ(start.wait(local.data(), ends.data(), 0), 2);
  EXPECT_EQ(local, (std::vector<Picoseconds>{20, 30}));
  EXPECT_EQ(start.wait(local.data(), ends.data(), 5), -3);
  EXPECT_EQ(local, (std::vector<Picoseconds>{23, 30}));
}

} // namespace
