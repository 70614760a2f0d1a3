//===- FlexFlowTimer.cpp - time of a step by FlexFlow's simulator ---------===//

#include "ffc/Plan/FlexFlowTimer.h"

#include "FlexFlow/FlexFlowCosts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

using namespace ffc::plan;

static constexpr double kSquaresFactor = -0.0001;

FlexFlowTimer::FlexFlowTimer(const FlexFlowModel &model, FlexFlowNodes nodes)
    : model(model), nodes(nodes), splits(model.dataParallel()),
      edgesOf(model.layers().size()), edgesFrom(model.layers().size()),
      parameterOf(model.layers().size(), -1), syncs(model.parameters().size()),
      syncsBefore(syncs) {
  for (int to = 0; to < static_cast<int>(model.layers().size()); ++to)
    for (int from : model.layers()[to].inputs) {
      edgesOf[to].push_back(static_cast<int>(edges.size()));
      edgesFrom[from].push_back(static_cast<int>(edges.size()));
      edges.emplace_back();
      edges.back().from = from;
      edges.back().to = to;
    }
  for (size_t i = 0; i < syncs.size(); ++i)
    for (int layer : model.parameters()[i].layers)
      parameterOf[layer] = static_cast<int>(i);
  edgesBefore = edges;
  assign(model.dataParallel());
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

float FlexFlowTimer::speed(DeviceId a, DeviceId b) const {
  const FlexFlowMachine &machine = model.machine();
  const bool isOneNode = nodes == FlexFlowNodes::AsWritten
                             ? a % machine.perNode == b % machine.perNode
                             : a / machine.perNode == b / machine.perNode;
  const float known = isOneNode ? machine.withinNode : machine.betweenNodes;
  // The program has both, whatever its cluster; a machine of one node, or of
  // nodes of one device, does not.
  constexpr float kWithin = 4 * 1024 * 1024, kBetween = 1024 * 1024;
  return known != 0 ? known : isOneNode ? kWithin : kBetween;
}

void FlexFlowTimer::rebuild(Edge &edge) const {
  const FlexFlowLayer &from = model.layers()[edge.from];
  const FlexFlowSplit &source = splits[edge.from], &target = splits[edge.to];
  const int64_t sourceRows = from.samples / source.samples;
  const int64_t targetRows = from.samples / target.samples;
  const int64_t channels = from.perSample.front() / source.channels;
  edge.links.clear();
  for (int dst = 0; dst < target.numParts(); ++dst) {
    const int64_t begin = dst / target.channels * targetRows;
    // Of what is read, the source parts that may have some.
    const auto first = static_cast<int>(begin / sourceRows);
    for (int row = first; row < source.samples; ++row) {
      const int64_t common =
          std::min(begin + targetRows, (row + 1) * sourceRows) -
          std::max(begin, row * sourceRows);
      if (common <= 0)
        break;
      float elements =
          static_cast<float>(common) * static_cast<float>(channels);
      for (size_t d = 1; d < from.perSample.size(); ++d)
        elements *= static_cast<float>(from.perSample[d]);
      for (int column = 0; column < source.channels; ++column) {
        const int src = row * source.channels + column;
        const DeviceId a = source.devices[src], b = target.devices[dst];
        Link link{static_cast<uint8_t>(src), static_cast<uint8_t>(dst), a != b,
                  0};
        if (link.isTransfer)
          link.ms = elements * static_cast<float>(kFlexFlowTimeSteps) *
                    kBytesOfFloat / speed(a, b);
        edge.links.push_back(link);
      }
    }
  }
  edge.starts.assign(source.numParts() + 1, 0);
  for (const Link &link : edge.links)
    ++edge.starts[link.src + 1];
  for (int part = 0; part < source.numParts(); ++part)
    edge.starts[part + 1] += edge.starts[part];
  edge.bySource.resize(edge.links.size());
  std::vector<uint16_t> next(edge.starts.begin(), edge.starts.end() - 1);
  for (size_t i = 0; i < edge.links.size(); ++i)
    edge.bySource[next[edge.links[i].src]++] = static_cast<uint16_t>(i);
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

/// What a piece of a parameter takes that devices have so often, with or
/// without the term of the squares. Sums are rounded where the program does.
static double synchronisePiece(const FlexFlowMachine &machine, float bytes,
                               const int *copies, bool countsSquares) {
  int within = 0, between = 0, squares = 0;
  for (int node = 0; node < machine.nodes; ++node) {
    int devices = 0;
    for (int d = 0; d < machine.perNode; ++d) {
      const int number = copies[node * machine.perNode + d];
      devices += number > 0;
      squares += number * number;
    }
    within = std::max(within, devices);
    between += devices > 0;
  }
  float result = 0;
  if (within > 1)
    result += bytes * static_cast<float>(within - 1) / machine.withinNode;
  if (between > 1)
    result += bytes * static_cast<float>(between - 1) / machine.betweenNodes;
  return countsSquares ? result + squares * kSquaresFactor : result;
}

float FlexFlowTimer::synchronise(const FlexFlowParameter &parameter) const {
  const FlexFlowLayer &first = model.layers()[parameter.layers.front()];
  if (first.isLinear())
    return synchroniseLinear(parameter);
  std::array<int, kMaxFlexFlowDevices> copies{};
  for (int layer : parameter.layers)
    for (DeviceId device : splits[layer].devices)
      copies[device] += model.layers()[layer].blocks;
  return static_cast<float>(
      synchronisePiece(model.machine(), parameter.bytes, copies.data(),
                       first.kind != FlexFlowLayer::Kind::Conv2D));
}

float FlexFlowTimer::synchroniseLinear(
    const FlexFlowParameter &parameter) const {
  const int numPieces = model.machine().numDevices();
  std::vector<int> copies(static_cast<size_t>(numPieces) * numPieces);
  // A part has as many pieces, the same ones, as there are parts of samples.
  for (int layer : parameter.layers) {
    const FlexFlowSplit &split = splits[layer];
    for (int part = 0; part < split.numParts(); ++part) {
      const int first = part % split.channels * split.samples;
      for (int piece = first; piece < first + split.samples; ++piece)
        ++copies[static_cast<size_t>(piece) * numPieces + split.devices[part]];
    }
  }
  float result = 0;
  const float bytes = parameter.bytes / static_cast<float>(numPieces);
  for (int piece = 0; piece < numPieces; ++piece)
    result = static_cast<float>(
        result + synchronisePiece(
                     model.machine(), bytes,
                     &copies[static_cast<size_t>(piece) * numPieces], true));
  return result;
}

//===----------------------------------------------------------------------===//
// The tasks
//===----------------------------------------------------------------------===//

/// A task in the queue: when it is ready, its layer, and its number among the
/// layer's tasks. Times are not negative, and then ordered as their bits are.
static constexpr int kLayerShift = 22;
static_assert(kMaxFlexFlowLayers < 1 << (32 - kLayerShift));
static_assert(kMaxFlexFlowLayers * kMaxFlexFlowDevices * kMaxFlexFlowDevices <
              1 << kLayerShift);

/// Queues of transfers stand behind those of devices, by the part that is read
/// and the one that reads.
static constexpr size_t kQueuesOfPart = kMaxFlexFlowDevices;

static uint64_t entryOf(float ready, uint32_t layer, uint32_t number) {
  uint32_t bits = 0;
  std::memcpy(&bits, &ready, sizeof(bits));
  return uint64_t(bits) << 32 | layer << kLayerShift | number;
}

static float readyOf(uint64_t entry) {
  const auto bits = static_cast<uint32_t>(entry >> 32);
  float ready = 0;
  std::memcpy(&ready, &bits, sizeof(ready));
  return ready;
}

float FlexFlowTimer::findBounds() {
  const auto numLayers = static_cast<int>(model.layers().size());
  partTimes.resize(numLayers);
  tails.assign(numLayers, 0);
  std::array<float, kMaxFlexFlowDevices> loads{};
  for (int layer = numLayers - 1; layer >= 0; --layer) {
    partTimes[layer] = model.time(layer, splits[layer]);
    for (DeviceId device : splits[layer].devices)
      loads[device] += partTimes[layer];
    // Each part is read by some part of every reader.
    for (int edge : edgesFrom[layer]) {
      const int reader = edges[edge].to;
      tails[layer] = std::max(tails[layer], tails[reader] + partTimes[reader]);
    }
  }
  return *std::max_element(loads.begin(), loads.end());
}

void FlexFlowTimer::prepareTasks() {
  const size_t numLayers = splits.size();
  firstPart.resize(numLayers + 1);
  for (size_t layer = 0; layer < numLayers; ++layer)
    firstPart[layer + 1] = firstPart[layer] + splits[layer].numParts();
  ready.assign(firstPart[numLayers], 0);
  waits.assign(firstPart[numLayers], 0);
  busy.assign(kQueuesOfPart * (kMaxFlexFlowDevices + 1), 0);
  queue.clear();
  for (size_t layer = 0; layer < numLayers; ++layer) {
    auto number = static_cast<uint32_t>(splits[layer].numParts());
    for (int e : edgesOf[layer]) {
      Edge &edge = edges[e];
      edge.firstTask = number;
      number += static_cast<uint32_t>(edge.links.size());
      for (const Link &link : edge.links)
        ++waits[firstPart[layer] + link.dst];
    }
    for (int part = 0; part < splits[layer].numParts(); ++part)
      if (waits[firstPart[layer] + part] == 0)
        push(entryOf(0, static_cast<uint32_t>(layer), part));
  }
}

void FlexFlowTimer::push(uint64_t entry) {
  queue.push_back(entry);
  std::push_heap(queue.begin(), queue.end(), std::greater<>());
}

void FlexFlowTimer::arrive(uint32_t layer, uint32_t part, float at) {
  const uint32_t task = firstPart[layer] + part;
  ready[task] = std::max(ready[task], at);
  if (--waits[task] == 0)
    push(entryOf(ready[task], layer, part));
}

float FlexFlowTimer::runPart(uint32_t layer, uint32_t part, float readyAt) {
  float &free = busy[splits[layer].devices[part]];
  free = std::max(free, readyAt) + partTimes[layer];
  for (int e : edgesFrom[layer]) {
    const Edge &edge = edges[e];
    for (uint32_t i = edge.starts[part]; i < edge.starts[part + 1]; ++i) {
      const Link &link = edge.links[edge.bySource[i]];
      if (link.isTransfer)
        push(entryOf(free, edge.to, edge.firstTask + edge.bySource[i]));
      else
        arrive(edge.to, link.dst, free);
    }
  }
  return free;
}

void FlexFlowTimer::runTransfer(uint32_t layer, uint32_t number,
                                float readyAt) {
  for (int e : edgesOf[layer]) {
    const Edge &edge = edges[e];
    if (number >= edge.firstTask + edge.links.size())
      continue;
    const Link &link = edge.links[number - edge.firstTask];
    float &free = busy[(link.src + 1) * kQueuesOfPart + link.dst];
    free = std::max(free, readyAt) + link.ms;
    return arrive(layer, link.dst, free);
  }
}

float FlexFlowTimer::simulate(float limit) {
  if (const float bound = findBounds(); bound > limit)
    return bound;
  prepareTasks();
  float latest = 0;
  while (!queue.empty()) {
    const uint64_t entry = queue.front();
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    queue.pop_back();
    const uint32_t layer = static_cast<uint32_t>(entry) >> kLayerShift;
    const uint32_t number =
        static_cast<uint32_t>(entry) & ((1U << kLayerShift) - 1);
    if (number >= static_cast<uint32_t>(splits[layer].numParts())) {
      runTransfer(layer, number, readyOf(entry));
      continue;
    }
    const float end = runPart(layer, number, readyOf(entry));
    if (end + tails[layer] > limit)
      return end + tails[layer];
    latest = std::max(latest, end);
  }
  return latest;
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

/// Appends `item` unless it is there.
static void note(std::vector<int> &items, int item) {
  if (std::find(items.begin(), items.end(), item) == items.end())
    items.push_back(item);
}

float FlexFlowTimer::propose(std::vector<Change> &changes, float limit) {
  staleEdges.clear();
  staleParameters.clear();
  for (Change &change : changes) {
    std::swap(splits[change.layer], change.split);
    for (int edge : edgesOf[change.layer])
      note(staleEdges, edge);
    for (int edge : edgesFrom[change.layer])
      note(staleEdges, edge);
    if (parameterOf[change.layer] >= 0)
      note(staleParameters, parameterOf[change.layer]);
  }
  for (int parameter : staleParameters) {
    syncsBefore[parameter] = syncs[parameter];
    syncs[parameter] = synchronise(model.parameters()[parameter]);
  }
  float sum = 0;
  for (float sync : syncs)
    sum += sync;
  if (sum > limit) {
    staleEdges.clear(); // They stay as they were.
    return proposed = sum;
  }
  for (int edge : staleEdges) {
    std::swap(edges[edge], edgesBefore[edge]);
    rebuild(edges[edge]);
  }
  // Rounded up: the order of the sums is another one.
  proposed = simulate((limit - sum) * 1.001F);
  for (float sync : syncs)
    proposed += sync;
  return proposed;
}

void FlexFlowTimer::reject(std::vector<Change> &changes) {
  for (Change &change : changes)
    std::swap(splits[change.layer], change.split);
  for (int parameter : staleParameters)
    syncs[parameter] = syncsBefore[parameter];
  for (int edge : staleEdges)
    std::swap(edges[edge], edgesBefore[edge]);
}

void FlexFlowTimer::assign(const FlexFlowStrategy &strategy) {
  std::vector<Change> changes;
  for (size_t layer = 0; layer < strategy.size(); ++layer)
    changes.push_back({static_cast<int>(layer), strategy[layer]});
  propose(changes);
  accept();
}
