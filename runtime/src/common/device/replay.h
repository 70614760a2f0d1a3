//===- replay.h - starting the same work again ------------------*- C++ -*-===//
#ifndef FFRT_COMMON_REPLAY_H
#define FFRT_COMMON_REPLAY_H

#include "ffrt/context.h"

#include <functional>
#include <memory>

namespace ffrt {

/// Work that a step starts on the device. Where the target can, it is captured
/// once and then started as a whole, without a word from the host.
class Replay {
public:
  Replay();
  ~Replay();
  Replay(Replay &&) noexcept;

  /// Calls `work`, or starts again what it started when it was called before.
  /// That must be the same, on the same memory, but for what the context's
  /// numbers say: kernels read them on the device.
  void run(const Context &cx, const std::function<void()> &work);

private:
  struct Impl; ///< of the target
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_COMMON_REPLAY_H
