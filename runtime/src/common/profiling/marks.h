//===- marks.h - when the device passes points of its work ------*- C++ -*-===//
#ifndef FFRT_COMMON_MARKS_H
#define FFRT_COMMON_MARKS_H

#include <cstdint>
#include <memory>
#include <vector>

namespace ffrt {

/// Points between the tasks of a step, and when the device passes them. A host
/// has done what it started, so that it reads a clock; a GPU notes the time by
/// itself, in its stream, also in what is captured: marks that were set during
/// a capture are passed in every replay.
class Marks {
public:
  /// Nanoseconds.
  using Clock = int64_t (*)();

  /// `clock` is read where the target is the host.
  explicit Marks(Clock clock);
  ~Marks();
  Marks(const Marks &) = delete;
  Marks &operator=(const Marks &) = delete;

  /// No more than so many are set without allocating.
  void reserve(std::size_t count);

  /// The next mark is number `next` again. Those behind it stay, since a replay
  /// passes them, until they are set again.
  void restart(int next);
  /// Sets a mark behind all that was started; gives its number. What starts
  /// together with other work (ffrt/cuda/device.h) divides the time of both by
  /// `weight`.
  int set(double weight = 0);
  /// A mark where the next task begins: the last one where tasks follow each
  /// other without the host, so that the time between them belongs to the
  /// later.
  int begin();

  /// When the marks were passed the last time, in nanoseconds of the clock, or
  /// of Trace::now: without what those add that are replayed. Waits for the
  /// device.
  const std::vector<int64_t> &times();

  /// What a mark adds to the time of a replay; a host has none.
  static double seconds_added();

private:
  struct Impl; ///< of the target
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_COMMON_MARKS_H
