//===- profile_links.cpp - times of communication by size -----------------===//
#include "common/profiling/profile_links.h"

#include "common/device/replay.h"
#include "common/program/together.h"
#include "ffrt/copy.h"
#include "ffrt/trace.h"

#include <algorithm>

namespace ffrt {

namespace {

constexpr int64_t kLeastBytes = 256;
constexpr int kFactor = 4; ///< from size to size
/// Repetitions by size and round.
constexpr int64_t kTotalBytes = int64_t(64) << 20;
constexpr int64_t kFewest = 3, kMost = 25;
/// All sizes of groups up to this many ranks, beyond it those that divide the
/// number of ranks.
constexpr int kAllSizes = 8;

} // namespace

LinkProfiler::LinkProfiler(Comm &host, const Group &world, int64_t largest,
                           int64_t memory_bytes)
    : host(host), world(world), largest(largest),
      half(std::min(largest, memory_bytes / 2)),
      device_comm(make_device_comm(host, world)),
      comm(device_comm.comm ? *device_comm.comm : host),
      timestamps(Trace::now) {
  for (int64_t bytes = kLeastBytes; bytes <= largest; bytes *= kFactor)
    sizes.push_back(bytes);
  if (comm.size() == 1)
    return;
  // As programs have what collectives read and write.
  const Allocate &symmetric = device_comm.allocate_symmetric;
  together(host, world, "communication", [&] {
    memory = std::make_unique<GuardedMemory>(
        2 * largest, symmetric ? symmetric : Allocate(allocate));
  });
  add("message", 2, [this](int64_t n) { message(n); });
  add("exchange", 2, [this](int64_t n) { exchange(n); });
  for (int members = 2; members <= comm.size(); ++members)
    if (comm.size() <= kAllSizes || comm.size() % members == 0)
      add_collectives(members);
}

void LinkProfiler::add(const char *name, int members,
                       std::function<void(int64_t)> call) {
  operations.push_back({name, members, std::move(call),
                        std::vector<std::vector<double>>(sizes.size())});
}

/// As many groups at once as there are ranks for.
void LinkProfiler::add_collectives(int members) {
  Group mine;
  for (int first = 0; first + members <= comm.size(); first += members) {
    std::vector<int> ranks;
    for (int i = 0; i < members; ++i)
      ranks.push_back(first + i);
    const Group group = comm.make_group(ranks);
    if (comm.rank() >= first && comm.rank() < first + members)
      mine = group;
  }
  auto add_collective = [&](const char *name, auto call) {
    add(name, members, [mine, members, call](int64_t n) {
      if (!mine.members.empty())
        call(mine, n / members * members);
    });
  };
  add_collective("all_reduce", [this](const Group &group, int64_t n) {
    comm.wait(comm.all_reduce("profile", group, whole(n), ReduceOp::sum));
  });
  add_collective("all_gather", [this, members](const Group &group, int64_t n) {
    comm.wait(comm.all_gather("profile", group, part(n, members), whole(n)));
  });
  add_collective(
      "reduce_scatter", [this, members](const Group &group, int64_t n) {
        comm.wait(comm.reduce_scatter("profile", group, whole(n),
                                      part(n, members), ReduceOp::sum));
      });
  add_collective("broadcast", [this](const Group &group, int64_t n) {
    comm.wait(comm.broadcast("profile", group, 0, whole(n)));
  });
}

Tensor LinkProfiler::whole(int64_t n) const { return flat(a, DType::f32, n); }

Tensor LinkProfiler::part(int64_t n, int64_t parts) const {
  return flat(b, DType::f32, n / parts);
}

/// One of two neighbours sends.
void LinkProfiler::message(int64_t n) {
  const int peer = comm.rank() ^ 1;
  if (peer >= comm.size())
    return;
  if (comm.rank() < peer)
    comm.wait(comm.exchange("profile", 1, {{peer, whole(n)}}, {}));
  else
    comm.wait(comm.exchange("profile", 1, {}, {{peer, part(n, 1)}}));
}

/// Both send.
void LinkProfiler::exchange(int64_t n) {
  const int peer = comm.rank() ^ 1;
  if (peer < comm.size())
    comm.wait(
        comm.exchange("profile", 1, {{peer, whole(n)}}, {{peer, part(n, 1)}}));
}

void LinkProfiler::measure() {
  for (Operation &operation : operations)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::vector<double> more = measure(sizes[i] / 4, operation);
      operation.times[i].insert(operation.times[i].end(), more.begin(),
                                more.end());
    }
}

void LinkProfiler::move_buffers(int64_t bytes) {
  at = at + 2 * bytes > half ? 0 : at + bytes;
  a = reinterpret_cast<float *>(memory->data() + at);
  b = reinterpret_cast<float *>(memory->data() + largest + at);
}

void LinkProfiler::repeat(int64_t n, const Operation &operation,
                          int64_t times) {
  timestamps.restart(0);
  for (int64_t i = 0; i < times; ++i) {
    move_buffers(4 * n);
    // In a step a kernel has just written what is sent.
    fill(whole(n), 1.0f);
    // What is replayed meets by itself.
    if (!device_comm.replays)
      comm.barrier();
    timestamps.record();
    operation.call(n);
    timestamps.record();
  }
}

std::vector<double> LinkProfiler::measure(int64_t n,
                                          const Operation &operation) {
  const int64_t repeats = std::clamp(kTotalBytes / (4 * n), kFewest, kMost) + 1;
  auto work = [&] { repeat(n, operation, repeats); };
  if (device_comm.replays) {
    Replay replay;
    for (int i = 0; i < 2; ++i) {
      comm.barrier();
      replay.run(Context(), work);
      device_comm.watch_replay();
    }
    comm.barrier();
  } else {
    work();
  }
  const std::vector<int64_t> &recorded = timestamps.times();
  std::vector<double> times;
  for (std::size_t i = 0; i < std::size_t(2 * repeats); i += 2)
    times.push_back(double(recorded[i + 1] - recorded[i]) * 1e-9);
  // An operation takes as long as on the slowest rank.
  host.wait(host.all_reduce("profile", world,
                            flat(times.data(), DType::f64, repeats),
                            ReduceOp::max));
  times.erase(times.begin()); // the first one warms up
  return times;
}

std::vector<LinkProfile> LinkProfiler::result() const {
  std::vector<LinkProfile> all;
  for (const Operation &operation : operations) {
    LinkProfile profile{operation.name, operation.members, {}};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Duration time = duration_of(operation.times[i]);
      // Noise must not make larger ones faster.
      if (i > 0)
        time.median = std::max(time.median, profile.sizes.back().time.median);
      profile.sizes.push_back({sizes[i], time});
    }
    all.push_back(std::move(profile));
  }
  return all;
}

} // namespace ffrt
