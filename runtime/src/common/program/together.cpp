//===- together.cpp - stages that succeed on all ranks or none ------------===//
#include "common/program/together.h"

#include "common/program/terminal.h"

namespace ffrt {

Tensor flat(void *data, DType type, int64_t n) {
  Tensor t;
  t.data = data;
  t.type = type;
  t.rank = 1;
  t.shape[0] = t.global[0] = n;
  return t;
}

void agree(Comm &comm, const Group &world, const char *task,
           const std::string &cause) {
  int32_t vote = cause.empty() ? 0 : comm.size() - comm.rank();
  const int32_t mine = vote;
  comm.wait(
      comm.all_reduce(task, world, flat(&vote, DType::i32, 1), ReduceOp::max));
  if (vote == 0)
    return;
  if (vote == mine) {
    print_error("error: rank " + std::to_string(comm.rank()) + ": " + task +
                ": " + cause);
  }
  // Launchers kill the other ranks when one exits non-zero: print first.
  comm.barrier();
  throw Stop{1};
}

} // namespace ffrt
