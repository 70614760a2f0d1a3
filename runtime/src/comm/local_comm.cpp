//===- local_comm.cpp - communication without MPI -------------------------===//
//
// Takes the place of all that is made of MPI where the runtime is built without
// it (FFRT_MPI): one rank, or several that share this machine.
//
//===----------------------------------------------------------------------===//
#include "comm/launch.h"
#include "comm/local_launch.h"
#include "comm/shm_comm.h"
#include "comm/watched_comm.h"
#include "common/device/threads.h"
#include "common/program/terminal.h"
#include "ffrt/mpi.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <numeric>

namespace ffrt {

namespace {

/// A network that reaches nobody but this rank: what it sends is there already.
class NoNetwork final : public Network {
public:
  NoNetwork(int rank, int ranks) : mine(rank), ranks(ranks) {}

  int rank() const override { return mine; }
  int size() const override { return ranks; }
  bool exchanges_in_order() const override { return false; }
  Group make_group(const std::vector<int> &members) override {
    return {groups++, members};
  }
  Event exchange(const char *task, int, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override {
    if (!sends.empty() || !receives.empty())
      fail(task, "expected no messages of a single rank, found some");
    return {};
  }
  Event all_reduce(const char *, const Group &, Tensor, ReduceOp,
                   CollectiveAlgorithm) override {
    return {};
  }
  Event all_gather(const char *, const Group &, Tensor part,
                   Tensor whole) override {
    move(whole, part);
    return {};
  }
  Event reduce_scatter(const char *, const Group &, Tensor whole, Tensor part,
                       ReduceOp) override {
    move(part, whole);
    return {};
  }
  Event broadcast(const char *, const Group &, int, Tensor) override {
    return {};
  }
  void wait(Event) override {}
  bool test(Event) override { return true; }
  void barrier() override {}

protected:
  /// The launcher ends the others.
  void end_ranks(const char *task, const char *cause) override {
    if (cause)
      print_error("error: rank " + std::to_string(mine) + ": " + task + ": " +
                  cause);
    std::fflush(nullptr);
    std::_Exit(1);
  }

private:
  static void move(const Tensor &to, const Tensor &from) {
    std::memmove(to.data, from.data,
                 std::size_t(from.span()) * size_of(from.type));
  }

  int mine, ranks;
  int groups = 0;
};

/// The file that the launcher has made.
SharedFile launched_file() {
  SharedFile shared{environment_number(kLocalFile, -1), ""};
  if (fcntl(shared.file, F_SETFD, FD_CLOEXEC) != 0)
    shared.problem = "expected ranks that --local-ranks has started, found "
                     "others: this program is without MPI";
  return shared;
}

} // namespace

std::unique_ptr<Comm> make_unwatched_comm(Transport transport) {
  const int ranks = launched_local_size();
  auto network = std::make_unique<NoNetwork>(launched_rank(), ranks);
  if (transport == Transport::mpi)
    network->fail("FFRT_COMM=mpi", "expected a program that was built with "
                                   "MPI, found one without");
  if (ranks == 1)
    return network;
  std::vector<int> everyone(static_cast<std::size_t>(ranks));
  std::iota(everyone.begin(), everyone.end(), 0);
  auto node =
      std::make_unique<Node>(launched_file(), everyone, network->rank());
  if (!node->problem().empty())
    network->fail("start", node->problem().c_str());
  const std::vector<int> leaders(everyone.size(), 0);
  return make_shm_comm(std::move(network), leaders, std::move(node));
}

std::unique_ptr<Comm> make_mpi_comm() {
  return make_unwatched_comm(Transport::automatic);
}

std::string mpi_version() { return "none"; }

/// All ranks may run on the same cores: the launcher's.
int set_threads(Comm &) {
  return set_threads(own_cores(), launched_local_size());
}

} // namespace ffrt
