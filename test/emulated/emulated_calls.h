//===- emulated_calls.h - calls that CUDA would get -----------*- C++ -*-===//
#ifndef FFRT_EMULATED_CALLS_H
#define FFRT_EMULATED_CALLS_H

#include "calls.h"

namespace ffrt::emulated {

/// Where FFC_CALLS asks for them (bench/gpu/calls.h); null: nobody does.
inline Calls *calls() {
  static Calls *const counted = [] {
    Calls *const all = std::getenv("FFC_CALLS") ? &Calls::all() : nullptr;
    if (all)
      std::atexit([] { Calls::all().write(); });
    return all;
  }();
  return counted;
}

/// `name` is that of CUDA's runtime.
inline void count(const char *name) {
  if (Calls *const all = calls())
    all->called(name);
}

} // namespace ffrt::emulated

#endif // FFRT_EMULATED_CALLS_H
