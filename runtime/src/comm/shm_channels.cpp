//===- shm_channels.cpp - messages in shared memory -----------------------===//
#include "comm/shm_channels.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>

namespace ffrt {

namespace {

constexpr int64_t kRing = int64_t(256) << 10;
/// Headers start at multiples of this.
constexpr int64_t kLine = 64;
/// Bytes after which the other side is told; it copies out meanwhile.
constexpr int64_t kPiece = 16 << 10;
/// From here on the receiver copies from the sender's memory.
constexpr int64_t kDirect = 128 << 10;

} // namespace

/// Positions count all bytes ever written and read.
struct Channels::Ring {
  alignas(128) std::atomic<uint64_t> head;
  alignas(128) std::atomic<uint64_t> tail;
  alignas(Segment::kPage) char bytes[kRing];
};

struct Channels::Header {
  int64_t bytes;
  const char *data; ///< null: the bytes follow
  int64_t tag;
};

void Channels::Queue::pop() {
  if (++first == items.size()) {
    items.clear();
    first = posted = 0;
  }
}

Channels::Channels(Node &node)
    : node(node), sends(std::size_t(node.size())),
      receives(std::size_t(node.size())), direct(node.can_read_directly()) {
  static_assert(sizeof(Header) <= kLine && sizeof(Ring) % Segment::kPage == 0);
  const int64_t bytes =
      int64_t(sizeof(Ring)) * node.size() * int64_t(node.size());
  memory = node.map(node.reserve(bytes), bytes);
}

Channels::Ring &Channels::ring(int from, int to) const {
  return reinterpret_cast<Ring *>(memory)[from * node.size() + to];
}

void Channels::queue(std::vector<Queue> &queues, int peer, const Tensor &tensor,
                     int tag, int *open) {
  const int64_t bytes = tensor.span() * int64_t(size_of(tensor.type));
  queues[std::size_t(peer)].push({tensor.as<char>(), bytes, -1, tag, open, 0});
  ++*open;
  ++queued;
}

void Channels::send(int peer, const Tensor &tensor, int tag, int *open) {
  queue(sends, peer, tensor, tag, open);
}

void Channels::receive(int peer, const Tensor &tensor, int tag, int *open) {
  queue(receives, peer, tensor, tag, open);
}

void Channels::complete(Queue &queue) {
  --*queue.items[queue.first].open;
  --queued;
  queue.pop();
}

bool Channels::advance() {
  bool moved = false;
  if (idle() || !cause.empty())
    return false;
  for (int peer = 0; peer < node.size() && cause.empty(); ++peer) {
    if (!sends[std::size_t(peer)].empty())
      moved |= advance_send(peer);
    if (!receives[std::size_t(peer)].empty())
      moved |= advance_receive(peer);
  }
  return moved;
}

/// Writes what fits; true when something did.
bool Channels::post(int peer, Ring &ring, Transfer &t) {
  uint64_t head = ring.head.load(std::memory_order_relaxed), told = head;
  auto tell = [&] {
    ring.head.store(told = head, std::memory_order_release);
    node.notify(peer);
  };
  const uint64_t start = head;
  while (t.done < t.bytes) {
    const uint64_t tail = ring.tail.load(std::memory_order_acquire);
    const int64_t free = kRing - int64_t(head - tail);
    char *at = ring.bytes + head % kRing;
    if (free < kLine)
      break;
    if (t.done < 0) {
      const bool copied = direct && t.bytes >= kDirect;
      const Header header{t.bytes, copied ? t.data : nullptr, t.tag};
      std::memcpy(at, &header, sizeof header);
      head += kLine;
      t.done = copied ? t.bytes : 0;
      t.end = copied ? head : 0;
      continue;
    }
    const int64_t n = std::min(
        {t.bytes - t.done, free, kPiece, kRing - int64_t(head % kRing)});
    std::memcpy(at, t.data + t.done, std::size_t(n));
    t.done += n;
    head += uint64_t(n);
    if (t.done < t.bytes)
      tell();
  }
  // The next header is aligned.
  head = (head + kLine - 1) / kLine * kLine;
  if (head != told)
    tell();
  return head != start;
}

bool Channels::advance_send(int peer) {
  Queue &queue = sends[std::size_t(peer)];
  Ring &out = ring(node.me(), peer);
  bool moved = false;
  while (queue.posted < queue.items.size()) {
    Transfer &t = queue.items[queue.posted];
    moved |= post(peer, out, t);
    if (t.done < t.bytes)
      break;
    ++queue.posted;
  }
  const uint64_t tail = out.tail.load(std::memory_order_acquire);
  while (!queue.empty() && queue.first < queue.posted &&
         tail >= queue.items[queue.first].end) {
    complete(queue);
    moved = true;
  }
  return moved;
}

/// Reads what is there; true when something was.
bool Channels::accept(int peer, Ring &ring, Transfer &t) {
  bool moved = false;
  uint64_t tail = ring.tail.load(std::memory_order_relaxed);
  for (;;) {
    const uint64_t head = ring.head.load(std::memory_order_acquire);
    const char *at = ring.bytes + tail % kRing;
    if (head == tail)
      break;
    if (t.done < 0) {
      Header header;
      std::memcpy(&header, at, sizeof header);
      if (header.bytes != t.bytes || header.tag != t.tag) {
        cause = "expected a message of " + std::to_string(t.bytes) +
                " bytes with tag " + std::to_string(t.tag) + " from rank " +
                std::to_string(node.world_rank(peer)) + ", found one of " +
                std::to_string(header.bytes) + " bytes with tag " +
                std::to_string(header.tag);
        return false;
      }
      t.done = 0;
      tail += kLine;
      while (header.data && t.done < t.bytes) {
        const iovec here{t.data + t.done, std::size_t(t.bytes - t.done)};
        const iovec there{const_cast<char *>(header.data) + t.done,
                          std::size_t(t.bytes - t.done)};
        const ssize_t n =
            process_vm_readv(node.process_of(peer), &here, 1, &there, 1, 0);
        if (n <= 0) {
          cause = "cannot read the memory of rank " +
                  std::to_string(node.world_rank(peer)) + ": " +
                  std::strerror(errno);
          return false;
        }
        t.done += n;
      }
    } else {
      const int64_t n = std::min({t.bytes - t.done, int64_t(head - tail),
                                  kPiece, kRing - int64_t(tail % kRing)});
      std::memcpy(t.data + t.done, at, std::size_t(n));
      t.done += n;
      tail += uint64_t(n);
      if (t.done == t.bytes)
        tail = (tail + kLine - 1) / kLine * kLine;
    }
    ring.tail.store(tail, std::memory_order_release);
    moved = true;
    if (t.done == t.bytes)
      break;
  }
  return moved;
}

bool Channels::advance_receive(int peer) {
  Queue &queue = receives[std::size_t(peer)];
  Ring &in = ring(peer, node.me());
  bool moved = false;
  while (!queue.empty() && cause.empty()) {
    Transfer &t = queue.items[queue.first];
    moved |= accept(peer, in, t);
    if (t.done < t.bytes)
      break;
    complete(queue);
  }
  if (moved)
    node.notify(peer);
  return moved;
}

} // namespace ffrt
