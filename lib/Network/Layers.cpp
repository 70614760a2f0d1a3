//===- Layers.cpp - layers of cycles --------------------------------------===//

#include "Layers.h"

#include <algorithm>

using namespace ffc::network;

std::vector<std::vector<int>>
ffc::network::groupClasses(const Traffic &traffic) {
  const std::vector<AllReduceGroup> &groups = traffic.groups;
  std::vector<int> order(groups.size());
  for (size_t g = 0; g < groups.size(); ++g)
    order[g] = static_cast<int>(g);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return groups[a].sentByEach() > groups[b].sentByEach();
  });
  std::vector<std::vector<int>> classes;
  std::vector<std::vector<bool>> taken;
  for (int g : order) {
    const std::vector<VertexId> &members = groups[g].members;
    size_t c = 0;
    for (; c < classes.size(); ++c)
      if (groups[classes[c].front()].members.size() == members.size() &&
          std::none_of(members.begin(), members.end(),
                       [&](VertexId v) { return taken[c][v]; }))
        break;
    if (c == classes.size()) {
      classes.emplace_back();
      taken.emplace_back(traffic.numServers);
    }
    classes[c].push_back(g);
    for (VertexId v : members)
      taken[c][v] = true;
  }
  return classes;
}

int ffc::network::costOf(const Layer &layer, LinkKind kind) {
  if (kind == LinkKind::OneWay)
    return 1;
  return std::all_of(layer.cycles.begin(), layer.cycles.end(),
                     [](const auto &cycle) { return cycle.size() <= 2; })
             ? 1
             : 2;
}

Pairs LayeredWiring::connections() const {
  Pairs pairs;
  for (const Layer &layer : layers)
    for (const std::vector<VertexId> &cycle : layer.cycles) {
      if (cycle.size() < 2)
        continue;
      // Two servers are joined in both directions by one two-way link.
      const bool single = cycle.size() == 2 && kind == LinkKind::TwoWay;
      for (size_t i = 0; i + single < cycle.size(); ++i)
        pairs.push_back({cycle[i], cycle[(i + 1) % cycle.size()]});
    }
  return pairs;
}

static std::vector<VertexId> reversed(std::vector<VertexId> order) {
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<RingOrders> LayeredWiring::rings(const Traffic &traffic) const {
  std::vector<RingOrders> rings(traffic.groups.size());
  auto add = [&](size_t group, const std::vector<VertexId> &order) {
    rings[group].push_back(order);
    if (kind == LinkKind::TwoWay && order.size() > 2)
      rings[group].push_back(reversed(order));
  };
  for (const Layer &layer : layers)
    for (size_t c = 0; c < layer.cycles.size(); ++c)
      if (layer.groups[c] >= 0)
        add(static_cast<size_t>(layer.groups[c]), layer.cycles[c]);
  for (size_t g = 0; g < rings.size(); ++g) {
    if (!rings[g].empty())
      continue;
    const std::vector<VertexId> &members = traffic.groups[g].members;
    std::vector<bool> isMember(numServers);
    for (VertexId v : members)
      isMember[v] = true;
    for (const Layer &layer : layers) {
      if (int(layer.cycles.front().size()) != numServers)
        continue;
      std::vector<VertexId> order;
      for (VertexId v : layer.cycles.front())
        if (isMember[v])
          order.push_back(v);
      add(g, order);
    }
    if (rings[g].empty())
      add(g, members);
  }
  return rings;
}

Wiring LayeredWiring::wiring(const Traffic &traffic) const {
  return {numServers, kind, connections(), rings(traffic)};
}

void LayeredWiring::apply(const Move &move) {
  Layer &layer = layers[move.layer];
  std::vector<VertexId> &cycle = layer.cycles[move.cycle];
  if (move.swaps)
    std::swap(cycle[move.from], layer.cycles[move.otherCycle][move.to]);
  else
    std::reverse(cycle.begin() + long(move.from),
                 cycle.begin() + long(move.to) + 1);
}

void LayeredWiring::undo() { apply(last); }

bool LayeredWiring::propose(std::mt19937_64 &random) {
  auto below = [&](size_t bound) {
    return static_cast<size_t>(random() % bound);
  };
  // Small cycles of groups cannot change; others are met soon.
  constexpr int kTries = 64;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Move move;
    move.layer = below(layers.size());
    const Layer &layer = layers[move.layer];
    move.cycle = move.otherCycle = below(layer.cycles.size());
    const size_t size = layer.cycles[move.cycle].size();
    move.swaps = below(3) == 0;
    if (layer.groups[move.cycle] < 0 && layer.cycles.size() > 1) {
      move.otherCycle = below(layer.cycles.size());
      move.swaps = move.swaps || move.otherCycle != move.cycle;
    }
    move.from = below(size);
    move.to = below(layer.cycles[move.otherCycle].size());
    if (move.cycle == move.otherCycle) {
      if (size < 4 || move.from == move.to)
        continue;
      if (move.from > move.to)
        std::swap(move.from, move.to);
    }
    last = move;
    apply(move);
    return true;
  }
  return false;
}
