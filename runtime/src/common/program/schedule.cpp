//===- schedule.cpp - collectives by messages of the program's own --------===//
#include "ffrt/schedule.h"

#include "common/device/target.h"
#include "common/program/together.h"
#include "ffrt/copy.h"
#include "ffrt/tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace ffrt {

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

Schedule Schedule::read(const char *text) {
  std::istringstream words(text);
  Schedule schedule;
  std::string kind;
  words >> kind >> schedule.algorithm >> schedule.members >> schedule.chunks >>
      schedule.reducing;
  if (kind == "all_gather")
    schedule.kind = Kind::all_gather;
  else if (kind == "reduce_scatter")
    schedule.kind = Kind::reduce_scatter;
  else if (kind != "all_reduce")
    fail_in_tables("expected a schedule of a collective, found '" + kind + "'");
  bool fits = bool(words) && schedule.members > 0 && schedule.chunks > 0 &&
              (schedule.kind == Kind::all_reduce ||
               schedule.chunks % schedule.members == 0);
  for (Transfer t{}; fits && words >> t.chunk >> t.src >> t.dst;) {
    fits = t.chunk >= 0 && t.chunk < schedule.chunks && t.src >= 0 &&
           t.src < schedule.members && t.dst >= 0 && t.dst < schedule.members;
    schedule.transfers.push_back(t);
  }
  if (!fits || !words.eof())
    fail_in_tables("expected the numbers of a schedule, found others in '" +
                   schedule.algorithm + "'");
  return schedule;
}

int64_t Schedule::chunk_begin(int64_t elements, int chunk) const {
  const int64_t blocks = kind == Kind::all_reduce ? 1 : members;
  const int64_t of_block = chunks / blocks, block = elements / blocks;
  const int64_t place = chunk % of_block;
  return block * (chunk / of_block) + block / of_block * place +
         std::min(place, block % of_block);
}

//===----------------------------------------------------------------------===//
// ScheduledCollective
//===----------------------------------------------------------------------===//

namespace {

Tensor part_of(const Tensor &whole, int64_t begin, int64_t end) {
  return flat(whole.as<char>() + begin * int64_t(size_of(whole.type)),
              whole.type, end - begin);
}

} // namespace

/// Divides this rank's transfers into steps.
class ScheduledCollective::Builder {
public:
  Builder(ScheduledCollective &made, const Schedule &schedule,
          const Group &group, int rank, const Tensor &src, const Tensor &dst)
      : made(made), schedule(schedule), group(group),
        me(int(std::find(group.members.begin(), group.members.end(), rank) -
               group.members.begin())),
        src(src), dst(dst) {
    elements = std::max(src.elements(), dst.elements());
    places.resize(std::size_t(schedule.chunks));
  }

