//===- Action.cpp - one thing that a device does --------------------------===//

#include "ffc/Plan/Action.h"

#include <cassert>

using namespace ffc::plan;

bool ffc::plan::isCommunication(const Action &action) {
  return action.is<ExchangeAction>() || action.is<CollectiveAction>();
}

bool ffc::plan::isTask(const Action &action) {
  return isCommunication(action) || action.is<KernelAction>() ||
         action.is<CopyAction>();
}

const char *ffc::plan::str(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return "all_reduce";
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::Broadcast:
    return "broadcast";
  }
  assert(false && "unknown collective");
  return "";
}

const char *ffc::plan::str(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
  case CollectiveAlgorithm::Library:
    return "library";
  case CollectiveAlgorithm::OneShot:
    return "one_shot";
  case CollectiveAlgorithm::TwoShot:
    return "two_shot";
  case CollectiveAlgorithm::Schedule:
    return "schedule";
  }
  assert(false && "unknown algorithm");
  return "";
}

bool ffc::plan::canDo(CollectiveAlgorithm algorithm, CollectiveKind kind) {
  switch (algorithm) {
  case CollectiveAlgorithm::Library:
  case CollectiveAlgorithm::OneShot:
    return true;
  case CollectiveAlgorithm::TwoShot:
    return kind == CollectiveKind::AllReduce;
  case CollectiveAlgorithm::Schedule:
    return kind != CollectiveKind::Broadcast;
  }
  assert(false && "unknown algorithm");
  return false;
}

const char *ffc::plan::kindOf(const Action &action) {
  return action.visit([](const KernelAction &) { return "kernel"; },
                      [](const CopyAction &) { return "copy"; },
                      [](const ExchangeAction &) { return "exchange"; },
                      [](const CollectiveAction &) { return "collective"; },
                      [](const WaitAction &) { return "wait"; },
                      [](const ProbeAction &) { return "probe"; });
}
