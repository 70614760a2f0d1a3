//===- shm_channels.h - messages in shared memory ---------------*- C++ -*-===//
//
// A ring of bytes for every ordered pair of ranks of the node. A message is a
// header followed by its bytes, or, when it is large and the system allows it,
// by nothing: the receiver copies it from the sender's memory. Messages of a
// pair arrive in the order in which they were sent, and must be expected in
// that order.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMM_SHM_CHANNELS_H
#define FFRT_COMM_SHM_CHANNELS_H

#include "comm/shm_node.h"
#include "ffrt/comm.h"

#include <string>

namespace ffrt {

class Channels {
public:
  explicit Channels(Node &node);

  /// Queues a message to or from index `peer` of the node. *open is counted up
  /// now, and down when the buffer may be reused.
  void send(int peer, const Tensor &tensor, int tag, int *open);
  void receive(int peer, const Tensor &tensor, int tag, int *open);

  /// Moves what can be moved; true when something did.
  bool advance();
  bool idle() const { return queued == 0; }
  /// Not empty when a message was not the expected one; nothing moves any more.
  const std::string &problem() const { return cause; }

private:
  struct Ring;
  struct Header;
  struct Transfer {
    char *data;
    int64_t bytes;
    int64_t done; ///< -1: the header is still to be written or read
    int tag;
    int *open;
    uint64_t end; ///< of a message that the receiver copies: its header's end
  };
  /// First in, first out; keeps its memory.
  struct Queue {
    std::vector<Transfer> items;
    std::size_t first = 0;  ///< of those that are not complete
    std::size_t posted = 0; ///< of those that are not written to the ring
    bool empty() const { return first == items.size(); }
    void push(const Transfer &t) { items.push_back(t); }
    void pop();
  };

  Ring &ring(int from, int to) const;
  void queue(std::vector<Queue> &queues, int peer, const Tensor &tensor,
             int tag, int *open);
  bool advance_send(int peer);
  bool advance_receive(int peer);
  bool post(int peer, Ring &ring, Transfer &t);
  bool accept(int peer, Ring &ring, Transfer &t);
  void complete(Queue &queue);

  Node &node;
  std::byte *memory;
  std::vector<Queue> sends, receives; ///< per index of the node
  int64_t queued = 0;
  bool direct;
  std::string cause;
};

} // namespace ffrt

#endif // FFRT_COMM_SHM_CHANNELS_H
