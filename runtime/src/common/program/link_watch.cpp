//===- link_watch.cpp - links that are slower than they should be ---------===//
#include "common/program/link_watch.h"

#include "common/device/target.h"
#include "common/program/say.h"
#include "common/program/together.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace ffrt {

namespace {

constexpr const char *kTask = "watching links";
/// Of the time, for all that.
constexpr double kShare = 0.01;
constexpr double kLongestRest = 1e4; ///< talks
constexpr double kShortest = 1e-6;   ///< seconds between two talks

/// Shorter messages show no bandwidth.
constexpr int64_t kLeastBytes = int64_t(64) << 10;

/// Pairs that are named at a time.
constexpr std::size_t kNamed = 4;

/// Steps may have it as well: theirs are all through before these, or begin
/// behind them.
constexpr int kTag = 0;

bool is_link(const RankPlace &a, const RankPlace &b) {
  return !a.gpu.empty() || a.machine != b.machine;
}

/// In the order of their lower ranks.
std::vector<double> seconds_of_pairs(const LinkProbe &probe) {
  std::vector<double> all;
  for (const LinkProbe::Pairs &alike : probe.pairs)
    all.insert(all.end(), std::size_t(alike.count), alike.seconds);
  return all;
}

std::string rank_text(int rank, const std::vector<RankPlace> &places) {
  return std::to_string(rank) + " (host " + places[std::size_t(rank)].host +
         ")";
}

} // namespace

LinkWatch::LinkWatch(Comm &host, Comm &comm, const ProgramInfo &info,
                     const std::vector<RankPlace> &places, IdleMemory memory)
    : host(host), comm(comm), places(places), memory(memory), outliers({}) {
  // Those of equal predictions are of one kind: what a prediction is wrong by
  // differs between links that are not alike.
  std::map<double, int> kinds;
  std::vector<Outliers::Expected> expected;
  for (const LinkProbe &probe : info.link_probes) {
    Round round{probe.distance, std::min(probe.bytes, memory.bytes / 2),
                pairs.size(), 0};
    if (round.bytes < kLeastBytes)
      continue;
    const std::vector<double> seconds = seconds_of_pairs(probe);
    auto next = seconds.begin();
    for (int low = 0; low < host.size() && next != seconds.end(); ++low) {
      const int high = low ^ probe.distance;
      if (high < low || high >= host.size())
        continue;
      const double predicted = *next++;
      if (!is_link(places[std::size_t(low)], places[std::size_t(high)]))
        continue;
      const int kind =
          kinds.try_emplace(predicted, int(kinds.size())).first->second;
      pairs.push_back({low, high});
      expected.push_back({predicted, kind, /*least=*/predicted});
    }
    round.count = pairs.size() - round.first;
    if (round.count > 0)
      rounds.push_back(round);
  }
  outliers = Outliers(expected);
  times.resize(pairs.size() * kWindow);
  sent.reserve(1);
  received.reserve(1);
}

double LinkWatch::exchange(const Round &round) {
  const int rank = host.rank(), partner = rank ^ round.distance;
  finish_target();
  // Nobody waits for others from here on.
  host.barrier();
  if (partner >= host.size() ||
      !is_link(places[std::size_t(rank)], places[std::size_t(partner)]))
    return 0;
  auto *data = static_cast<std::byte *>(memory.data);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  // What is sent may only have been taken off this rank's hands: a byte comes
  // back when the partner has it.
  for (const int64_t bytes : {round.bytes, int64_t(1)}) {
    sent.assign(1, {partner, flat(data, DType::u8, bytes)});
    received.assign(1,
                    {partner, flat(data + memory.bytes / 2, DType::u8, bytes)});
    comm.wait(comm.exchange(kTask, kTag, sent, received));
  }
  finish_target();
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

void LinkWatch::connect() {
  for (const Round &round : rounds)
    exchange(round);
}

double LinkWatch::probe() { return exchange(rounds[now]); }

void LinkWatch::talked(double seconds, double since) {
  if (talks_left > 0) {
    --talks_left;
    return;
  }
  Round &round = rounds[now];
  round.seconds[round.windows++ % round.seconds.size()] = seconds;
  const auto known =
      std::ptrdiff_t(std::min(round.windows, round.seconds.size()));
  const double least =
      *std::min_element(round.seconds.begin(), round.seconds.begin() + known);
  talks_left = int64_t(
      std::min(least / std::max(since, kShortest) / kShare, kLongestRest));
  now = (now + 1) % rounds.size();
}

std::string LinkWatch::describe(const Outliers::Found &slow) const {
  const Pair &pair = pairs[slow.number];
  return "ranks " + rank_text(pair.low, places) + " and " +
         rank_text(pair.high, places) +
         format(": messages of %s take %.3g ms where %.3g ms is usual, behind "
                "%d steps and more; is a cable, port or switch between them "
                "faulty, or in use by others?",
                (with_prefix(double(rounds[now].bytes)) + "B").c_str(),
                slow.seconds * 1e3, slow.usual * 1e3, kWindow * kSlowWindows);
}

std::vector<std::string> LinkWatch::find_slow(const double *all) {
  const Round &round = rounds[now];
  // Who comes later sees less of the wait for the other.
  for (std::size_t pair = 0; pair < round.count; ++pair)
    for (std::size_t i = 0; i < kWindow; ++i) {
      const auto [low, high] = pairs[round.first + pair];
      times[pair * kWindow + i] =
          std::min(all[std::size_t(low) * kWindow + i],
                   all[std::size_t(high) * kWindow + i]);
    }
  const std::vector<Outliers::Found> &slow =
      outliers.find(times.data(), round.first, round.count);
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < std::min(slow.size(), kNamed); ++i)
    warnings.push_back(describe(slow[i]));
  if (slow.size() > kNamed)
    warnings.push_back("messages between " +
                       std::to_string(slow.size() - kNamed) +
                       " more pairs of ranks take as much longer");
  return warnings;
}

} // namespace ffrt
