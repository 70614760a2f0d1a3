//===- shm_comm.cpp - shared memory within nodes, MPI between them --------===//
//
// Collectives of groups on one node, and messages between ranks of a node, go
// through shared memory, all else through MPI.
//
//===----------------------------------------------------------------------===//
#include "comm/mpi_comm.h"
#include "comm/shm_channels.h"
#include "comm/shm_group.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <optional>
#include <unistd.h>

namespace ffrt {

namespace {

/// Ranks of one node, for tests of several nodes on one machine: 0: all.
int ranks_per_node() {
  const char *text = std::getenv("FFRT_RANKS_PER_NODE");
  return text ? std::atoi(text) : 0;
}

/// The node of every rank, by its lowest rank.
class Nodes {
public:
  Nodes(int rank, int ranks) {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
                        MPI_INFO_NULL, &comm);
    if (const int most = ranks_per_node(); most > 0) {
      MPI_Comm whole = comm;
      MPI_Comm_split(whole, rank / most, rank, &comm);
      MPI_Comm_free(&whole);
    }
    int lowest = rank;
    MPI_Bcast(&lowest, 1, MPI_INT, 0, comm);
    leader.resize(std::size_t(ranks));
    MPI_Allgather(&lowest, 1, MPI_INT, leader.data(), 1, MPI_INT,
                  MPI_COMM_WORLD);
  }
  ~Nodes() { MPI_Comm_free(&comm); }
  Nodes(const Nodes &) = delete;
  Nodes &operator=(const Nodes &) = delete;

  std::vector<int> ranks_of(int node) const {
    std::vector<int> result;
    for (std::size_t rank = 0; rank < leader.size(); ++rank)
      if (leader[rank] == node)
        result.push_back(int(rank));
    return result;
  }

  MPI_Comm comm;
  std::vector<int> leader; ///< per rank
};

class ShmComm final : public Comm, Background {
public:
  ShmComm(std::unique_ptr<MpiTransport> mpi, const Nodes &nodes,
          std::unique_ptr<Node> own)
      : mpi(std::move(mpi)), leader(nodes.leader), node(std::move(own)) {
    node->start();
    channels.emplace(*node);
    world = make_shared_group(nodes.ranks_of(my_node()));
    node->background = this;
  }

  int rank() const override { return mpi->rank(); }
  int size() const override { return mpi->size(); }

  Group make_group(const std::vector<int> &members) override {
    Entry entry;
    const int first = leader[std::size_t(members.front())];
    const bool one_node =
        std::all_of(members.begin(), members.end(), [&](int member) {
          return leader[std::size_t(member)] == first;
        });
    if (!one_node)
      entry.remote = mpi->make_group(members);
    else if (first == my_node())
      entry.local = make_shared_group(members);
    groups.push_back(std::move(entry));
    return {int(groups.size()) - 1, members};
  }

