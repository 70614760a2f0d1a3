//===- comm_program.cpp - checks of the MPI transport on 3 ranks ----------===//
//
// Values are small integers, exact in floating point. With an argument it fails
// on purpose, for tests of messages: "abort", "blocks", "stranger".
//
//===----------------------------------------------------------------------===//
#include "ffrt/mpi.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace ffrt;

namespace {

Tensor flat(void *data, DType type, int64_t n) {
  Tensor t;
  t.data = data;
  t.type = type;
  t.rank = 1;
  t.shape[0] = t.global[0] = n;
  return t;
}
Tensor flat(std::vector<float> &v) {
  return flat(v.data(), DType::f32, int64_t(v.size()));
}

void check(Comm &comm, bool holds, const char *what) {
  if (!holds)
    comm.fail("test", what);
}

void exchanges(Comm &comm) {
  const int r = comm.rank(), n = comm.size();
  const int next = (r + 1) % n, before = (r + n - 1) % n;
  for (int round = 0; round < 3; ++round) {
    // Two messages to the same peer, one to itself, both ways in flight, large
    // enough for the rendezvous protocol.
    std::vector<float> a(300000, float(r)), b(7, float(10 * r + round));
    std::vector<float> a2(300000), b2(7), self(7);
    Event event = comm.exchange(
        "ring", 5, {{next, flat(a)}, {next, flat(b)}, {r, flat(b)}},
        {{before, flat(a2)}, {before, flat(b2)}, {r, flat(self)}});
    Event nothing = comm.exchange("nothing", 6, {}, {});
    comm.wait(nothing);
    comm.wait(event);
    check(comm, a2.front() == float(before) && a2.back() == float(before),
          "large message");
    check(comm, b2[6] == float(10 * before + round), "small message");
    check(comm, self[0] == b[0], "message to self");
  }
}

void collectives(Comm &comm) {
  const int r = comm.rank(), n = comm.size();
  const Group all = comm.make_group({0, 1, 2});
  const Group pair = comm.make_group({0, 2});
  for (int64_t size : {1, 1000, 100003}) {
    std::vector<float> v(static_cast<std::size_t>(size));
    for (int64_t i = 0; i < size; ++i)
      v[i] = float(i % 100 + r);
    comm.wait(comm.all_reduce("sum", all, flat(v), ReduceOp::sum));
    for (int64_t i = 0; i < size; ++i)
      check(comm, v[i] == float(3 * (i % 100) + 3), "all-reduce sum");
    std::vector<float> part(v.begin(), v.end()), whole(3 * part.size());
    for (float &x : part)
      x = float(r);
    comm.wait(comm.all_gather("gather", all, flat(part), flat(whole)));
    for (int i = 0; i < n; ++i)
      check(comm, whole[i * part.size()] == float(i), "all-gather");
    // In place: the part is its own block.
    for (int i = 0; i < n; ++i)
      whole[i * part.size()] = i == r ? float(r + 5) : -1.0f;
    comm.wait(comm.all_gather(
        "gather in place", all,
        flat(whole.data() + r * part.size(), DType::f32, size), flat(whole)));
    for (int i = 0; i < n; ++i)
      check(comm, whole[i * part.size()] == float(i + 5),
            "all-gather in place");
    for (float &x : whole)
      x = float(r + 1);
    comm.wait(comm.reduce_scatter("scatter", all, flat(whole), flat(part),
                                  ReduceOp::sum));
    check(comm, part.front() == 6.0f && part.back() == 6.0f, "reduce-scatter");
    std::vector<float> root(part.size(), float(r));
    comm.wait(comm.broadcast("broadcast", all, 1, flat(root)));
    check(comm, root.back() == 1.0f, "broadcast");
  }
  if (r != 1) {
    int32_t v[2] = {r, -r};
    comm.wait(
        comm.all_reduce("max", pair, flat(v, DType::i32, 2), ReduceOp::max));
    check(comm, v[0] == 2 && v[1] == 0, "all-reduce max of a pair");
  }
  // Inexact sums: the bits agree on all ranks.
  std::vector<float> v(10007);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = 1.0f / float(i + 3 + 7 * std::size_t(r));
  comm.wait(comm.all_reduce("bits", all, flat(v), ReduceOp::sum));
  std::vector<float> everyones(3 * v.size());
  comm.wait(comm.all_gather("bits", all, flat(v), flat(everyones)));
  for (int i = 0; i < n; ++i)
    check(comm,
          std::memcmp(v.data(), everyones.data() + i * v.size(),
                      v.size() * sizeof(float)) == 0,
          "same bits on all ranks");
}

} // namespace

int main(int argc, char **argv) {
  std::unique_ptr<Comm> comm = make_mpi_comm();
  const std::string mode = argc > 1 ? argv[1] : "";
  check(*comm, comm->size() == 3, "expected 3 ranks");
  check(*comm, launched() && launched_rank() == comm->rank(), "launched rank");
  check(*comm, set_threads() >= 1, "threads");
  if (mode == "abort" && comm->rank() == 1)
    comm->fail("layer 7", "expected peace, found war");
  if (mode == "blocks") {
    const Group all = comm->make_group({0, 1, 2});
    std::vector<float> part(2), whole(5);
    comm->all_gather("layer 8", all, flat(part), flat(whole));
  }
  if (mode == "stranger") {
    const Group pair = comm->make_group({0, 2});
    std::vector<float> v(1);
    comm->all_reduce("layer 9", pair, flat(v), ReduceOp::sum);
  }
  comm->barrier();
  exchanges(*comm);
  collectives(*comm);
  if (comm->rank() == 0)
    std::puts("all checks hold");
  return 0;
}
