//===- SentMessages.cpp - messages that travel beside kernels -------------===//

#include "SentMessages.h"

#include <algorithm>

using namespace ffc::plan;

void SentMessages::add(ValueId value, int part, const TaskSink::Waits &waits,
                       std::set<std::pair<DeviceId, BufferId>> received) {
  Sent sent, given;
  sent.part = given.part = part;
  sent.received = std::move(received);
  for (const TaskSink::Wait &wait : waits) {
    const auto at = sent.received.lower_bound({wait.device, -1});
    const bool receives = at != sent.received.end() && at->first == wait.device;
    (receives ? sent : given).waits.push_back(wait);
  }
  underWay[value].push_back(std::move(sent));
  unreleased[value].push_back(std::move(given));
}

bool SentMessages::areReadBy(ValueId value, const ReshardPlan &plan,
                             const Holdings &holdings) const {
  const auto it = underWay.find(value);
  if (it == underWay.end())
    return false;
  auto isReceived = [&](const TransferStep &step) {
    const Holding &from = holdings[step.holding];
    return std::any_of(it->second.begin(), it->second.end(),
                       [&](const Sent &sent) {
                         return sent.received.count({from.device, from.buffer});
                       });
  };
  return std::any_of(plan.transfers.begin(), plan.transfers.end(), isReceived);
}

void SentMessages::releaseAll() {
  for (auto &[value, parts] : unreleased)
    release(value, kAllParts);
}

void SentMessages::wait(Parts &parts, ValueId value, int last) {
  auto it = parts.find(value);
  if (it == parts.end())
    return;
  std::vector<Sent> rest;
  for (Sent &sent : it->second)
    if (sent.part <= last)
      build.wait(sent.waits, graph.value(value).name);
    else
      rest.push_back(std::move(sent));
  it->second = std::move(rest);
}
