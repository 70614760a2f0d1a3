//===- Kicks.cpp - iterated local search from several answers -------------===//

#include "Kicks.h"

#include <algorithm>
#include <thread>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

Kicks::Kicker::Kicker(const Kicks &all, SegmentTable &table)
    : walker(all.space, table), watch(walker, all.room, nullptr),
      repair(
          all.space, walker, all.options.pinned,
          [this] { return watch.seemsToFit(); }, all.goesOn) {}

void Kicks::addThread(SegmentTable &table) { tables.push_back(&table); }

std::vector<Strategy> Kicks::run(const std::vector<Strategy> &from,
                                 int64_t budget, uint64_t round) {
  std::vector<Strategy> result(from.size());
  const size_t threads = std::min(tables.size(), from.size());
  while (kickers.size() < threads) {
    kickers.push_back(std::make_unique<Kicker>(*this, *tables[kickers.size()]));
    for (const std::vector<Choice> &choices : known)
      kickers.back()->repair.addKnown(choices);
  }
  auto runShare = [&](size_t thread) {
    Kicker &kicker = *kickers[thread];
    for (size_t i = thread; i < from.size(); i += threads) {
      Random random(options.seed +
                    (round * from.size() + i) * 0x9E3779B97F4A7C15u);
      kicker.walker.assign(from[i]);
      kicker.watch.restart();
      kicker.repair.kick(random, budget);
      result[i] = kicker.walker.strategy();
    }
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads; ++t)
    others.emplace_back(runShare, t);
  if (threads > 0)
    runShare(0);
  for (std::thread &other : others)
    other.join();
  return result;
}

MoveCount Kicks::count() const {
  MoveCount result{"kick"};
  for (const auto &kicker : kickers) {
    result.proposed += kicker->repair.kickCount().proposed;
    result.accepted += kicker->repair.kickCount().accepted;
  }
  return result;
}

int64_t Kicks::proposals() const {
  int64_t result = 0;
  for (const auto &kicker : kickers)
    result += kicker->repair.proposals();
  return result;
}
