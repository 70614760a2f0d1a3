//===- Bound.cpp - the least time that any strategy can take --------------===//

#include "ffc/Search/Search.h"

#include "Shares.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace ffc;
using namespace ffc::plan;
using namespace ffc::search;

namespace {

/// The best figures of any device, and those of all together.
struct Machine : BestDevice {
  explicit Machine(const Topology &topology)
      : BestDevice(topology), devices(topology.numDevices()) {}

  double allBandwidth(const Phase &phase) const {
    double sum = 0;
    for (DeviceId d = 0; d < topology.numDevices(); ++d)
      sum += reachedBandwidth(topology.kindOf(d), phase.kernel);
    return sum;
  }

  double allFlops(Arithmetic arithmetic, const Phase &phase) const {
    double sum = 0;
    for (DeviceId d = 0; d < topology.numDevices(); ++d)
      sum += reachedFlops(topology.kindOf(d), arithmetic, phase.kernel);
    return sum;
  }

  double devices;
};

/// Picoseconds.
struct Work {
  double onBest = 0; ///< of one device with all the best figures
  double flopsOnAll = 0, bytesOnAll = 0;

  void add(const Work &other) {
    onBest += other.onBest;
    flopsOnAll += other.flopsOnAll;
    bytesOnAll += other.bytesOnAll;
  }
  void takeLeast(const Work &other) {
    onBest = std::min(onBest, other.onBest);
    flopsOnAll = std::min(flopsOnAll, other.flopsOnAll);
    bytesOnAll = std::min(bytesOnAll, other.bytesOnAll);
  }
};

class Bound {
public:
  Bound(const Graph &graph, const Topology &topology)
      : graph(graph), machine(topology) {}

  double run() const {
    Work work;
    std::vector<int64_t> depth(graph.ops.size());
    int64_t deepest = 0, deepestOfMicroBatch = 0;
    for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
      const bool isRepeated = graph.isRepeated(id);
      const Work once = workOf(id);
      for (int microBatch = 0;
           microBatch < (isRepeated ? graph.microBatches : 1); ++microBatch)
        work.add(once);
      for (ValueId operand : graph.op(id).operands)
        if (operand >= 0 && graph.value(operand).producer >= 0 &&
            waitsFor(id, operand))
          depth[id] = std::max(depth[id], depth[graph.value(operand).producer]);
      depth[id] += leastStarts(graph.op(id).rules);
      deepest = std::max(deepest, depth[id]);
      if (isRepeated)
        deepestOfMicroBatch = std::max(deepestOfMicroBatch, depth[id]);
    }
    return std::max(
        {work.onBest / machine.devices, work.flopsOnAll, work.bytesOnAll,
         static_cast<double>((graph.microBatches - 1) * deepestOfMicroBatch +
                             deepest) *
             machine.launch});
  }

private:
  /// Of any kernel that an operator may have.
  int64_t leastStarts(const OpRules &rules) const {
    int64_t least = INT64_MAX;
    for (const Schedule &schedule : rules.schedules)
      for (const Phase &phase : schedule.phases)
        least = std::min(least, machine.starts(phase));
    return least == INT64_MAX ? 1 : least;
  }

  /// Elements of one tensor dimension that the tiles of any split touch
  /// together.
  static double touched(const DimMap &map, const std::vector<IterDim> &dims,
                        int64_t extent) {
    Access access;
    access.dims = {map};
    auto elements = [&](int64_t lo, int64_t hi) {
      Tile tile(static_cast<int>(dims.size()));
      for (int d = 0; d < tile.rank(); ++d)
        tile[d] = {0, dims[d].extent};
      if (lo < hi)
        tile[map.dims[0]] = {lo, hi};
      return static_cast<double>(
          regionOf(access, dims, tile, {extent}).volume());
    };
    if (map.kind != DimMap::Kind::Window || map.stride <= map.reach)
      return elements(0, 0);
    // What lies between two windows is touched only by a tile of both.
    double sum = 0;
    for (int64_t t = 0; t < dims[map.dims[0]].extent; ++t)
      sum += elements(t, t + 1);
    return sum;
  }

  double bytesOf(OpId id, int slot, const Access &access,
                 double touchedPerPoint, const Tile &whole) const {
    const Op &op = graph.op(id);
    if (!isPresent(graph, id, slot))
      return 0;
    const TensorType &type = graph.slotType(id, slot);
    auto bytes = static_cast<double>(byteSize(type.type));
    for (size_t d = 0; d < access.dims.size(); ++d)
      bytes *= touched(access.dims[d], op.rules.dims, type.shape[d]);
    // What tiles touch of it grows with their points, however they are split.
    return static_cast<double>(
        touchedBytes(touchedPerPoint, whole, type.type, std::llround(bytes)));
  }

