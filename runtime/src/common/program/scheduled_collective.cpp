//===- scheduled_collective.cpp - a rank's part of a schedule -------------===//
#include "common/device/target.h"
#include "common/program/message_flow.h"
#include "common/program/together.h"
#include "ffrt/copy.h"
#include "ffrt/schedule.h"

#include <algorithm>
#include <limits>
#include <set>

namespace ffrt {

namespace {

Tensor part_of(const Tensor &whole, int64_t begin, int64_t end) {
  return flat(whole.as<char>() + begin * int64_t(size_of(whole.type)),
              whole.type, end - begin);
}

/// Rounded up to what tensors are aligned to.
int64_t rounded(const Tensor &tensor) {
  constexpr int64_t kAlignment = 64;
  const int64_t bytes = tensor.span() * int64_t(size_of(tensor.type));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace

//===----------------------------------------------------------------------===//
// Where chunks lie
//===----------------------------------------------------------------------===//

/// What both orders of messages share: where chunks lie, and the room.
class ScheduledCollective::Builder {
public:
  Builder(ScheduledCollective &made, const Schedule &schedule,
          const Group &group, int rank, const Tensor &src, const Tensor &dst)
      : made(made), schedule(schedule), group(group),
        me(int(std::find(group.members.begin(), group.members.end(), rank) -
               group.members.begin())),
        src(src), dst(dst), elements(std::max(src.span(), dst.span())),
        places(std::size_t(schedule.chunks)) {
    for (const Schedule::Transfer &t : schedule.transfers)
      if (t.dst == me)
        received.insert(t.chunk);
  }
  virtual ~Builder() = default;

  void build() {
    for (int round = 0; round < 2; ++round) {
      // The first round counts the room that the second one divides.
      if (round == 1)
        made.room =
            room_bytes > 0 ? allocate(std::size_t(room_bytes)) : nullptr;
      made.before.clear();
      kept_bytes = room_bytes = 0;
      for (int chunk = 0; chunk < schedule.chunks; ++chunk)
        place(chunk);
      room_bytes = kept_bytes;
      order();
    }
  }

protected:
  /// Makes the messages.
  virtual void order() = 0;

  bool is_mine(const Schedule::Transfer &t) const {
    return (t.src == me || t.dst == me) && size_of_chunk(t.chunk) > 0;
  }

  int sender(const Schedule::Transfer &t) const {
    return group.members[std::size_t(t.src)];
  }
  const Tensor &place_of(int chunk) const { return places[std::size_t(chunk)]; }
  Message sent(const Schedule::Transfer &t) const {
    return {group.members[std::size_t(t.dst)], place_of(t.chunk)};
  }
  /// What is to be reduced waits at so many bytes behind what is kept.
  Message waits(const Schedule::Transfer &t, int64_t offset) {
    const Tensor &like = place_of(t.chunk);
    room_bytes = std::max(room_bytes, kept_bytes + offset + rounded(like));
    return {sender(t), room_at(kept_bytes + offset, like)};
  }
  /// Of the room for a chunk.
  int64_t bytes_of(int chunk) const { return rounded(place_of(chunk)); }

  ScheduledCollective &made;
  const Schedule &schedule;
  const Group &group;
  const int me;

private:
  int64_t begin_of(int chunk) const {
    return schedule.chunk_begin(elements, chunk);
  }
  int64_t size_of_chunk(int chunk) const {
    return begin_of(chunk + 1) - begin_of(chunk);
  }
  bool is_of_me(int chunk) const {
    return chunk / (schedule.chunks / schedule.members) == me;
  }

  void place(int chunk) {
    const int64_t begin = begin_of(chunk), end = begin + size_of_chunk(chunk);
    Tensor &at = places[std::size_t(chunk)];
    switch (schedule.kind) {
    case Schedule::Kind::all_reduce:
      at = part_of(src, begin, end);
      return;
    case Schedule::Kind::all_gather: {
      at = part_of(dst, begin, end);
      if (!is_of_me(chunk))
        return;
      const int64_t mine = me * src.span();
      const Tensor from = part_of(src, begin - mine, end - mine);
      if (from.data != at.data)
        made.before.push_back({at, from});
      return;
    }
    case Schedule::Kind::reduce_scatter: {
      // What is given stays as it is.
      const Tensor given = part_of(src, begin, end);
      at = given;
      if (is_of_me(chunk)) {
        const int64_t mine = me * dst.span();
        at = part_of(dst, begin - mine, end - mine);
      } else if (received.count(chunk)) {
        at = room_at(kept_bytes, given);
        kept_bytes += rounded(given);
      }
      if (at.data != given.data || at.data == nullptr)
        made.before.push_back({at, given});
      return;
    }
    }
  }

  Tensor room_at(int64_t offset, const Tensor &like) const {
    // Without room yet only sizes matter; the address is not used.
    char *base = made.room ? static_cast<char *>(made.room.get())
                           : static_cast<char *>(like.data);
    return flat(base + (made.room ? offset : 0), like.type, like.span());
  }

  const Tensor src, dst;
  const int64_t elements;
  std::vector<Tensor> places; ///< by chunk
  std::set<int> received;     ///< chunks
  int64_t kept_bytes = 0;     ///< for as long as the collective lives
  int64_t room_bytes = 0;
};

//===----------------------------------------------------------------------===//
// In which order
//===----------------------------------------------------------------------===//

/// One exchange for each step of the schedule, one after the other.
class ScheduledCollective::StepBuilder final : public Builder {
public:
  using Builder::Builder;

private:
  void order() override {
    made.exchanges.clear();
    int step = -1;
    int64_t waiting = 0;
    for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
      const Schedule::Transfer &t = schedule.transfers[i];
      if (!is_mine(t))
        continue;
      if (t.step != step) {
        made.exchanges.emplace_back().step = t.step;
        step = t.step;
        waiting = 0;
      }
      Exchange &exchange = made.exchanges.back();
      if (t.src == me) {
        exchange.sends.push_back(sent(t));
      } else if (i < schedule.reducing) {
        const Message message = waits(t, waiting);
        waiting += bytes_of(t.chunk);
        exchange.receives.push_back(message);
        exchange.combines.push_back({place_of(t.chunk), message.tensor});
      } else {
        exchange.receives.push_back({sender(t), place_of(t.chunk)});
      }
    }
  }
};

/// One exchange for each message.
class ScheduledCollective::FlowBuilder final : public Builder {
public:
  using Builder::Builder;

private:
  void order() override {
    MessageFlow flow(schedule.chunks);
    int64_t slot_bytes = 0;
    for (int chunk = 0; chunk < schedule.chunks; ++chunk)
      slot_bytes = std::max(slot_bytes, bytes_of(chunk));
    for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
      const Schedule::Transfer &t = schedule.transfers[i];
      if (!is_mine(t))
        continue;
      if (t.src == me)
        flow.send(t.chunk, sent(t));
      else if (i < schedule.reducing)
        flow.reduce(t.chunk, waits(t, slot_bytes * flow.next_slot(sender(t))),
                    place_of(t.chunk));
      else
        flow.receive(t.chunk, {sender(t), place_of(t.chunk)});
    }
    made.flow = std::make_unique<MessageFlow>(std::move(flow));
  }
};

//===----------------------------------------------------------------------===//
// ScheduledCollective
//===----------------------------------------------------------------------===//

ScheduledCollective::ScheduledCollective(const Schedule &schedule,
                                         const Group &group, const Comm &comm,
                                         Tensor src, Tensor dst, ReduceOp op)
    : op(op) {
  if (comm.exchanges_in_order())
    StepBuilder(*this, schedule, group, comm.rank(), src, dst).build();
  else
    FlowBuilder(*this, schedule, group, comm.rank(), src, dst).build();
}

ScheduledCollective::~ScheduledCollective() = default;

const ScheduledCollective::Exchange *
ScheduledCollective::next_until(int step) const {
  return done < exchanges.size() && exchanges[done].step <= step
             ? &exchanges[done]
             : nullptr;
}

void ScheduledCollective::run(Comm &comm, const char *task,
                              const std::vector<ScheduledCollective *> &all) {
  for (ScheduledCollective *each : all) {
    for (const Move &move : each->before)
      copy(move.into, {0}, move.from, {0}, {move.into.span()});
    each->done = 0;
    if (each->flow)
      each->flow->run(comm, task, each->op);
  }
  constexpr int kLast = std::numeric_limits<int>::max();
  Exchange &now = all.front()->merged;
  for (;;) {
    now.step = kLast;
    for (const ScheduledCollective *each : all)
      if (const Exchange *next = each->next_until(now.step))
        now.step = next->step;
    if (now.step == kLast)
      return;
    now.sends.clear();
    now.receives.clear();
    for (const ScheduledCollective *each : all)
      if (const Exchange *next = each->next_until(now.step)) {
        now.sends.insert(now.sends.end(), next->sends.begin(),
                         next->sends.end());
        now.receives.insert(now.receives.end(), next->receives.begin(),
                            next->receives.end());
      }
    comm.wait(comm.exchange(task, kScheduleTag, now.sends, now.receives));
    for (ScheduledCollective *each : all)
      if (const Exchange *next = each->next_until(now.step)) {
        for (const Move &move : next->combines)
          combine(move.into, {0}, move.from, {0}, {move.into.span()}, each->op);
        ++each->done;
      }
  }
}

Event Comm::scheduled(const char *task,
                      const std::vector<ScheduledCollective *> &all) {
  ScheduledCollective::run(*this, task, all);
  return {};
}

} // namespace ffrt
