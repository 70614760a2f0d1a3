//===- talk_pace.h - after which steps the ranks talk -----------*- C++ -*-===//
#ifndef FFRT_COMMON_TALK_PACE_H
#define FFRT_COMMON_TALK_PACE_H

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ffrt {

/// Ranks that have something to ask each other after steps do so only every few
/// of them, so that it takes no time that counts. The same on all ranks.
class TalkPace {
public:
  using Clock = std::chrono::steady_clock;

  /// Once in `interval` seconds, but every `least` to `most` steps; first after
  /// `least`.
  explicit TalkPace(double interval = 0.05, int64_t least = 1,
                    int64_t most = 200)
      : interval(interval), least(least), most(most), wait(least) {}

  /// After every step: is it time to talk?
  bool is_due() { return ++steps >= wait; }
  /// Steps until that is so, with the one that runs.
  int64_t left() const { return wait - steps; }
  /// How many steps fit into an interval, as this rank sees it.
  double fitting() const {
    const double since =
        std::chrono::duration<double>(Clock::now() - talked).count();
    return double(steps) * interval / std::max(since, interval / 1e4);
  }
  /// They have: the largest of what fitting() was on all ranks.
  void talk(double most_fitting) {
    steps = 0;
    talked = Clock::now();
    wait = std::clamp(int64_t(most_fitting), least, most);
  }

private:
  const double interval;
  const int64_t least, most;
  Clock::time_point talked = Clock::now();
  int64_t wait;      ///< steps until the ranks talk
  int64_t steps = 0; ///< since they did
};

} // namespace ffrt

#endif // FFRT_COMMON_TALK_PACE_H
