//===- scheduled_program.cpp - collectives by schedules, run on ranks -----===//
//
// Every algorithm of the planner, on all ranks and on some of them, in several
// networks, with numbers of elements that chunks do not divide: sums are right
// and equal on all ranks, to the bit, and what is read only stays as it was.
// With "missing" rank 1 leaves out its last transfer; with "in-order" an
// exchange begins when the one before has ended, as on a stream of NCCL.
//
//===----------------------------------------------------------------------===//

#include "Collectives/GroupSchedules.h"
#include "common/profiling/forwarding_comm.h"
#include "ffc/Plan/CollectiveSchedule.h"
#include "ffc/Plan/Topology.h"

#include "ffrt/bfloat16.h"
#include "ffrt/mpi.h"
#include "ffrt/schedule.h"
#include "planned.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using namespace ffrt;
using ffc::plan::CollectiveKind;
using ffc::plan::CollectiveSchedule;
using ffc::plan::Topology;

namespace {

void check(Comm &comm, bool holds, const std::string &what) {
  if (!holds)
    comm.fail("test", what.c_str());
}

/// What rank r has of element i. Sums depend on their order in every bit.
float given(int rank, int64_t i) {
  return std::sin(float(rank * 1000 + i)) * 3;
}

class InOrder final : public ForwardingComm {
public:
  using ForwardingComm::ForwardingComm;

  bool exchanges_in_order() const override { return true; }
  Event exchange(const char *task, int tag, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override {
    comm.wait(comm.exchange(task, tag, sends, receives));
    return {};
  }
};

class Checks {
public:
  Checks(Comm &comm, const Group &world) : comm(comm), world(world) {}

  void run(const CollectiveSchedule &made, const Group &group,
           bool leaves_out) {
    name = made.algorithm + " " + str(made.kind);
    schedule = planned(made);
    if (leaves_out && comm.rank() == 1)
      schedule.transfers.pop_back();
    const auto me =
        std::find(group.members.begin(), group.members.end(), comm.rank());
    for (int64_t part : {1, 7, 1000}) {
      if (me == group.members.end())
        continue;
      const int place = int(me - group.members.begin());
      if (made.kind == CollectiveKind::AllReduce)
        all_reduce(group, part * 3 + 1);
      else if (made.kind == CollectiveKind::AllGather)
        all_gather(group, place, part);
      else
        reduce_scatter(group, place, part);
    }
    comm.barrier();
    ++count;
  }

  int count = 0;

private:
  void all_reduce(const Group &group, int64_t elements) {
    std::vector<float> data;
    for (int64_t i = 0; i < elements; ++i)
      data.push_back(given(comm.rank(), i));
    std::vector<float> once = data;
    ScheduledCollective sum(schedule, group, comm, flat(data, DType::f32),
                            flat(data, DType::f32), ReduceOp::sum);
    for (int turn = 0; turn < 2; ++turn) { // the second one allocates nothing
      data = once;
      comm.wait(comm.scheduled("all-reduce", {&sum}));
      for (int64_t i = 0; i < elements; ++i)
        expect_sum(group, data[std::size_t(i)], i);
      equal_on_all(group, data);
    }
    ScheduledCollective largest(schedule, group, comm, flat(data, DType::f32),
                                flat(data, DType::f32), ReduceOp::max);
    data = once;
    comm.wait(comm.scheduled("maximum", {&largest}));
    for (int64_t i = 0; i < elements; ++i) {
      float most = given(group.members[0], i);
      for (int rank : group.members)
        most = std::max(most, given(rank, i));
      check(comm, data[std::size_t(i)] == most, name + ": maximum");
    }
    std::vector<BFloat16> narrow(std::size_t(elements), BFloat16(1.0f));
    ScheduledCollective ones(schedule, group, comm, flat(narrow, DType::bf16),
                             flat(narrow, DType::bf16), ReduceOp::sum);
    comm.wait(comm.scheduled("ones", {&ones}));
    for (BFloat16 one : narrow)
      check(comm, float(one) == float(group.members.size()),
            name + ": sum of bf16");
    as_one(group, elements);
  }

  /// Two of other sizes that start as one, with the same bits as one by one.
  void as_one(const Group &group, int64_t elements) {
    std::vector<float> alone[2], together[2];
    for (int i : {0, 1}) {
      for (int64_t e = 0; e < (i == 0 ? elements : 2); ++e)
        alone[i].push_back(given(comm.rank() + i, e));
      together[i] = alone[i];
      ScheduledCollective sum(schedule, group, comm, flat(alone[i], DType::f32),
                              flat(alone[i], DType::f32), ReduceOp::sum);
      comm.wait(comm.scheduled("alone", {&sum}));
    }
    ScheduledCollective first(schedule, group, comm,
                              flat(together[0], DType::f32),
                              flat(together[0], DType::f32), ReduceOp::sum),
        second(schedule, group, comm, flat(together[1], DType::f32),
               flat(together[1], DType::f32), ReduceOp::sum);
    comm.wait(comm.scheduled("together", {&first, &second}));
    for (int i : {0, 1})
      check(comm,
            std::memcmp(alone[i].data(), together[i].data(),
                        alone[i].size() * sizeof(float)) == 0,
            name + ": other bits of collectives that start as one");
  }

