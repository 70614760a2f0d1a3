//===- clock.cpp - one clock for all ranks --------------------------------===//
#include "common/profiling/clock.h"

#include "common/device/machine_id.h"
#include "common/program/together.h"
#include "ffrt/trace.h"

namespace ffrt {

namespace {

constexpr int kTag = 7002, kRounds = 32;

void send(Comm &comm, int peer, int64_t value) {
  comm.wait(
      comm.exchange("clock", kTag, {{peer, flat(&value, DType::i64, 1)}}, {}));
}

int64_t receive(Comm &comm, int peer) {
  int64_t value = 0;
  comm.wait(
      comm.exchange("clock", kTag, {}, {{peer, flat(&value, DType::i64, 1)}}));
  return value;
}

/// With rank 0, which answers with its time. The answer of the shortest round
/// trip was given about in the middle of it.
int64_t measure(Comm &comm) {
  int64_t shortest = INT64_MAX, offset = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin = Trace::now();
    send(comm, 0, 0);
    const int64_t theirs = receive(comm, 0);
    const int64_t end = Trace::now();
    if (end - begin < shortest) {
      shortest = end - begin;
      offset = begin + (end - begin) / 2 - theirs;
    }
  }
  return offset;
}

void answer(Comm &comm, int peer) {
  for (int round = 0; round < kRounds; ++round) {
    receive(comm, peer);
    send(comm, peer, Trace::now());
  }
}

} // namespace

int64_t clock_offset(Comm &comm, const Group &world) {
  int64_t mine = machine_id(comm.rank());
  std::vector<int64_t> machines(std::size_t(comm.size()));
  comm.wait(comm.all_gather("clock", world, flat(&mine, DType::i64, 1),
                            flat(machines.data(), DType::i64, comm.size())));
  if (comm.rank() > 0)
    return mine == machines[0] ? 0 : measure(comm);
  for (int peer = 1; peer < comm.size(); ++peer)
    if (machines[std::size_t(peer)] != mine)
      answer(comm, peer);
  return 0;
}

} // namespace ffrt
