//===- timestamps.h - when the device reaches points of work ----*- C++ -*-===//
#ifndef FFRT_COMMON_TIMESTAMPS_H
#define FFRT_COMMON_TIMESTAMPS_H

#include <cstdint>
#include <memory>
#include <vector>

namespace ffrt {

/// Points between the tasks of a step, and when the device reaches them. A host
/// has done what it started, so that it reads a clock; a GPU records the time
/// by itself, in its stream, also in what is captured: timestamps of a capture
/// are recorded anew in every replay.
class Timestamps {
public:
  /// Nanoseconds.
  using Clock = int64_t (*)();

  /// `clock` is read where the target is the host.
  explicit Timestamps(Clock clock);
  ~Timestamps();
  Timestamps(const Timestamps &) = delete;
  Timestamps &operator=(const Timestamps &) = delete;

  /// No more than so many are recorded without allocating.
  void reserve(std::size_t count);

  /// The next timestamp is number `next` again. Those behind it stay, since a
  /// replay records them, until others take their numbers.
  void restart(int next);
  /// Records a timestamp behind all that was started; gives its number. What
  /// starts together with other work (ffrt/cuda/device.h) divides the time of
  /// both by `weight`.
  int record(double weight = 0);
  /// A timestamp where the next task begins: the last one where tasks follow
  /// each other without the host, so that the time between them belongs to the
  /// later.
  int begin();

  /// The times recorded last, in nanoseconds of the clock, or of Trace::now,
  /// without what replayed ones add. Waits for the device.
  const std::vector<int64_t> &times();

  /// What a timestamp adds to the time of a replay; a host has none.
  static double seconds_added();

private:
  struct Impl; ///< of the target
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_COMMON_TIMESTAMPS_H
