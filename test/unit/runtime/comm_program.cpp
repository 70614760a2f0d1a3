//===- comm_program.cpp - checks of the transports on 3 ranks -------------===//
//
// With LOCAL_RANKS it starts its ranks itself.
//
// Values are small integers, exact in floating point. With an argument it fails
// on purpose, for tests of messages: "abort", "blocks", "stranger", "size",
// "killed", "gone".
//
//===----------------------------------------------------------------------===//
#ifdef LOCAL_RANKS
#include "comm/launch.h"
#endif
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <unistd.h>
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

/// Several exchanges under way, waited for in any order, with messages of all
/// sizes between all pairs, collectives in between.
void many_exchanges(Comm &comm, const Group &all) {
  constexpr int kRounds = 40, kAtOnce = 3;
  const int r = comm.rank(), n = comm.size();
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<float>> buffers;
    std::vector<std::pair<const float *, float>> expected;
    std::vector<Event> events;
    for (int tag = 0; tag < kAtOnce; ++tag) {
      std::vector<Message> sends, receives;
      for (int i = 0; i < 8; ++i) {
        const int from = int(random() % unsigned(n));
        const int to = int(random() % unsigned(n));
        const std::size_t size = (random() % 200000) >> (random() % 17);
        const float value = float(random() % 1000);
        if (r == from) {
          buffers.emplace_back(size, value);
          sends.push_back({to, flat(buffers.back())});
        }
        if (r == to) {
          buffers.emplace_back(size, -1.0f);
          receives.push_back({from, flat(buffers.back())});
          if (size > 0) {
            expected.emplace_back(buffers.back().data(), value);
            expected.emplace_back(&buffers.back().back(), value);
          }
        }
      }
      events.push_back(comm.exchange("many", tag, sends, receives));
    }
    float one = 1.0f;
    comm.wait(
        comm.all_reduce("meet", all, flat(&one, DType::f32, 1), ReduceOp::sum));
    check(comm, one == float(n), "all-reduce during exchanges");
    std::shuffle(events.begin(), events.end(), std::mt19937(unsigned(round)));
    for (Event event : events)
      comm.wait(event);
    for (auto [at, value] : expected)
      check(comm, *at == value, "one of many messages");
  }
}

/// By either algorithm, and larger than one of them allows.
void algorithms(Comm &comm, const Group &all) {
  const int64_t most = kOneShotBytes / comm.size() / int64_t(sizeof(float));
  for (CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::one_shot, CollectiveAlgorithm::two_shot})
    for (int64_t size : {int64_t(1), most}) {
      std::vector<float> v(std::size_t(size), float(comm.rank()));
      comm.wait(comm.all_reduce("sum", all, flat(v), ReduceOp::sum, algorithm));
      check(comm, v.front() == 3.0f && v.back() == 3.0f,
            "all-reduce by either");
    }
  std::vector<float> large(std::size_t(most) + 1, 1.0f);
  try {
    comm.wait(comm.all_reduce("sum", all, flat(large), ReduceOp::sum,
                              CollectiveAlgorithm::one_shot));
    check(comm, large.front() == 3.0f, "all-reduce that needs no shots");
  } catch (const Error &error) {
    check(comm,
          error.what() ==
              std::string("expected at most 16384 bytes of all ranks for an "
                          "all-reduce in one shot, found 16392 (an internal "
                          "fault)"),
          "message about one shot");
  }
}

void collectives(Comm &comm, const Group &all) {
  const int r = comm.rank(), n = comm.size();
  const Group pair = comm.make_group({0, 2});
  for (int64_t size : {1, 1000, 1366, 100003, 700001}) {
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
    check(comm, part[part.size() / 2] == 6.0f, "reduce-scatter");
    std::vector<float> root(part.size(), float(r));
    comm.wait(comm.broadcast("broadcast", all, 1, flat(root)));
    check(comm, root.front() == 1.0f && root.back() == 1.0f, "broadcast");
  }
  if (r != 1) {
    int32_t v[2] = {r, -r};
    comm.wait(
        comm.all_reduce("max", pair, flat(v, DType::i32, 2), ReduceOp::max));
    check(comm, v[0] == 2 && v[1] == 0, "all-reduce max of a pair");
  }
  const Group alone[] = {comm.make_group({0}), comm.make_group({1}),
                         comm.make_group({2})};
  float mine = float(r), same = -1.0f;
  const Tensor in = flat(&mine, DType::f32, 1);
  const Tensor out = flat(&same, DType::f32, 1);
  comm.wait(comm.all_reduce("alone", alone[r], in, ReduceOp::sum));
  comm.wait(comm.reduce_scatter("alone", alone[r], in, out, ReduceOp::sum));
  comm.wait(comm.broadcast("alone", alone[r], 0, out));
  check(comm, same == float(r), "collectives of one rank");
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

void all_types(Comm &comm, const Group &all) {
  auto sum = [&](auto value, DType type) {
    std::vector<decltype(value)> v(5000, value);
    const Tensor t = flat(v.data(), type, int64_t(v.size()));
    comm.wait(comm.all_reduce("types", all, t, ReduceOp::sum));
    check(comm, v[0] == 3 * value && v[4999] == 3 * value, "sum of a type");
    v[77] = decltype(value)(float(comm.rank()));
    comm.wait(comm.all_reduce("types", all, t, ReduceOp::max));
    check(comm, v[77] == 2 && v[78] == 3 * value, "maximum of a type");
  };
  sum(1.5f, DType::f32);
  sum(1.5, DType::f64);
  sum(int32_t(7), DType::i32);
  sum(int64_t(7) << 40, DType::i64);
  sum(uint8_t(7), DType::u8);
  sum(BFloat16(1.5f), DType::bf16);
  sum(Float16(1.5f), DType::f16);
}

} // namespace

int main(int argc, char **argv) {
#ifdef LOCAL_RANKS
  if (!launched())
    exec_local_ranks(LOCAL_RANKS, {argv + 1, argv + argc});
#endif
  std::unique_ptr<Comm> comm = make_comm(chosen_transport());
  const std::string mode = argc > 1 ? argv[1] : "";
  check(*comm, comm->size() == 3, "expected 3 ranks");
  check(*comm, launched() && launched_rank() == comm->rank(), "launched rank");
  check(*comm, set_threads(*comm) >= 1, "threads");
  if (mode == "abort" && comm->rank() == 1)
    comm->fail("layer 7", "expected peace, found war");
  const Group all = comm->make_group({0, 1, 2});
  if (mode == "blocks") {
    std::vector<float> part(2), whole(5);
    comm->all_gather("layer 8", all, flat(part), flat(whole));
  }
  if (mode == "stranger") {
    const Group pair = comm->make_group({0, 2});
    std::vector<float> v(1);
    comm->all_reduce("layer 9", pair, flat(v), ReduceOp::sum);
  }
  if (mode == "size") {
    std::vector<float> v(comm->rank() == 0 ? 3 : 4);
    if (comm->rank() == 0)
      comm->wait(comm->exchange("layer 10", 1, {{2, flat(v)}}, {}));
    if (comm->rank() == 2)
      comm->wait(comm->exchange("layer 10", 1, {}, {{0, flat(v)}}));
  }
  comm->barrier();
  if (mode == "killed" && comm->rank() == 1)
    std::raise(SIGKILL);
  if (mode == "gone" && comm->rank() == 1)
    _exit(0);
  exchanges(*comm);
  many_exchanges(*comm, all);
  collectives(*comm, all);
  algorithms(*comm, all);
  all_types(*comm, all);
  if (comm->rank() == 0)
    std::puts("all checks hold");
  return 0;
}
