//===- shm_node.cpp - waiting for other ranks of the node -----------------===//
#include "comm/shm_node.h"

#include "ffrt/error.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace ffrt {

namespace {

/// Looks at memory, some 2 us, before others may run: they may be what this
/// rank waits for.
constexpr int kSpins = 50;
/// To wake a rank may take 0.1 ms and more, when the system has to start an
/// idle core: waiting ranks stay awake for longer than that, lest all sleep in
/// turns.
constexpr int64_t kAwake = 1000000;

int64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t(1000000000) + now.tv_nsec;
}

} // namespace

Node::Node(SharedFile shared, const std::vector<int> &members, int rank)
    : members(members), mine(index_of(rank)), segment(std::move(shared)),
      cause(segment.problem) {
  const int64_t bytes = int64_t(sizeof(Head) + members.size() * sizeof(Waiter));
  const int64_t at = reserve(bytes);
  if (!cause.empty())
    return;
  try {
    std::byte *memory = map(at, used);
    head = reinterpret_cast<Head *>(memory);
    waiters = reinterpret_cast<Waiter *>(memory + sizeof(Head));
  } catch (const Error &e) {
    cause = e.what();
    return;
  }
  Waiter &waiter = waiters[mine];
  waiter.process = getpid();
  secret = uint64_t(waiter.process) * 0x9E3779B97F4A7C15u;
  waiter.secret = secret;
  waiter.secret_at = &secret;
  CPU_ZERO(&waiter.cores);
  sched_getaffinity(0, sizeof waiter.cores, &waiter.cores);
}

void Node::start() {
  // Launchers may bind ranks to disjoint cores: what counts is the union.
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int i = 0; i < size(); ++i)
    CPU_OR(&cores, &cores, &waiters[i].cores);
  // A rank that only looks at memory may keep the others from this core.
  spins = size() > CPU_COUNT(&cores) ? 0 : kSpins;
  if (size() > 1 && !can_read((mine + 1) % size()))
    head->unreadable.store(true);
  head->arrived.fetch_add(1);
  for (int i = 0; i < size(); ++i)
    notify(i);
  wait_until([&] { return head->arrived.load() == size(); });
}

int Node::index_of(int world_rank) const {
  auto at = std::lower_bound(members.begin(), members.end(), world_rank);
  return at != members.end() && *at == world_rank ? int(at - members.begin())
                                                  : -1;
}

int64_t Node::reserve(int64_t bytes) {
  const int64_t at = used;
  used += (bytes + Segment::kPage - 1) / Segment::kPage * Segment::kPage;
  return at;
}

bool Node::yield_core(Backoff &backoff) {
  const int64_t now = nanoseconds();
  if (backoff.end == 0)
    backoff.end = now + kAwake;
  if (now >= backoff.end)
    return false;
  sched_yield();
  return true;
}

bool Node::sleep(uint32_t seen) {
  const bool poll = background && background->must_poll();
  const timespec limit{poll ? 0 : 1, poll ? 50000 : 0};
  return syscall(SYS_futex, &waiters[mine].notifications, FUTEX_WAIT, seen,
                 &limit, nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

void Node::wake(int i) {
  waiters[i].notifications.fetch_add(1);
  syscall(SYS_futex, &waiters[i].notifications, FUTEX_WAKE, 1, nullptr, nullptr,
          0);
}

int Node::missing() const {
  for (int i = 0; i < size(); ++i)
    if (kill(waiters[i].process, 0) != 0 && errno == ESRCH)
      return world_rank(i);
  return -1;
}

bool Node::can_read(int i) const {
  const Waiter &waiter = waiters[i];
  uint64_t found = 0;
  const iovec here{&found, sizeof found};
  const iovec there{const_cast<uint64_t *>(waiter.secret_at), sizeof found};
  return process_vm_readv(waiter.process, &here, 1, &there, 1, 0) ==
             ssize_t(sizeof found) &&
         found == waiter.secret;
}

} // namespace ffrt
