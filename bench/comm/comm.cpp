//===- comm.cpp - times the operations of Comm ----------------------------===//
//
// Prints a line per operation and size: the median and the smallest time of a
// call, as the slowest rank sees it. The buffer is of that size: of all_gather
// and reduce_scatter the whole one, of exchange what a rank sends to the next.
// Run by bench/comm/run.
//
//===----------------------------------------------------------------------===//
#include "ffrt/mpi.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

using namespace ffrt;

namespace {

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

Tensor flat(float *data, int64_t n) {
  Tensor t;
  t.data = data;
  t.rank = 1;
  t.shape[0] = t.global[0] = n;
  return t;
}

struct Times {
  double median, smallest;
};

Times time_of(Comm &comm, const Group &all, const std::function<void()> &call,
              int repeats) {
  std::vector<float> times;
  call();
  call();
  for (int i = 0; i < repeats; ++i) {
    comm.barrier();
    const double start = now();
    call();
    times.push_back(float(now() - start));
  }
  comm.wait(comm.all_reduce("times", all, flat(times.data(), repeats),
                            ReduceOp::max));
  std::sort(times.begin(), times.end());
  return {times[std::size_t(repeats) / 2], times[0]};
}

} // namespace

int main(int argc, char **argv) {
  std::unique_ptr<Comm> comm = make_comm(chosen_transport());
  set_threads(*comm);
  const int64_t rank = comm->rank(), ranks = comm->size();
  std::vector<int> everyone(static_cast<std::size_t>(ranks));
  std::iota(everyone.begin(), everyone.end(), 0);
  const Group all = comm->make_group(everyone);

  const int64_t largest = argc > 1 ? std::atoll(argv[1]) : 64 << 20;
  const int next = int((rank + 1) % ranks);
  const int before = int((rank + ranks - 1) % ranks);
  std::vector<float> a(std::size_t(largest) / 4), b(a);
  for (int64_t bytes = 4096; bytes <= largest; bytes *= 4) {
    const int64_t n = bytes / 4 / ranks * ranks, part = n / ranks;
    const Tensor whole = flat(a.data(), n), block = flat(b.data(), part);
    const std::pair<const char *, std::function<void()>> operations[] = {
        {"all_reduce",
         [&] {
           comm->wait(comm->all_reduce("bench", all, whole, ReduceOp::sum));
         }},
        {"reduce_scatter",
         [&] {
           comm->wait(
               comm->reduce_scatter("bench", all, whole, block, ReduceOp::sum));
         }},
        {"all_gather",
         [&] { comm->wait(comm->all_gather("bench", all, block, whole)); }},
        {"broadcast",
         [&] { comm->wait(comm->broadcast("bench", all, 0, whole)); }},
        {"exchange", [&] {
           comm->wait(comm->exchange("bench", 1, {{next, whole}},
                                     {{before, flat(b.data(), n)}}));
         }}};
    const int repeats = int(std::clamp<int64_t>((256 << 20) / bytes, 11, 301));
    for (const auto &[name, call] : operations) {
      const Times t = time_of(*comm, all, call, repeats);
      if (rank == 0)
        std::printf("%-15s %lld %10lld %12.2f %12.2f us\n", name,
                    (long long)ranks, (long long)(n * 4), t.median * 1e6,
                    t.smallest * 1e6);
    }
    std::fflush(stdout);
  }
  return 0;
}
