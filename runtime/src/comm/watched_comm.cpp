//===- watched_comm.cpp - communication with a deadline -------------------===//
#include "comm/watched_comm.h"

#include <chrono>
#include <utility>

namespace ffrt {

class WatchedComm::Timer {
public:
  explicit Timer(WatchedComm &comm) : comm(comm) {
    if (comm.timed)
      start = Clock::now();
  }
  ~Timer() {
    if (comm.timed)
      comm.seconds +=
          std::chrono::duration<double>(Clock::now() - start).count();
  }
  Timer(const Timer &) = delete;
  Timer &operator=(const Timer &) = delete;

private:
  using Clock = std::chrono::steady_clock;
  WatchedComm &comm;
  Clock::time_point start;
};

WatchedComm::WatchedComm(std::unique_ptr<Comm> comm,
                         std::shared_ptr<Watch> watch)
    : comm(std::move(comm)), watching(std::move(watch)) {}

WatchedComm::~WatchedComm() {
  const Watch::Operation end{"end", nullptr, {}};
  const Watch::Scope scope(*watching, end);
  watching->forget(*comm);
  comm.reset();
}

template <class F> Event WatchedComm::start(F &&operation) {
  Event event;
  {
    const Watch::Scope scope(*watching, begun);
    const Timer timer(*this);
    event = operation();
  }
  if (event.id >= 0) {
    if (under_way.size() <= std::size_t(event.id))
      under_way.resize(std::size_t(event.id) + 1);
    std::swap(under_way[std::size_t(event.id)], begun);
  }
  return event;
}

template <class F>
Event WatchedComm::collective(const char *task, const char *kind,
                              const Group &group, F &&operation) {
  begun.task = task;
  begun.kind = kind;
  begun.ranks.assign(group.members.begin(), group.members.end());
  return start(operation);
}

Group WatchedComm::make_group(const std::vector<int> &members) {
  const Watch::Operation operation{"make group", nullptr, {}};
  const Watch::Scope scope(*watching, operation);
  return comm->make_group(members);
}

Event WatchedComm::exchange(const char *task, int tag,
                            const std::vector<Message> &sends,
                            const std::vector<Message> &receives) {
  begun.task = task;
  begun.kind = "exchange";
  begun.ranks.clear();
  for (const std::vector<Message> *messages : {&sends, &receives})
    for (const Message &message : *messages)
      begun.ranks.push_back(message.peer);
  return start([&] { return comm->exchange(task, tag, sends, receives); });
}

Event WatchedComm::all_reduce(const char *task, const Group &group, Tensor data,
                              ReduceOp op, CollectiveAlgorithm algorithm) {
  return collective(task, "all-reduce", group, [&] {
    return comm->all_reduce(task, group, data, op, algorithm);
  });
}

Event WatchedComm::all_gather(const char *task, const Group &group, Tensor part,
                              Tensor whole) {
  return collective(task, "all-gather", group,
                    [&] { return comm->all_gather(task, group, part, whole); });
}

Event WatchedComm::reduce_scatter(const char *task, const Group &group,
                                  Tensor whole, Tensor part, ReduceOp op) {
  return collective(task, "reduce-scatter", group, [&] {
    return comm->reduce_scatter(task, group, whole, part, op);
  });
}

Event WatchedComm::broadcast(const char *task, const Group &group, int root,
                             Tensor data) {
  return collective(task, "broadcast", group,
                    [&] { return comm->broadcast(task, group, root, data); });
}

void WatchedComm::wait(Event event) {
  // What is complete is not waited for.
  if (event.id < 0)
    return comm->wait(event);
  const Watch::Scope scope(*watching, under_way[std::size_t(event.id)]);
  const Timer timer(*this);
  comm->wait(event);
}

std::size_t WatchedComm::wait_any(const std::vector<Event> &events) {
  const Watch::Scope scope(*watching, under_way[std::size_t(events[0].id)]);
  const Timer timer(*this);
  return comm->wait_any(events);
}

void WatchedComm::barrier() {
  const Watch::Operation operation{"barrier", nullptr, {}};
  const Watch::Scope scope(*watching, operation);
  comm->barrier();
}

std::unique_ptr<Comm> make_comm(Transport transport, double deadline_seconds) {
  auto watch = std::make_shared<Watch>(launched_rank(), deadline_seconds);
  const Watch::Operation start{"start", nullptr, {}};
  const Watch::Scope scope(*watch, start);
  std::unique_ptr<Comm> comm = make_unwatched_comm(transport);
  watch->set_comm(*comm);
  return std::make_unique<WatchedComm>(std::move(comm), std::move(watch));
}

} // namespace ffrt