  Event exchange(const char *task, int tag, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override {
    const int slot = free_slot();
    Pending &p = pending[std::size_t(slot)];
    p.task = task;
    remote_sends.clear();
    remote_receives.clear();
    for (const Message &m : receives)
      if (const int peer = node->index_of(m.peer); peer >= 0)
        channels->receive(peer, m.tensor, tag, &p.open);
      else
        remote_receives.push_back(m);
    for (const Message &m : sends)
      if (const int peer = node->index_of(m.peer); peer >= 0)
        channels->send(peer, m.tensor, tag, &p.open);
      else
        remote_sends.push_back(m);
    if (!remote_sends.empty() || !remote_receives.empty())
      p.remote = mpi->exchange(task, tag, remote_sends, remote_receives);
    channels->advance();
    return {slot};
  }

  Event all_reduce(const char *task, const Group &group, Tensor data,
                   ReduceOp op) override {
    Entry &entry = entry_of(task, group);
    if (!entry.local)
      return mpi->all_reduce(task, entry.remote, data, op);
    alive(task, entry.local->all_reduce(data, op));
    return {};
  }

  Event all_gather(const char *task, const Group &group, Tensor part,
                   Tensor whole) override {
    Entry &entry = entry_of(task, group);
    if (!entry.local)
      return mpi->all_gather(task, entry.remote, part, whole);
    check_blocks(task, group, part, whole);
    alive(task, entry.local->all_gather(part, whole));
    return {};
  }

  Event reduce_scatter(const char *task, const Group &group, Tensor whole,
                       Tensor part, ReduceOp op) override {
    Entry &entry = entry_of(task, group);
    if (!entry.local)
      return mpi->reduce_scatter(task, entry.remote, whole, part, op);
    check_blocks(task, group, part, whole);
    alive(task, entry.local->reduce_scatter(whole, part, op));
    return {};
  }

  Event broadcast(const char *task, const Group &group, int root,
                  Tensor data) override {
    Entry &entry = entry_of(task, group);
    if (!entry.local)
      return mpi->broadcast(task, entry.remote, root, data);
    alive(task, entry.local->broadcast(root, data));
    return {};
  }

  void wait(Event event) override {
    if (event.id < 0)
      return;
    Pending &p = pending[std::size_t(event.id)];
    polled = &p.remote;
    alive(p.task, node->wait_until([&] {
      return (p.open == 0 && p.remote.id < 0) || !channels->problem().empty();
    }));
    polled = nullptr;
    if (!channels->problem().empty())
      fail(p.task, channels->problem().c_str());
    p.task = nullptr;
  }

  void barrier() override {
    if (node->size() < size())
      mpi->barrier();
    else
      alive("barrier", world->barrier());
  }

  [[noreturn]] void fail(const char *task, const char *cause) override {
    // One message: the launcher is about to end the others.
    if (!node->first_to_fail())
      sleep(5);
    mpi->fail(task, cause);
    std::abort();
  }

private:
  /// A group on this node, on several nodes, or, with neither, on another node
  /// or without this rank.
  struct Entry {
    std::unique_ptr<SharedGroup> local;
    Group remote;
  };

  /// One exchange; slots are reused, so that steps after the first allocate
  /// nothing.
  struct Pending {
    int open = 0;               ///< messages on this node that are under way
    Event remote;               ///< those to and from other nodes
    const char *task = nullptr; ///< null: free
  };

  int my_node() const { return leader[std::size_t(rank())]; }

  /// Null without this rank; space is reserved all the same.
  std::unique_ptr<SharedGroup>
  make_shared_group(const std::vector<int> &members) {
    const int64_t at = node->reserve(SharedGroup::bytes_for(members.size()));
    const auto mine = std::find(members.begin(), members.end(), rank());
    if (mine == members.end())
      return nullptr;
    std::vector<int> indices;
    for (int member : members)
      indices.push_back(node->index_of(member));
    return std::make_unique<SharedGroup>(*node, std::move(indices),
                                         int(mine - members.begin()), at);
  }

  Entry &entry_of(const char *task, const Group &group) {
    if (group.id < 0 || group.id >= int(groups.size()))
      fail(task, kStranger);
    Entry &entry = groups[std::size_t(group.id)];
    if (!entry.local && entry.remote.id < 0)
      fail(task, kStranger);
    return entry;
  }

  void check_blocks(const char *task, const Group &group, const Tensor &part,
                    const Tensor &whole) {
    const std::string mismatch = block_mismatch(group, part, whole);
    if (!mismatch.empty())
      fail(task, mismatch.c_str());
  }

  void alive(const char *task, int dead) {
    if (dead < 0)
      return;
    const std::string cause = "rank " + std::to_string(dead) + " has ended";
    fail(task, cause.c_str());
  }

  int free_slot() {
    for (std::size_t i = 0; i < pending.size(); ++i)
      if (!pending[i].task)
        return int(i);
    pending.emplace_back();
    return int(pending.size()) - 1;
  }

  bool advance() override {
    bool moved = channels->advance();
    if (polled && polled->id >= 0 && mpi->test(*polled)) {
      *polled = {};
      moved = true;
    }
    return moved;
  }
  bool must_poll() const override { return polled && polled->id >= 0; }

  std::unique_ptr<MpiTransport> mpi;
  std::vector<int> leader;
  std::unique_ptr<Node> node;
  std::optional<Channels> channels;
  std::unique_ptr<SharedGroup> world; ///< all ranks of the node
  std::vector<Entry> groups;
  std::deque<Pending> pending; ///< messages refer to elements
  std::vector<Message> remote_sends, remote_receives;
  Event *polled = nullptr; ///< what MPI does while this rank waits
};

} // namespace

std::unique_ptr<Comm> make_comm(Transport transport) {
  std::unique_ptr<MpiTransport> mpi = make_mpi_transport();
  if (transport == Transport::mpi || mpi->size() == 1)
    return mpi;
  const Nodes nodes(mpi->rank(), mpi->size());
  const int mine = nodes.leader[std::size_t(mpi->rank())];
  auto node =
      std::make_unique<Node>(nodes.comm, nodes.ranks_of(mine), mpi->rank());
  // All ranks do the same: shared memory everywhere, or nowhere.
  struct {
    int good, rank;
  } vote{node->problem().empty(), mpi->rank()}, lowest;
  MPI_Allreduce(&vote, &lowest, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  if (lowest.good)
    return std::make_unique<ShmComm>(std::move(mpi), nodes, std::move(node));
  if (transport == Transport::shared) {
    if (lowest.rank == mpi->rank())
      mpi->fail("FFRT_COMM=shm", node->problem().c_str());
    mpi->barrier();
  }
  return mpi;
}

} // namespace ffrt
