//===- message_flow.h - messages that go as soon as they can ----*- C++ -*-===//
//
// The messages of a rank in a collective by a schedule. One is sent when what
// it carries has arrived and been reduced, and is expected some messages ahead;
// whatever else is late, others go on. Chunks are reduced in the order of the
// schedule, so that sums have the same bits in every run.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_MESSAGE_FLOW_H
#define FFRT_COMMON_MESSAGE_FLOW_H

#include "ffrt/comm.h"

#include <map>
#include <vector>

namespace ffrt {

/// Both ends of a schedule's message give this tag: collectives of a group
/// follow each other in one order on all its members.
constexpr int kScheduleTag = 32767;

class MessageFlow {
public:
  explicit MessageFlow(int chunks) : chunks(std::size_t(chunks)) {}

  /// In the order of the schedule, which all ranks share.
  void send(int chunk, const Message &message);
  void receive(int chunk, const Message &message);
  /// What is received is then reduced into `into`.
  void reduce(int chunk, const Message &message, const Tensor &into);
  /// In which slot of the room the next message of a peer arrives that is to be
  /// reduced: no other one is in it then.
  int next_slot(int peer) const;

  void run(Comm &comm, const char *task, ReduceOp op);

private:
  struct Item {
    std::vector<Message> sends, receives; ///< one in all
    Tensor into;                          ///< of what is reduced
    bool reduces = false;
    std::size_t chunk = 0;
    /// Of the same chunk: so many stand before, so many of which arrive.
    std::size_t before = 0, arrivals_before = 0;
    enum class State { waits, begun, arrived, ended } state = State::waits;
    Event event;
  };
  /// The messages to a peer, or those from it: they begin in order.
  struct Lane {
    std::vector<std::size_t> items;
    std::size_t begun = 0;
    std::size_t slot = 0; ///< the first of its own
  };
  struct Chunk {
    std::size_t items = 0, arrivals = 0; ///< while messages are added
    std::size_t ended = 0, ended_arrivals = 0;
  };
  /// Of a lane at once. One is on its way while the one before is reduced.
  static constexpr std::size_t kOpen = 2;

  void add(std::map<int, Lane> &lanes, int peer, Item item, int chunk);
  void start();
  bool may_begin(const Lane &lane) const;
  bool may_end(const Item &item) const;
  void begin(Comm &comm, const char *task);
  void end(Item &item, ReduceOp op);

  std::vector<Item> items;
  std::map<int, Lane> to, from; ///< by peer
  std::vector<Chunk> chunks;
  std::vector<std::size_t> under_way; ///< items that are begun or have arrived
  std::vector<Event> events;          ///< of those that are begun
  std::vector<std::size_t> waited;    ///< whose events they are
};

} // namespace ffrt

#endif // FFRT_COMMON_MESSAGE_FLOW_H
