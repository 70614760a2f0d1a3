//===- ProgramWalk.h - runs all devices of a program in step ----*- C++ -*-===//
//
// Internal to Plan: steps through the actions of every device in an order that
// respects communication, and tells a visitor what happens. The order is a
// function of the program alone. The contract modelled is the weakest of the
// transports': an exchange posts its messages and goes on, a wait blocks until
// all of them have met their partner, and a collective blocks until all members
// have entered it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_PROGRAMWALK_H
#define FFC_LIB_PLAN_PROGRAMWALK_H

#include "ffc/Plan/Program.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

namespace ffc::plan {

/// Visitor concept:
///   bool local(ActionRef, const KernelAction &), and of copies and probes
///   bool posted(ActionRef, const ExchangeAction &)
///   bool message(ActionRef send, size_t s, ActionRef receive, size_t r)
///   bool collective(std::vector<ActionRef>)  in group order
///   bool waited(ActionRef, const WaitAction &)
/// Each returns false to stop the walk.
template <class Visitor> class ProgramWalk {
public:
  ProgramWalk(const Program &program, Visitor &visitor)
      : program(program), visitor(visitor), next(program.devices.size(), 0),
        unmet(program.devices.size()), queued(program.devices.size(), true) {
    for (size_t d = 0; d < program.devices.size(); ++d) {
      unmet[d].resize(program.devices[d].actions.size(), 0);
      ready.push_back(static_cast<DeviceId>(d));
    }
  }

  /// True if every device got to its end and every message met its partner.
  bool run() {
    while (!ready.empty()) {
      DeviceId device = ready.front();
      ready.pop_front();
      queued[device] = false;
      while (next[device] < numActions(device))
        if (!step({device, next[device]})) {
          if (stopped)
            return false;
          break;
        }
    }
    return stuck().empty() && strayMessages().empty();
  }

  /// Actions that devices are blocked in after a failed run.
  std::vector<ActionRef> stuck() const {
    std::vector<ActionRef> result;
    for (size_t d = 0; d < next.size(); ++d)
      if (next[d] < numActions(static_cast<DeviceId>(d)))
        result.push_back({static_cast<DeviceId>(d), next[d]});
    return result;
  }

  /// Exchanges with a message that met no partner.
  std::vector<ActionRef> strayMessages() const {
    std::vector<ActionRef> result;
    for (const auto *side : {&sends, &receives})
      for (const auto &[key, posted] : *side)
        for (const Posted &message : posted)
          result.push_back(message.action);
    return result;
  }

private:
  struct Posted {
    ActionRef action;
    size_t index;
  };
  using Channel = std::pair<DeviceId, DeviceId>; // source, destination

  int numActions(DeviceId d) const {
    return static_cast<int>(program.devices[d].actions.size());
  }
  void wake(DeviceId device) {
    if (!queued[device]) {
      queued[device] = true;
      ready.push_back(device);
    }
  }
  bool keep(bool goOn) {
    stopped |= !goOn;
    return goOn;
  }

  /// Does the device's next action; false if it blocks or the walk stops.
  bool step(ActionRef ref) {
    return program.action(ref).visit(
        [&](const ExchangeAction &exchange) {
          ++next[ref.device];
          return keep(visitor.posted(ref, exchange)) && post(ref, exchange);
        },
        [&](const CollectiveAction &collective) {
          return enter(ref, collective.group);
        },
        [&](const WaitAction &wait) {
          if (unmet[ref.device][wait.event] > 0)
            return false;
          ++next[ref.device];
          return keep(visitor.waited(ref, wait));
        },
        [&](const auto &local) {
          ++next[ref.device];
          return keep(visitor.local(ref, local));
        });
  }

  bool post(ActionRef ref, const ExchangeAction &exchange) {
    const std::vector<Message> &out = exchange.sends, &in = exchange.receives;
    unmet[ref.device][ref.index] = static_cast<int>(out.size() + in.size());
    for (size_t i = 0; i < out.size(); ++i)
      if (!meet({ref.device, out[i].peer}, {ref, i}, sends, receives, true))
        return false;
    for (size_t i = 0; i < in.size(); ++i)
      if (!meet({in[i].peer, ref.device}, {ref, i}, receives, sends, false))
        return false;
    return true;
  }

  /// Messages between two devices meet in the order they are posted.
  bool meet(Channel channel, Posted mine,
            std::map<Channel, std::deque<Posted>> &same,
            std::map<Channel, std::deque<Posted>> &other, bool sending) {
    auto it = other.find(channel);
    if (it == other.end() || it->second.empty()) {
      same[channel].push_back(mine);
      return true;
    }
    Posted partner = it->second.front();
    it->second.pop_front();
    for (const Posted &end : {mine, partner})
      if (--unmet[end.action.device][end.action.index] == 0)
        wake(end.action.device);
    const Posted &send = sending ? mine : partner;
    const Posted &receive = sending ? partner : mine;
    return keep(visitor.message(send.action, send.index, receive.action,
                                receive.index));
  }

  bool enter(ActionRef ref, GroupId group) {
    const auto &members = program.groups[group];
    auto &arrived = entered[group];
    for (ActionRef other : arrived)
      if (other.device == ref.device)
        return false;
    arrived.push_back(ref);
    if (arrived.size() < members.size())
      return false;
    std::sort(arrived.begin(), arrived.end(),
              [](ActionRef x, ActionRef y) { return x.device < y.device; });
    std::vector<ActionRef> all = std::move(arrived);
    arrived.clear();
    for (ActionRef member : all) {
      ++next[member.device];
      if (member.device != ref.device)
        wake(member.device);
    }
    return keep(visitor.collective(all));
  }

  const Program &program;
  Visitor &visitor;
  std::vector<int> next;               ///< next action per device
  std::vector<std::vector<int>> unmet; ///< open messages per exchange
  std::vector<bool> queued;
  std::deque<DeviceId> ready;
  std::map<Channel, std::deque<Posted>> sends, receives;
  std::map<GroupId, std::vector<ActionRef>> entered;
  bool stopped = false;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PROGRAMWALK_H
