//===- throttled_program.cpp - rings on links of a stated bandwidth -------===//
//
//   throttled_program ELEMENTS MBIT_PER_SECOND
//
// Ranks stand in a ring, each a node of its own, with a link to the next one
// and a link to the one before (throttled_links.py makes such a network). The
// same all-reduce goes by one ring and by two, one each way round; printed are
// the seconds that it takes and those that the planner predicts.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Algorithms.h"
#include "Collectives/ScheduleTime.h"
#include "ffc/Plan/Topology.h"

#include "ffrt/mpi.h"
#include "ffrt/schedule.h"
#include "planned.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

using namespace ffrt;
using ffc::plan::CollectiveSchedule;
using ffc::plan::MemberGraph;
using ffc::plan::RingOrder;
using ffc::plan::Topology;

namespace {

Topology ring_of(Comm &comm, const std::string &mbit_per_second) {
  std::string error;
  const auto topology = Topology::parse(
      "nodes:\n  count: " + std::to_string(comm.size()) +
          "\n  devices: 1 x cpu-core\n  nic: {count: 1, bandwidth: 100 GB/s, "
          "latency: 0 s}\n  network: {type: ring, bandwidth: " +
          mbit_per_second + " Mbit/s, latency: 50 us}\n",
      "test", error);
  if (!topology)
    comm.fail("test", error.c_str());
  return *topology;
}

CollectiveSchedule all_reduce_by(const std::vector<RingOrder> &rings) {
  const CollectiveSchedule gather = ffc::plan::ringsAllGather(rings);
  return allReduceBy(reversed(gather), gather);
}

/// The least of some runs: what else the machine does only adds to it.
double seconds_of(Comm &comm, ScheduledCollective &sum,
                  std::vector<float> &data) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRuns = 3;
  double least = HUGE_VAL;
  for (int run = 0; run < kRuns; ++run) {
    std::fill(data.begin(), data.end(), float(comm.rank() + 1));
    comm.barrier();
    const auto start = Clock::now();
    comm.wait(comm.scheduled("all-reduce", {&sum}));
    comm.barrier();
    least = std::min(
        least, std::chrono::duration<double>(Clock::now() - start).count());
    const float expected = float(comm.size() * (comm.size() + 1)) / 2;
    if (std::count(data.begin(), data.end(), expected) != int64_t(data.size()))
      comm.fail("all-reduce", "a sum is wrong");
  }
  return least;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "expected ELEMENTS and MBIT_PER_SECOND\n");
    return 2;
  }
  std::unique_ptr<Comm> comm = make_comm(Transport::mpi, /*deadline=*/60);
  std::vector<float> data(std::size_t(std::atoll(argv[1])));
  const Topology topology = ring_of(*comm, argv[2]);
  std::vector<int> ranks(std::size_t(comm->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const Group world = comm->make_group(ranks);
  const RingOrder there = ranks, back(ranks.rbegin(), ranks.rend());
  const MemberGraph graph(topology, {ranks.begin(), ranks.end()});
  for (const std::vector<RingOrder> &rings :
       {std::vector<RingOrder>{there}, {there, back}}) {
    const CollectiveSchedule made = all_reduce_by(rings);
    const auto time = timeOf(made, graph);
    ScheduledCollective sum(planned(made), world, *comm, flat(data, DType::f32),
                            flat(data, DType::f32), ReduceOp::sum);
    const double measured = seconds_of(*comm, sum, data);
    if (comm->rank() == 0)
      std::printf(
          "rings %zu measured %.6f predicted %.6f\n", rings.size(), measured,
          double(time.latency) * 1e-12 +
              double(data.size() * sizeof(float)) * time.secondsPerByte);
  }
  return 0;
}
