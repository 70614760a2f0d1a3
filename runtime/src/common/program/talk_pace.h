//===- talk_pace.h - after which steps the ranks talk -----------*- C++ -*-===//
#ifndef FFRT_COMMON_TALK_PACE_H
#define FFRT_COMMON_TALK_PACE_H

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ffrt {

/// Ranks that have something to ask each other after steps do so only every few
/// of them, so that it takes no time that counts: some 20 times a second, and
/// at least every 200 steps. The same on all ranks.
class TalkPace {
public:
  using Clock = std::chrono::steady_clock;

  /// After every step: is it time to talk?
  bool is_due() { return ++steps >= wait; }
  /// How many steps fit into an interval, as this rank sees it.
  int64_t fitting() const {
    const double since =
        std::chrono::duration<double>(Clock::now() - talked).count();
    return int64_t(double(steps) * kInterval /
                   std::max(since, kInterval / 1e4));
  }
  /// They have: the largest of what fitting() was on all ranks.
  void talk(int64_t most_fitting) {
    steps = 0;
    talked = Clock::now();
    wait = std::clamp<int64_t>(most_fitting, 1, kMostSteps);
  }

private:
  static constexpr double kInterval = 0.05; ///< seconds between two talks
  static constexpr int64_t kMostSteps = 200;
  Clock::time_point talked = Clock::now();
  int64_t wait = 1;  ///< steps until the ranks talk
  int64_t steps = 0; ///< since they did
};

} // namespace ffrt

#endif // FFRT_COMMON_TALK_PACE_H
