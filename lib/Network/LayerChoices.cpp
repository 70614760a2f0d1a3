//===- LayerChoices.cpp - where FlexNet's layers can be -------------------===//

#include "ffc/Network/LayerChoices.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ffc::network;
using ffc::plan::DeviceId;
using ffc::plan::FlexNetSplit;
using ffc::plan::OpId;

std::optional<LayerChoices> LayerChoices::of(const LayerSteps &steps,
                                             std::string &error) {
  LayerChoices choices;
  choices.steps = &steps;
  const ffc::plan::Topology &topology = steps.topology();
  choices.servers = static_cast<int>(topology.nodes().size());
  choices.devicesOf.resize(choices.servers);
  for (DeviceId id = 0; id < topology.numDevices(); ++id)
    choices.devicesOf[topology.device(id).node].push_back(id);
  const auto gpus = static_cast<int64_t>(choices.devicesOf[0].size());
  for (const ffc::plan::FlexNetLayer &layer : steps.layers().list) {
    std::vector<FlexNetSplit> splits =
        flexNetSplits(steps.measures(), steps.graph(), layer, gpus);
    splits.erase(std::remove_if(splits.begin(), splits.end(),
                                [&](const FlexNetSplit &split) {
                                  return split.servers > choices.servers;
                                }),
                 splits.end());
    if (splits.empty()) {
      error = "'" + steps.graph().op(layer.op).name +
              "': expected measurements of '" + layer.name + "' on " +
              std::to_string(choices.servers) + " servers or fewer, found none";
      return std::nullopt;
    }
    choices.splits.push_back(std::move(splits));
  }
  choices.findChains();
  return choices;
}