  void build() {
    for (int round = 0; round < 2; ++round) {
      // The first round counts the room that the second one divides.
      if (round == 1)
        made.room =
            room_bytes > 0 ? allocate(std::size_t(room_bytes)) : nullptr;
      divide();
      room_bytes = std::max(kept_bytes + most_waiting, room_bytes);
    }
  }

private:
  void divide() {
    made.before.clear();
    made.steps.assign(1, {});
    kept_bytes = most_waiting = waiting_bytes = 0;
    for (int chunk = 0; chunk < schedule.chunks; ++chunk)
      place(chunk);
    for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
      const Schedule::Transfer &t = schedule.transfers[i];
      if (size_of_chunk(t.chunk) == 0)
        continue;
      if (t.src == me)
        send(t);
      if (t.dst == me)
        receive(t, i < schedule.reducing);
    }
    flush();
    made.steps.pop_back();
  }

  int64_t size_of_chunk(int chunk) const {
    return schedule.chunk_begin(elements, chunk + 1) - begin_of(chunk);
  }
  int64_t begin_of(int chunk) const {
    return schedule.chunk_begin(elements, chunk);
  }
  bool is_mine(int chunk) const {
    return chunk / (schedule.chunks / schedule.members) == me;
  }

  /// Where the chunk lies on this rank.
  void place(int chunk) {
    const int64_t begin = begin_of(chunk), end = begin + size_of_chunk(chunk);
    Tensor &at = places[std::size_t(chunk)];
    switch (schedule.kind) {
    case Schedule::Kind::all_reduce:
      at = part_of(src, begin, end);
      return;
    case Schedule::Kind::all_gather: {
      at = part_of(dst, begin, end);
      if (!is_mine(chunk))
        return;
      const int64_t mine = me * src.elements();
      const Tensor from = part_of(src, begin - mine, end - mine);
      if (from.data != at.data)
        made.before.push_back({at, from});
      return;
    }
    case Schedule::Kind::reduce_scatter: {
      // What is given stays as it is.
      const Tensor given = part_of(src, begin, end);
      at = given;
      if (is_mine(chunk)) {
        const int64_t mine = me * dst.elements();
        at = part_of(dst, begin - mine, end - mine);
      } else if (is_received(chunk)) {
        at = kept(given);
      }
      if (at.data != given.data || at.data == nullptr)
        made.before.push_back({at, given});
      return;
    }
    }
  }

  bool is_received(int chunk) {
    if (received.empty())
      for (const Schedule::Transfer &t : schedule.transfers)
        if (t.dst == me)
          received.insert(t.chunk);
    return received.count(chunk) != 0;
  }

  /// Room for a tensor like `other` for as long as this lives.
  Tensor kept(const Tensor &other) {
    const Tensor at = room_at(kept_bytes, other);
    kept_bytes += rounded(other);
    return at;
  }
  static int64_t rounded(const Tensor &tensor) {
    constexpr int64_t kAlignment = 64;
    const int64_t bytes = tensor.elements() * int64_t(size_of(tensor.type));
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  Tensor room_at(int64_t offset, const Tensor &like) const {
    // Without room yet only sizes matter; the address is not used.
    char *base = made.room ? static_cast<char *>(made.room.get())
                           : static_cast<char *>(like.data);
    return flat(base + (made.room ? offset : 0), like.type, like.elements());
  }

  void send(const Schedule::Transfer &t) {
    if (arriving.count(t.chunk))
      flush();
    leaving.insert(t.chunk);
    made.steps.back().sends.push_back(
        {group.members[std::size_t(t.dst)], places[std::size_t(t.chunk)]});
  }

  void receive(const Schedule::Transfer &t, bool reduces) {
    auto before = arriving.find(t.chunk);
    if (before != arriving.end() ? !(reduces && before->second)
                                 : !reduces && leaving.count(t.chunk))
      flush();
    arriving[t.chunk] = reduces;
    Tensor into = places[std::size_t(t.chunk)];
    if (reduces) {
      const Tensor waits = room_at(kept_bytes + waiting_bytes, into);
      waiting_bytes += rounded(into);
      most_waiting = std::max(most_waiting, waiting_bytes);
      made.steps.back().combines.push_back({into, waits});
      into = waits;
    }
    made.steps.back().receives.push_back(
        {group.members[std::size_t(t.src)], into});
  }

  void flush() {
    arriving.clear();
    leaving.clear();
    waiting_bytes = 0;
    const Step &last = made.steps.back();
    if (!last.sends.empty() || !last.receives.empty())
      made.steps.emplace_back();
  }

  ScheduledCollective &made;
  const Schedule &schedule;
  const Group &group;
  const int me;
  const Tensor src, dst;
  int64_t elements = 0;
  std::vector<Tensor> places; ///< by chunk
  std::set<int> received;     ///< chunks
  /// Of the last step: chunks that arrive, and whether they are reduced; chunks
  /// that leave.
  std::map<int, bool> arriving;
  std::set<int> leaving;
  int64_t kept_bytes = 0, waiting_bytes = 0, most_waiting = 0;
  int64_t room_bytes = 0;
};

ScheduledCollective::ScheduledCollective(const Schedule &schedule,
                                         const Group &group, int rank,
                                         Tensor src, Tensor dst, ReduceOp op)
    : op(op) {
  Builder(*this, schedule, group, rank, src, dst).build();
}

/// Both ends of a message give this tag: collectives of a group follow each
/// other in one order on all its members.
static constexpr int kTag = 32767;

void ScheduledCollective::run(Comm &comm, const char *task) {
  for (const Move &move : before)
    copy(move.into, {0}, move.from, {0}, {move.into.elements()});
  for (const Step &step : steps) {
    comm.wait(comm.exchange(task, kTag, step.sends, step.receives));
    for (const Move &move : step.combines)
      combine(move.into, {0}, move.from, {0}, {move.into.elements()}, op);
  }
}

Event Comm::scheduled(const char *task, ScheduledCollective &collective) {
  collective.run(*this, task);
  return {};
}

} // namespace ffrt