  void all_gather(const Group &group, int place, int64_t part) {
    const auto members = int64_t(group.members.size());
    std::vector<float> mine, whole(std::size_t(part * members), -1);
    for (int64_t i = 0; i < part; ++i)
      mine.push_back(given(comm.rank(), i));
    ScheduledCollective gather(schedule, group, comm, flat(mine, DType::f32),
                               flat(whole, DType::f32), ReduceOp::sum);
    comm.wait(comm.scheduled("all-gather", {&gather}));
    // Once more where the part lies in its place.
    std::vector<float> in_place(whole.size(), -1);
    std::copy(mine.begin(), mine.end(), in_place.begin() + place * part);
    std::vector<float> *all = &in_place;
    Tensor own = flat(*all, DType::f32);
    own.data = all->data() + place * part;
    own.shape[0] = own.global[0] = part;
    ScheduledCollective again(schedule, group, comm, own,
                              flat(in_place, DType::f32), ReduceOp::sum);
    comm.wait(comm.scheduled("all-gather in place", {&again}));
    for (int64_t m = 0; m < members; ++m)
      for (int64_t i = 0; i < part; ++i) {
        const float expected = given(group.members[std::size_t(m)], i);
        check(comm, whole[std::size_t(m * part + i)] == expected,
              name + ": a part");
        check(comm, in_place[std::size_t(m * part + i)] == expected,
              name + ": a part in place");
      }
  }

  void reduce_scatter(const Group &group, int place, int64_t part) {
    std::vector<float> whole, mine(std::size_t(part), -1);
    for (int64_t i = 0; i < part * int64_t(group.members.size()); ++i)
      whole.push_back(given(comm.rank(), i));
    const std::vector<float> before = whole;
    ScheduledCollective scatter(schedule, group, comm, flat(whole, DType::f32),
                                flat(mine, DType::f32), ReduceOp::sum);
    comm.wait(comm.scheduled("reduce-scatter", {&scatter}));
    for (int64_t i = 0; i < part; ++i)
      expect_sum(group, mine[std::size_t(i)], place * part + i);
    check(comm, whole == before, name + ": what was given has changed");
  }

  void expect_sum(const Group &group, float found, int64_t i) {
    double sum = 0;
    for (int rank : group.members)
      sum += double(given(rank, i));
    check(comm, std::abs(double(found) - sum) < 1e-5, name + ": a sum");
  }

  void equal_on_all(const Group &group, std::vector<float> &data) {
    const std::size_t n = data.size(), members = group.members.size();
    std::vector<float> all(n * members);
    comm.wait(comm.all_gather("compare", group, flat(data, DType::f32),
                              flat(all, DType::f32)));
    for (std::size_t m = 0; m < members; ++m)
      check(comm, std::memcmp(&all[m * n], data.data(), n * sizeof(float)) == 0,
            name + ": other bits than on another rank");
  }

  Comm &comm;
  const Group &world;
  std::string name;
  Schedule schedule;
};

Topology network(Comm &comm, const std::string &form) {
  std::string error;
  const auto topology = Topology::parse(
      "nodes:\n  count: " + std::to_string((comm.size() + 1) / 2) +
          "\n  devices: 2 x cpu-core\n  interconnect: {type: switch, "
          "bandwidth: 5 GB/s, latency: 1 us}\n  nic: {count: 1, bandwidth: 1 "
          "GB/s, latency: 1 us}\n  network: {" +
          form + "}\n",
      "test", error);
  if (!topology)
    comm.fail("test", error.c_str());
  return *topology;
}

} // namespace

int main(int argc, char **argv) {
  const std::unique_ptr<Comm> real = make_comm(chosen_transport());
  const std::string how = argc > 1 ? argv[1] : "";
  const bool leaves_out = how == "missing";
  InOrder ordered(*real);
  Comm *comm = how == "in-order" ? &ordered : real.get();
  std::vector<int> ranks(std::size_t(comm->size())), some;
  std::iota(ranks.begin(), ranks.end(), 0);
  for (int rank : ranks)
    if (rank % 3 != 1 || comm->size() < 4)
      some.push_back(rank);
  const Group world = comm->make_group(ranks);
  const Group part = comm->make_group(some);
  Checks checks(*comm, world);
  const std::string figures = ", bandwidth: 1 GB/s, latency: 1 us";
  for (const std::string &form :
       {std::string("type: switch"), "type: ring" + figures})
    for (const std::string &algorithm : ffc::plan::scheduleAlgorithms())
      for (const Group *group : {&world, &part}) {
        if (group->members.size() < 2 || comm->size() < 3)
          if (form != "type: switch")
            continue;
        const auto made = ffc::plan::schedulesOf(
            network(*comm, form),
            {group->members.begin(), group->members.end()}, algorithm);
        for (auto kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather,
                          CollectiveKind::ReduceScatter})
          for (const auto &timed : made.of(kind))
            checks.run(*timed.schedule, *group, leaves_out);
      }
  if (comm->rank() == 0)
    std::printf("%d schedules hold\n", checks.count);
  return 0;
}