void LayerChoices::findChains() {
  const ffc::plan::Graph &graph = steps->graph();
  const size_t count = splits.size();
  std::vector<std::set<int>> before(count), after(count);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    for (ffc::plan::ValueId value : graph.op(id).operands) {
      if (value < 0 || graph.value(value).producer < 0)
        continue;
      const int to = steps->layers().of[id],
                from = steps->layers().of[graph.value(value).producer];
      if (from < 0 || to < 0 || from == to)
        continue;
      before[to].insert(from);
      after[from].insert(to);
    }
  chainOf.assign(count, 0);
  for (size_t layer = 0; layer < count; ++layer) {
    readers.emplace_back(after[layer].begin(), after[layer].end());
    neighbours.emplace_back(before[layer].begin(), before[layer].end());
    neighbours.back().insert(neighbours.back().end(), after[layer].begin(),
                             after[layer].end());
    const bool goesOn = before[layer].size() == 1 &&
                        after[*before[layer].begin()].size() == 1 &&
                        chains[chainOf[*before[layer].begin()]].back() ==
                            static_cast<size_t>(*before[layer].begin());
    if (goesOn) {
      chainOf[layer] = chainOf[*before[layer].begin()];
    } else {
      chainOf[layer] = chains.size();
      chains.emplace_back();
    }
    chains[chainOf[layer]].push_back(layer);
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

const FlexNetSplit *LayerChoices::splitOf(size_t layer, int count) const {
  const FlexNetSplit *best = nullptr;
  for (const FlexNetSplit &split : splits[layer])
    if (split.servers <= count)
      best = &split;
  return best;
}

bool LayerChoices::canBe(size_t layer, const ServerSet &set) const {
  const FlexNetSplit *split = splitOf(layer, set.count);
  return split && split->servers == set.count;
}

bool LayerChoices::place(Placement &placement, size_t layer,
                         const ServerSet &set) const {
  if (!canBe(layer, set))
    return false;
  placement[layer] = set;
  return true;
}

/// Servers in a row, or evenly spaced, from a multiple of their number on.
ServerSet LayerChoices::draw(size_t layer, std::mt19937_64 &random) const {
  ServerSet set;
  set.count =
      static_cast<int>(splits[layer][random() % splits[layer].size()].servers);
  const auto groups = static_cast<uint64_t>(servers / set.count);
  if (set.count > 1 && random() % 2 == 0) {
    set.stride = static_cast<int>(groups);
    set.first = static_cast<int>(random() % groups);
  } else {
    set.first = static_cast<int>(random() % groups) * set.count;
  }
  return set;
}

ffc::plan::Strategy LayerChoices::strategyOf(const Placement &placement) const {
  const ffc::plan::Graph &graph = steps->graph();
  ffc::plan::PartialStrategy given(graph.ops.size());
  for (size_t layer = 0; layer < placement.size(); ++layer) {
    const ServerSet &set = placement[layer];
    ffc::plan::Configuration config = splitOf(layer, set.count)->config;
    const size_t parts = config.devices.size() / set.count;
    for (int i = 0; i < set.count; ++i) {
      const std::vector<DeviceId> &devices =
          devicesOf[set.first + i * set.stride];
      for (size_t part = 0; part < parts; ++part)
        config.devices[i * parts + part] =
            // Tables of a server are on all of its devices in turn.
            parts == 1 ? devices[layer / servers % devices.size()]
                       : devices[part];
    }
    given[steps->layers().list[layer].op] = std::move(config);
  }
  return completeStrategy(graph, given);
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

double LayerChoices::timeOf(size_t layer) const {
  const FlexNetSplit *split = splitOf(layer, servers);
  auto degrees = flexNetDegrees(steps->graph(), steps->layers().list[layer].op,
                                split->config);
  if (!degrees)
    return 0;
  degrees->back() = split->servers;
  const auto times = flexNetTimes(steps->measures(),
                                  steps->layers().list[layer].name, *degrees);
  return times ? double(times->forward) + double(times->backward) : 0;
}

Placement LayerChoices::dataParallel() const {
  Placement placement(splits.size());
  int next = 0;
  for (size_t layer = 0; layer < splits.size(); ++layer) {
    ServerSet &set = placement[layer];
    set.count = static_cast<int>(splitOf(layer, servers)->servers);
    if (set.count < servers)
      set.first = next++ % (servers / set.count) * set.count;
  }
  return placement;
}

/// Chains that the same layer joins. Those that take the longest, one after the
/// other where least is done so far, as long as all groups get as many.
std::optional<Placement> LayerChoices::branches(int groups) const {
  Placement placement = dataParallel();
  const int count = servers / groups;
  std::vector<std::pair<double, size_t>> parallel;
  std::map<std::vector<int>, int> joined; // how many, by who reads them
  for (const std::vector<size_t> &chain : chains)
    joined[readers[chain.back()]] += chain.size() > 1;
  for (size_t chain = 0; chain < chains.size(); ++chain) {
    const std::vector<int> &by = readers[chains[chain].back()];
    if (chains[chain].size() < 2 || by.empty() || joined[by] < 2)
      continue;
    double time = 0;
    bool fits = true;
    for (size_t layer : chains[chain]) {
      time += timeOf(layer);
      fits = fits && canBe(layer, {0, count, 1});
    }
    if (fits)
      parallel.push_back({time, chain});
  }
  std::sort(parallel.begin(), parallel.end(), std::greater<>());
  const size_t placed = parallel.size() / groups * groups;
  if (placed == 0)
    return std::nullopt;
  std::vector<double> busy(groups);
  for (size_t i = 0; i < placed; ++i) {
    const auto least = std::min_element(busy.begin(), busy.end());
    *least += parallel[i].first;
    const int group = static_cast<int>(least - busy.begin());
    for (size_t layer : chains[parallel[i].second])
      placement[layer] = {group * count, count, 1};
  }
  return placement;
}

std::vector<NamedPlacement> LayerChoices::starts() const {
  std::vector<NamedPlacement> list = {{"data-parallel", dataParallel()}};
  for (int groups = 2; groups <= servers; groups *= 2)
    if (servers % groups == 0)
      if (auto placement = branches(groups))
        list.push_back({"branches on " + std::to_string(groups) + " groups",
                        std::move(*placement)});
  return list;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

Placement LayerChoices::propose(const Placement &from,
                                std::mt19937_64 &random) const {
  Placement to = from;
  const size_t layer = random() % splits.size();
  const std::vector<size_t> &chain = chains[chainOf[layer]];
  switch (random() % 4) {
  case 0:
    to[layer] = draw(layer, random);
    break;
  case 1: { // a part of a chain, or all of it
    const ServerSet set = draw(layer, random);
    const size_t at =
        std::find(chain.begin(), chain.end(), layer) - chain.begin();
    const bool all = random() % 2 == 0;
    const size_t begin = all ? 0 : at,
                 end = all ? chain.size()
                           : at + 1 + random() % (chain.size() - at);
    for (size_t i = begin; i < end; ++i)
      place(to, chain[i], set);
    break;
  }
  case 2: // propagation, as FlexNet's
    if (!neighbours[layer].empty())
      place(to, layer,
            from[neighbours[layer][random() % neighbours[layer].size()]]);
    break;
  default: { // whole chains change places
    const std::vector<size_t> &other = chains[random() % chains.size()];
    const ServerSet here = from[chain.front()], there = from[other.front()];
    for (size_t each : chain)
      place(to, each, there);
    for (size_t each : other)
      place(to, each, here);
  }
  }
  return to;
}
