//===- watched_comm_test.cpp - waits that have no end ---------------------===//
#include "comm/watched_comm.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ffrt;

namespace {

constexpr double kDeadline = 0.3;

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Rank 1 of 3. Everything takes `seconds`, but messages go on until they are
/// waited for.
class SlowComm final : public Comm {
public:
  explicit SlowComm(double seconds) : seconds(seconds) {}

  int rank() const override { return 1; }
  int size() const override { return 3; }
  bool exchanges_in_order() const override { return false; }
  Group make_group(const std::vector<int> &members) override {
    sleep_for(seconds);
    return {0, members};
  }
  Event exchange(const char *, int, const std::vector<Message> &,
                 const std::vector<Message> &) override {
    return {next++};
  }
  Event all_reduce(const char *, const Group &, Tensor, ReduceOp,
                   CollectiveAlgorithm) override {
    return slow();
  }
  Event all_gather(const char *, const Group &, Tensor, Tensor) override {
    return slow();
  }
  Event reduce_scatter(const char *, const Group &, Tensor, Tensor,
                       ReduceOp) override {
    return slow();
  }
  Event broadcast(const char *, const Group &, int, Tensor) override {
    return slow();
  }
  void wait(Event) override { sleep_for(seconds); }
  void barrier() override { sleep_for(seconds); }

protected:
  /// The watch has said why.
  void end_ranks(const char *, const char *cause) override {
    std::_Exit(cause ? 4 : 3);
  }

private:
  Event slow() {
    sleep_for(seconds);
    return {};
  }
  const double seconds;
  int next = 2;
};

/// What watches a slow Comm.
struct Watched {
  explicit Watched(double seconds, double deadline = kDeadline)
      : watch(std::make_shared<Watch>(7, deadline)) {
    auto slow = std::make_unique<SlowComm>(seconds);
    watch->set_comm(*slow);
    comm = std::make_unique<WatchedComm>(std::move(slow), watch);
  }
  std::shared_ptr<Watch> watch;
  std::unique_ptr<WatchedComm> comm;
};

/// That what `use` does with a Comm without an end is late: `line` is what
/// follows the rank in the message.
template <class F> void expect_late(const std::string &line, F &&use) {
  EXPECT_EXIT(
      use(*Watched(60).comm), testing::ExitedWithCode(3),
      "^error: rank 1: " + line +
          " since 0\\.[3-9] s: expected an end within --deadline 0\\.3, "
          "found none\n$");
}

TEST(WatchedComm, MessagesThatDoNotCome) {
  expect_late(
      "conv2 <- pool1: waits for ranks 0, 2 \\(exchange\\)", [](Comm &comm) {
        comm.exchange("first", 0, {{1, {}}}, {});
        const Event event = comm.exchange(
            "conv2 <- pool1", 1, {{2, {}}, {0, {}}}, {{2, {}}, {1, {}}});
        comm.exchange("last", 0, {{2, {}}}, {});
        comm.wait(event);
      });
}

TEST(WatchedComm, CollectivesThatDoNotEnd) {
  const Group pair{0, {1, 2}};
  expect_late("sum: waits for rank 2 \\(all-reduce\\)", [&](Comm &comm) {
    comm.all_reduce("sum", pair, {}, ReduceOp::sum);
  });
  expect_late("part: waits for rank 2 \\(all-gather\\)",
              [&](Comm &comm) { comm.all_gather("part", pair, {}, {}); });
  expect_late("sum: waits for rank 2 \\(reduce-scatter\\)", [&](Comm &comm) {
    comm.reduce_scatter("sum", pair, {}, {}, ReduceOp::sum);
  });
  expect_late("seed: waits for rank 2 \\(broadcast\\)",
              [&](Comm &comm) { comm.broadcast("seed", pair, 0, {}); });
}

TEST(WatchedComm, GroupsAndBarriers) {
  expect_late("make group: waits for the other ranks", [](Comm &comm) {
    comm.make_group({0, 1});
  });
  expect_late("barrier: waits for the other ranks",
              [](Comm &comm) { comm.barrier(); });
}

TEST(WatchedComm, ManyRanks) {
  const Group all{0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  expect_late(
      "sum: waits for ranks 0, 2, 3, 4, 5, 6, 7, 8 and 3 more "
      "\\(all-reduce\\)",
      [&](Comm &comm) { comm.all_reduce("sum", all, {}, ReduceOp::sum); });
}

TEST(WatchedComm, ComputationIsNotLate) {
  Watched watched(0.1, 1);
  for (int i = 0; i < 12; ++i)
    watched.comm->wait(watched.comm->exchange("step", 0, {{0, {}}}, {}));
  sleep_for(1.5);
  watched.comm->barrier();
}

/// A job that was suspended goes on.
TEST(WatchedComm, TimeOfAStoppedProcessDoesNotCount) {
  Watched watched(2.6, 1.5);
  const pid_t mine = getpid();
  const pid_t other = fork();
  if (other == 0) {
    sleep_for(0.2);
    kill(mine, SIGSTOP);
    sleep_for(2);
    kill(mine, SIGCONT);
    _exit(0);
  }
  watched.comm->barrier();
  waitpid(other, nullptr, 0);
}

TEST(Watch, OperationsWithinOthers) {
  const auto nested = [] {
    Watch watch(0, kDeadline);
    const Watch::Operation outer{"outer", nullptr, {}}, inner{"inner", "", {}};
    const Watch::Scope scope(watch, outer);
    { const Watch::Scope within(watch, inner); }
    sleep_for(60);
  };
  EXPECT_EXIT(nested(), testing::ExitedWithCode(1), "rank 0: outer: waits for");
}

TEST(Watch, EndsTheProcessWhereNobodyElseDoes) {
  const auto start = [] {
    Watch watch(7, kDeadline);
    Watched watched(0);
    watch.set_comm(*watched.comm);
    watch.forget(*watched.comm);
    watch.end_late("start", "");
  };
  EXPECT_EXIT(start(), testing::ExitedWithCode(1),
              "^error: rank 1: start: expected an end within --deadline 0\\.3, "
              "found none\n$");
}

} // namespace
