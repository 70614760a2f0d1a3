//===- replay.cpp - starting the same work again --------------------------===//
#include "common/device/replay.h"

namespace ffrt {

struct Replay::Impl {};

Replay::Replay() = default;
Replay::~Replay() = default;
Replay::Replay(Replay &&) noexcept = default;

void Replay::run(const Context &, const std::function<void()> &work) { work(); }

} // namespace ffrt
