//===- profile_links.cpp - times of communication by size -----------------===//
#include "cpu/profile_links.h"

#include "common/memory.h"
#include "common/together.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace ffrt {

namespace {

constexpr int64_t kLeastBytes = 256;
constexpr int kFactor = 4; ///< from size to size
/// Repetitions by size.
constexpr int64_t kTotalBytes = int64_t(256) << 20;
constexpr int64_t kFewest = 7, kMost = 101;
/// All sizes of groups up to this many ranks, beyond it those that divide the
/// number of ranks.
constexpr int kAllSizes = 8;

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class LinkProfiler {
public:
  LinkProfiler(Comm &comm, const Group &world, const Speed &reference,
               int64_t largest)
      : comm(comm), world(world), reference(reference), largest(largest),
        memory(2 * largest), a(reinterpret_cast<float *>(memory.data())),
        b(a + largest / 4) {}

  std::vector<LinkProfile> run() {
    std::vector<LinkProfile> all;
    if (comm.size() > 1) {
      all.push_back(sweep("message", 2, [&](int64_t n) { message(n); }));
      all.push_back(sweep("exchange", 2, [&](int64_t n) { exchange(n); }));
    }
    for (int members = 2; members <= comm.size(); ++members)
      if (comm.size() <= kAllSizes || comm.size() % members == 0)
        collectives(members, all);
    return all;
  }

private:
  Tensor whole(int64_t n) { return flat(a, DType::f32, n); }
  Tensor part(int64_t n, int64_t parts) {
    return flat(b, DType::f32, n / parts);
  }

  /// One of two neighbours sends.
  void message(int64_t n) {
    const int peer = comm.rank() ^ 1;
    if (peer >= comm.size())
      return;
    if (comm.rank() < peer)
      comm.wait(comm.exchange("profile", 1, {{peer, whole(n)}}, {}));
    else
      comm.wait(comm.exchange("profile", 1, {}, {{peer, part(n, 1)}}));
  }
  /// Both send.
  void exchange(int64_t n) {
    const int peer = comm.rank() ^ 1;
    if (peer < comm.size())
      comm.wait(comm.exchange("profile", 1, {{peer, whole(n)}},
                              {{peer, part(n, 1)}}));
  }

  /// As many groups at once as there are ranks for.
  void collectives(int members, std::vector<LinkProfile> &all) {
    Group mine;
    for (int first = 0; first + members <= comm.size(); first += members) {
      std::vector<int> ranks;
      for (int i = 0; i < members; ++i)
        ranks.push_back(first + i);
      const Group group = comm.make_group(ranks);
      if (comm.rank() >= first && comm.rank() < first + members)
        mine = group;
    }
    auto add = [&](const char *name, const std::function<void(int64_t)> &call) {
      all.push_back(sweep(name, members, [&](int64_t n) {
        if (!mine.members.empty())
          call(n / members * members);
      }));
    };
    add("all_reduce", [&](int64_t n) {
      comm.wait(comm.all_reduce("profile", mine, whole(n), ReduceOp::sum));
    });
    add("all_gather", [&](int64_t n) {
      comm.wait(comm.all_gather("profile", mine, part(n, members), whole(n)));
    });
    add("reduce_scatter", [&](int64_t n) {
      comm.wait(comm.reduce_scatter("profile", mine, whole(n), part(n, members),
                                    ReduceOp::sum));
    });
    add("broadcast", [&](int64_t n) {
      comm.wait(comm.broadcast("profile", mine, 0, whole(n)));
    });
  }

  LinkProfile sweep(const char *name, int members,
                    const std::function<void(int64_t)> &call) {
    LinkProfile profile{name, members, {}};
    for (int64_t bytes = kLeastBytes; bytes <= largest; bytes *= kFactor) {
      Duration time = measure(bytes / 4, call);
      // Noise must not make larger ones faster.
      if (!profile.sizes.empty())
        time.median = std::max(time.median, profile.sizes.back().time.median);
      profile.sizes.push_back({bytes, time});
    }
    return profile;
  }

  Duration measure(int64_t n, const std::function<void(int64_t)> &call) {
    const int64_t repeats =
        std::clamp(kTotalBytes / (4 * n), kFewest, kMost) + 1;
    std::vector<double> times;
    const Speed before = speed();
    for (int64_t i = 0; i < repeats; ++i) {
      // In a step a kernel has just written what is sent.
      std::fill_n(a, n, 1.0f);
      std::fill_n(b, n, 1.0f);
      comm.barrier();
      const double start = now();
      call(n);
      times.push_back(now() - start);
    }
    const Speed after = speed();
    // An operation takes as long as on the slowest rank.
    comm.wait(comm.all_reduce("profile", world,
                              flat(times.data(), DType::f64, repeats),
                              ReduceOp::max));
    times.erase(times.begin()); // the first one warms up
    double slow =
        (slowdown(before, reference) + slowdown(after, reference)) / 2;
    comm.wait(comm.all_reduce("profile", world, flat(&slow, DType::f64, 1),
                              ReduceOp::max));
    for (double &time : times)
      time /= slow;
    return duration_of(times);
  }

  Speed speed() {
    comm.barrier();
    return probe.measure();
  }

  Comm &comm;
  const Group &world;
  const Speed &reference;
  int64_t largest;
  GuardedMemory memory; ///< as that of a step: large pages are copied faster
  float *a, *b;
  SpeedProbe probe;
};

} // namespace

std::vector<LinkProfile> profile_links(Comm &comm, const Group &world,
                                       const Speed &reference,
                                       int64_t largest) {
  return LinkProfiler(comm, world, reference, largest).run();
}

} // namespace ffrt