  Work workOf(OpId id, const Phase &phase, const Tile &whole) const {
    const Op &op = graph.op(id);
    double bytes = 0, best = 0, all = 0;
    auto rate = [&](ElementType type) {
      const Arithmetic arithmetic = arithmeticOf(op, type);
      best = std::max(best, machine.flops(arithmetic, phase));
      all = std::max(all, machine.allFlops(arithmetic, phase));
    };
    for (const SlotRead &read : phase.reads) {
      bytes += bytesOf(id, read.slot, read.access, read.touchedPerPoint, whole);
      if (isPresent(graph, id, read.slot))
        if (ElementType type = graph.slotType(id, read.slot).type;
            decidesArithmetic(type))
          rate(type);
    }
    for (const SlotWrite &write : phase.writes) {
      bytes +=
          bytesOf(id, write.slot, write.access, write.touchedPerPoint, whole);
      if (isPresent(graph, id, write.slot))
        rate(graph.slotType(id, write.slot).type);
    }
    if (best == 0)
      rate(ElementType::F32);
    const double flops = 1e12 * flopsOf(phase, whole);
    bytes *= 1e12;
    return {
        machine.startTime(phase) +
            machine.busy(phase, flops / best, bytes / machine.bandwidth(phase)),
        flops / all, bytes / machine.allBandwidth(phase)};
  }

  /// Of the cheapest schedule.
  Work workOf(OpId id) const {
    const Op &op = graph.op(id);
    const Tile whole = Configuration::onDevice(0).tileOf(op.rules, 0);
    std::optional<Work> least;
    for (const Schedule &schedule : op.rules.schedules) {
      Work work;
      for (const Phase &phase : schedule.phases)
        work.add(workOf(id, phase, whole));
      if (least)
        least->takeLeast(work);
      else
        least = work;
    }
    return least.value_or(Work());
  }

  //===--------------------------------------------------------------------===//
  // Dependences
  //===--------------------------------------------------------------------===//

  /// Does every tile read some of the tensor?
  static bool neverEmpty(const Access &access, const OpRules &rules,
                         const Shape &shape) {
    if (!access.onlyAtStart.empty())
      return false;
    for (size_t d = 0; d < access.dims.size(); ++d) {
      const DimMap &map = access.dims[d];
      if (map.kind == DimMap::Kind::Full || map.kind == DimMap::Kind::Digits)
        continue;
      if (map.kind == DimMap::Kind::Inverse && map.stride > map.reach)
        return false;
      // Intervals move one way, so the first and the last place tell.
      Access one;
      one.dims = {map};
      Tile tile(static_cast<int>(rules.dims.size()));
      const int64_t last = rules.dims[map.dims[0]].extent - 1;
      for (int64_t place : {int64_t(0), last}) {
        tile[map.dims[0]] = {place, place + 1};
        if (regionOf(one, rules.dims, tile, {shape[d]}).empty())
          return false;
      }
    }
    return true;
  }

  /// Does every kernel of the operator, whatever its configuration, wait for
  /// some of `value`? Internal tensors come from earlier kernels of its own.
  bool waitsFor(OpId id, ValueId value) const {
    const Op &op = graph.op(id);
    const int internals =
        static_cast<int>(op.operands.size() + op.results.size());
    for (const Schedule &schedule : op.rules.schedules)
      for (const Phase &phase : schedule.phases)
        if (std::none_of(phase.reads.begin(), phase.reads.end(),
                         [&](const SlotRead &read) {
                           return (read.slot >= internals ||
                                   graph.slotValue(id, read.slot) == value) &&
                                  neverEmpty(
                                      read.access, op.rules,
                                      graph.slotType(id, read.slot).shape);
                         }))
          return false;
    return true;
  }

  const Graph &graph;
  Machine machine;
};

} // namespace

Picoseconds search::lowerBound(const Graph &graph, const Topology &topology) {
  // Less what adding up many numbers may have rounded.
  double bound = (1 - 1e-9) * Bound(graph, topology).run();
  return bound < static_cast<double>(kMaxCost) ? static_cast<Picoseconds>(bound)
                                               : kMaxCost;
}
