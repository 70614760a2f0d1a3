//===- message_flow.cpp - messages that go as soon as they can ------------===//
//
// There is no circle of waiting ranks: of all messages that have not ended, the
// first in the order of the schedule can begin at both of its ends. What it
// carries and what it overwrites stand before it, and so do the messages of its
// lanes that hold slots.
//
//===----------------------------------------------------------------------===//
#include "common/program/message_flow.h"

#include "ffrt/copy.h"

#include <algorithm>

namespace ffrt {

void MessageFlow::send(int chunk, const Message &message) {
  Item item;
  item.sends.push_back(message);
  add(to, message.peer, std::move(item), chunk);
}

void MessageFlow::receive(int chunk, const Message &message) {
  Item item;
  item.receives.push_back(message);
  add(from, message.peer, std::move(item), chunk);
}

void MessageFlow::reduce(int chunk, const Message &message,
                         const Tensor &into) {
  Item item;
  item.receives.push_back(message);
  item.reduces = true;
  item.into = into;
  add(from, message.peer, std::move(item), chunk);
}

int MessageFlow::next_slot(int peer) const {
  const auto lane = from.find(peer);
  return lane == from.end()
             ? int(from.size() * kOpen)
             : int(lane->second.slot + lane->second.items.size() % kOpen);
}

void MessageFlow::add(std::map<int, Lane> &lanes, int peer, Item item,
                      int chunk) {
  const std::size_t slot = lanes.size() * kOpen;
  const auto [lane, is_new] = lanes.try_emplace(peer);
  if (is_new)
    lane->second.slot = slot;
  lane->second.items.push_back(items.size());
  Chunk &same = chunks[std::size_t(chunk)];
  item.chunk = std::size_t(chunk);
  item.before = same.items++;
  item.arrivals_before = same.arrivals;
  same.arrivals += item.receives.size();
  items.push_back(std::move(item));
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

void MessageFlow::start() {
  for (Item &item : items)
    item.state = Item::State::waits;
  for (Chunk &chunk : chunks)
    chunk.ended = chunk.ended_arrivals = 0;
  for (auto *lanes : {&to, &from})
    for (auto &[peer, lane] : *lanes)
      lane.begun = 0;
}

/// What arrives at a chunk ends when all before it on that chunk has: so counts
/// say whether the ones that matter have ended.
bool MessageFlow::may_begin(const Lane &lane) const {
  if (lane.begun == lane.items.size())
    return false;
  if (lane.begun >= kOpen &&
      items[lane.items[lane.begun - kOpen]].state != Item::State::ended)
    return false;
  const Item &item = items[lane.items[lane.begun]];
  const Chunk &chunk = chunks[item.chunk];
  if (!item.sends.empty())
    return chunk.ended_arrivals == item.arrivals_before;
  return item.reduces || chunk.ended == item.before;
}

bool MessageFlow::may_end(const Item &item) const {
  return !item.reduces || chunks[item.chunk].ended == item.before;
}

void MessageFlow::begin(Comm &comm, const char *task) {
  for (auto *lanes : {&from, &to})
    for (auto &[peer, lane] : *lanes)
      while (may_begin(lane)) {
        Item &item = items[lane.items[lane.begun]];
        under_way.push_back(lane.items[lane.begun++]);
        item.state = Item::State::begun;
        item.event =
            comm.exchange(task, kScheduleTag, item.sends, item.receives);
      }
}

void MessageFlow::end(Item &item, ReduceOp op) {
  if (item.reduces)
    combine(item.into, {0}, item.receives.front().tensor, {0},
            {item.into.span()}, op);
  item.state = Item::State::ended;
  ++chunks[item.chunk].ended;
  chunks[item.chunk].ended_arrivals += item.receives.size();
}

void MessageFlow::run(Comm &comm, const char *task, ReduceOp op) {
  start();
  for (begin(comm, task); !under_way.empty(); begin(comm, task)) {
    events.clear();
    waited.clear();
    for (std::size_t i : under_way)
      if (items[i].state == Item::State::begun) {
        events.push_back(items[i].event);
        waited.push_back(i);
      }
    items[waited[comm.wait_any(events)]].state = Item::State::arrived;
    // One that ends may have been what others of its chunk wait for.
    for (bool any = true; any;) {
      any = false;
      for (std::size_t i : under_way)
        if (items[i].state == Item::State::arrived && may_end(items[i])) {
          end(items[i], op);
          any = true;
        }
      under_way.erase(std::remove_if(under_way.begin(), under_way.end(),
                                     [&](std::size_t i) {
                                       return items[i].state ==
                                              Item::State::ended;
                                     }),
                      under_way.end());
    }
  }
}

} // namespace ffrt
