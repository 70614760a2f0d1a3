//===- shm_comm.cpp - communication in shared memory ----------------------===//
#include "comm/shm_comm.h"

#include "comm/shm_channels.h"
#include "comm/shm_group.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unistd.h>

namespace ffrt {

namespace {

std::vector<int> ranks_of(const std::vector<int> &leaders, int node) {
  std::vector<int> result;
  for (std::size_t rank = 0; rank < leaders.size(); ++rank)
    if (leaders[rank] == node)
      result.push_back(int(rank));
  return result;
}

class ShmComm final : public Comm, Background {
public:
  ShmComm(std::unique_ptr<Network> network, const std::vector<int> &leaders,
          std::unique_ptr<Node> own)
      : network(std::move(network)), leader(leaders), node(std::move(own)) {
    node->start();
    channels.emplace(*node);
    world = make_shared_group(ranks_of(leader, my_node()));
    node->background = this;
  }

  int rank() const override { return network->rank(); }
  int size() const override { return network->size(); }
  bool exchanges_in_order() const override { return false; }

  Group make_group(const std::vector<int> &members) override {
    Entry entry;
    const int first = leader[std::size_t(members.front())];
    const bool one_node =
        std::all_of(members.begin(), members.end(), [&](int member) {
          return leader[std::size_t(member)] == first;
        });
    if (!one_node)
      entry.remote = network->make_group(members);
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
      p.remote = network->exchange(task, tag, remote_sends, remote_receives);
    channels->advance();
    return {slot};
  }

  Event all_reduce(const char *task, const Group &group, Tensor data,
                   ReduceOp op, CollectiveAlgorithm algorithm) override {
    Entry &entry = entry_of(task, group);
    if (!entry.local)
      return network->all_reduce(task, entry.remote, data, op, algorithm);
    alive(task, entry.local->all_reduce(data, op, algorithm));
    return {};
  }

  Event all_gather(const char *task, const Group &group, Tensor part,
                   Tensor whole) override {
    Entry &entry = entry_of(task, group);
    if (!entry.local)
      return network->all_gather(task, entry.remote, part, whole);
    check_blocks(task, group, part, whole);
    alive(task, entry.local->all_gather(part, whole));
    return {};
  }

  Event reduce_scatter(const char *task, const Group &group, Tensor whole,
                       Tensor part, ReduceOp op) override {
    Entry &entry = entry_of(task, group);
    if (!entry.local)
      return network->reduce_scatter(task, entry.remote, whole, part, op);
    check_blocks(task, group, part, whole);
    alive(task, entry.local->reduce_scatter(whole, part, op));
    return {};
  }

  Event broadcast(const char *task, const Group &group, int root,
                  Tensor data) override {
    Entry &entry = entry_of(task, group);
    if (!entry.local)
      return network->broadcast(task, entry.remote, root, data);
    alive(task, entry.local->broadcast(root, data));
    return {};
  }

  void wait(Event event) override {
    if (event.id >= 0)
      wait_for(&event, 1);
  }

  std::size_t wait_any(const std::vector<Event> &events) override {
    return wait_for(events.data(), events.size());
  }

  void barrier() override {
    if (node->size() < size())
      network->barrier();
    else
      alive("barrier", world->barrier());
  }

protected:
  void end_ranks(const char *task, const char *cause) override {
    // One message: the launcher is about to end the others.
    if (!node->first_to_fail() && cause)
      sleep(5);
    network->fail(task, cause);
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

  /// Until one of so many events happens, whose place it gives.
  std::size_t wait_for(const Event *events, std::size_t count) {
    std::size_t place = 0;
    waited = {events, count};
    const char *task = pending[std::size_t(events[0].id)].task;
    alive(task, node->wait_until([&] {
      for (place = 0; place < count; ++place) {
        const Pending &p = pending[std::size_t(events[place].id)];
        if (p.open == 0 && p.remote.id < 0)
          return true;
      }
      return !channels->problem().empty();
    }));
    waited = {};
    if (!channels->problem().empty())
      fail(task, channels->problem().c_str());
    pending[std::size_t(events[place].id)].task = nullptr;
    return place;
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
    for (std::size_t i = 0; i < waited.count; ++i) {
      Event &remote = pending[std::size_t(waited.events[i].id)].remote;
      if (remote.id >= 0 && network->test(remote)) {
        remote = {};
        moved = true;
      }
    }
    return moved;
  }
  bool must_poll() const override {
    return std::any_of(waited.events, waited.events + waited.count,
                       [&](Event event) {
                         return pending[std::size_t(event.id)].remote.id >= 0;
                       });
  }

  std::unique_ptr<Network> network;
  std::vector<int> leader;
  std::unique_ptr<Node> node;
  std::optional<Channels> channels;
  std::unique_ptr<SharedGroup> world; ///< all ranks of the node
  std::vector<Entry> groups;
  std::deque<Pending> pending; ///< messages refer to elements
  std::vector<Message> remote_sends, remote_receives;
  struct {
    const Event *events = nullptr;
    std::size_t count = 0;
  } waited; ///< for one of these, while this rank waits
};

} // namespace

std::unique_ptr<Comm> make_shm_comm(std::unique_ptr<Network> network,
                                    const std::vector<int> &leaders,
                                    std::unique_ptr<Node> node) {
  return std::make_unique<ShmComm>(std::move(network), leaders,
                                   std::move(node));
}

} // namespace ffrt
