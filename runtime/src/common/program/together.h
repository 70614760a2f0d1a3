//===- together.h - stages that succeed on all ranks or none ----*- C++ -*-===//
#ifndef FFRT_COMMON_TOGETHER_H
#define FFRT_COMMON_TOGETHER_H

#include "ffrt/comm.h"

#include <exception>
#include <string>

namespace ffrt {

/// Thrown on all ranks after one of them has printed why the run ends.
struct Stop {
  int status;
};

/// A one-dimensional tensor of n elements at `data`.
Tensor flat(void *data, DType type, int64_t n);

/// Collective. With an empty cause on all ranks nothing happens; else the
/// lowest rank that has one prints it, and all throw Stop.
void agree(Comm &comm, const Group &world, const char *task,
           const std::string &cause);

/// Runs f on all ranks; an exception on any ends all of them in order, with one
/// message.
template <class F>
void together(Comm &comm, const Group &world, const char *task, F &&f) {
  std::string cause;
  try {
    f();
  } catch (const std::exception &e) {
    cause = e.what();
  }
  agree(comm, world, task, cause);
}

} // namespace ffrt

#endif // FFRT_COMMON_TOGETHER_H
