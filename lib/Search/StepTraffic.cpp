//===- StepTraffic.cpp - what has to be sent for a step -------------------===//

#include "StepTraffic.h"

#include <cmath>
#include <optional>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

/// Operands count together if no more points touch others.
constexpr double kFree = 1.0 / 16;

/// Dimensions of which there is more than one point.
DimSet allDims(const Op &op) {
  DimSet all = 0;
  for (size_t d = 0; d < op.rules.dims.size(); ++d)
    if (op.rules.dims[d].extent > 1)
      all |= DimSet(1) << d;
  return all;
}

/// How operators read values.
class Reads {
public:
  explicit Reads(const Graph &graph) : graph(graph) {}

  EvenAccess readOf(OpId id, const Schedule &schedule, ValueId value) const {
    const Access *access = accessOf(id, schedule, value);
    return access ? evenAccess(*access, graph.op(id).rules.dims,
                               graph.value(value).type.shape)
                  : EvenAccess();
  }

  /// Is every element read by some operator, whatever the schedules?
  bool isWhole(ValueId value) const {
    // By one, or in parts along some dimension.
    const Shape &shape = graph.value(value).type.shape;
    for (size_t d = 0; d <= shape.size(); ++d) {
      int64_t end = 0;
      for (const Interval &part : partsRead(value, d))
        if (part.lo <= end)
          end = std::max(end, part.hi);
      if (end >= (d < shape.size() ? shape[d] : 1))
        return true;
    }
    return false;
  }

  /// Do all of its readers, of which there are several, read different parts
  /// along some dimension?
  bool isDivided(ValueId value) const {
    const size_t readers = graph.value(value).uses.size();
    for (size_t d = 0; d < graph.value(value).type.shape.size(); ++d) {
      const std::vector<Interval> parts = partsRead(value, d);
      bool areApart = readers > 1 && parts.size() == readers;
      for (size_t i = 1; i < parts.size(); ++i)
        areApart &= parts[i - 1].hi <= parts[i].lo;
      if (areApart)
        return true;
    }
    return false;
  }

  static bool isOffset(const DimMap &map) {
    return map.kind == DimMap::Kind::Window && map.stride == 1 &&
           map.reach == 1;
  }

private:
  /// How an operator reads a value, in one of its schedules: the access that
  /// says most; null if it does not.
  const Access *accessOf(OpId id, const Schedule &schedule,
                         ValueId value) const {
    const Access *most = nullptr;
    double even = -1;
    for (const Phase &phase : schedule.phases)
      for (const SlotRead &read : phase.reads)
        if (isPresent(graph, id, read.slot) &&
            graph.slotValue(id, read.slot) == value)
          if (const double found =
                  evenAccess(read.access, graph.op(id).rules.dims,
                             graph.value(value).type.shape)
                      .even;
              found > even) {
            even = found;
            most = &read.access;
          }
    return most;
  }

  /// Those of readers for which they are known, ascending.
  std::vector<Interval> partsRead(ValueId value, size_t dim) const {
    std::vector<Interval> parts;
    for (const Use &use : graph.value(value).uses)
      if (const auto part = partRead(use.op, value, dim))
        parts.push_back(*part);
    std::sort(parts.begin(), parts.end());
    return parts;
  }

  /// The part of tensor dimension `dim` of which an operator reads every
  /// element, if it does so in all schedules; past the last dimension [0, 1) if
  /// it reads the whole value.
  std::optional<Interval> partRead(OpId id, ValueId value, size_t dim) const {
    const Shape &shape = graph.value(value).type.shape;
    std::optional<Interval> part;
    for (const Schedule &schedule : graph.op(id).rules.schedules) {
      const Access *access = accessOf(id, schedule, value);
      if (!access)
        return std::nullopt;
      Interval read{0, 1};
      Access others = *access;
      if (dim < shape.size()) {
        const DimMap &map = access->dims[dim];
        if (!isOffset(map))
          return std::nullopt;
        const IterDim &along = graph.op(id).rules.dims[map.dims[0]];
        read = {-map.pad, along.extent - map.pad};
        read = read.intersect({0, shape[dim]});
        others.dims[dim] = DimMap::full();
      }
      if (evenAccess(others, graph.op(id).rules.dims, shape).even != 1 ||
          (part && *part != read))
        return std::nullopt;
      part = read;
    }
    return part;
  }

  const Graph &graph;
};

/// Fills the lists of a StepTraffic.
class Finder {
public:
  Finder(const Graph &graph, std::vector<Traffic> &traffic)
      : graph(graph), reads(graph), traffic(traffic) {}

  void findTraffic() {
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
      const Value &value = graph.value(id);
      if (value.uses.empty())
        continue;
      Traffic &found = traffic[id];
      ValueId made = id;
      if (value.kind == ValueKind::State)
        made = graph.states[value.state].written;
      if (made < 0 || graph.value(made).producer < 0)
        continue;
      const OpId maker = graph.value(made).producer;
      const Making making = makingOf(graph, maker, graph.value(made).result);
      const bool isState = made != id;
      // A state's home is whole.
      if (!making.isEven || (isState && making.isPartial))
        continue;
      found.maker = maker;
      found.bytes = static_cast<double>(value.type.bytes()) *
                    (graph.isOfMicroBatch(id) ? graph.microBatches : 1);
      found.countsParts = making.isPartial && reads.isWhole(id);
      found.isDivided = reads.isDivided(id);
      // What is computed again comes together in places of its own.
      found.isSummed = found.countsParts && isUpdated(id) &&
                       graph.op(maker).role != OpRole::Forward;
    }
    keepOneSum();
  }

  Item itemOf(OpId id, const BestDevice &best) const {
    const Op &op = graph.op(id);
    Item item;
    item.time = timeOfShares(graph, id, best);
    item.time.starts *= timesOf(id);
    item.time.whole *= timesOf(id);
    const Pin together = joined(id);
    for (ValueId operand : op.operands)
      if (operand >= 0 && traffic[operand].bytes > 0 &&
          !std::count(together.values.begin(), together.values.end(),
                      operand) &&
          std::none_of(item.pins.begin(), item.pins.end(), [&](const Pin &pin) {
            return pin.values[0] == operand;
          }))
        item.pins.push_back({{operand}});
    if (!together.values.empty())
      item.pins.push_back(together);
    for (ValueId result : op.results)
      if (result >= 0 && traffic[result].countsParts)
        item.pins.push_back({{result}, /*isResult=*/true});
    for (const Schedule &schedule : op.rules.schedules) {
      std::vector<EvenAccess> accesses;
      for (Pin &pin : item.pins) {
        accesses.push_back(
            pin.values.size() > 1 ? EvenAccess{1 / (1 - pin.free), allDims(op)}
            : pin.isResult
                ? makingOf(graph, id, graph.value(pin.values[0]).result).access
                : reads.readOf(id, schedule, pin.values[0]));
        pin.even = std::min(pin.values.size() > 1 ? HUGE_VAL : pin.even,
                            accesses.back().even);
      }
      item.accesses.push_back(std::move(accesses));
    }
    item.isProduct = !item.accesses.empty();
    for (const auto &accesses : item.accesses) {
      std::vector<Touch> touches;
      for (const EvenAccess &access : accesses)
        touches.push_back({access.even, access.dims});
      item.isProduct &= hasThree(touches);
    }
    return item;
  }

private:
  double timesOf(OpId id) const {
    return graph.isRepeated(id) ? graph.microBatches : 1;
  }

  bool isUpdated(ValueId value) const {
    const auto &uses = graph.value(value).uses;
    return std::any_of(uses.begin(), uses.end(), [&](const Use &use) {
      return graph.op(use.op).role == OpRole::Update;
    });
  }

  /// Partial sums that go nowhere are not in a share, though they may be of use
  /// for another result. So of what an operator makes, states among it, only
  /// the largest value that counts its parts is known.
  void keepOneSum() {
    std::vector<ValueId> kept(graph.ops.size(), -1);
    for (ValueId id = 0; id < static_cast<ValueId>(traffic.size()); ++id)
      if (traffic[id].countsParts)
        if (ValueId &best = kept[traffic[id].maker];
            best < 0 || traffic[id].bytes > traffic[best].bytes)
          best = id;
    for (ValueId id = 0; id < static_cast<ValueId>(traffic.size()); ++id)
      if (const OpId maker = traffic[id].maker;
          maker >= 0 && kept[maker] >= 0 && kept[maker] != id)
        traffic[id] = {};
  }

  /// Operands of which every point reads an element of exactly one: parts of
  /// one iteration dimension next to each other, whole in all others.
  Pin joined(OpId id) const {
    const Op &op = graph.op(id);
    if (op.rules.schedules.size() != 1 ||
        op.rules.schedules[0].phases.size() != 1)
      return {};
    Pin pin;
    std::vector<Interval> parts;
    int along = -1;
    double sizeOfOne = 0;
    for (const SlotRead &read : op.rules.schedules[0].phases[0].reads) {
      if (!isPresent(graph, id, read.slot))
        continue;
      const ValueId value = graph.slotValue(id, read.slot);
      if (value < 0 || traffic[value].bytes == 0 ||
          graph.value(value).kind == ValueKind::State ||
          std::count(op.operands.begin(), op.operands.end(), value) != 1)
        continue;
      const Shape &shape = graph.value(value).type.shape;
      // The same part of the bytes of each is the same part of its elements.
      const double size =
          traffic[value].bytes / static_cast<double>(numElements(shape));
      if (!pin.values.empty() && size != sizeOfOne)
        return {};
      sizeOfOne = size;
      Access others = read.access;
      for (size_t d = 0; d < shape.size(); ++d) {
        const DimMap &map = read.access.dims[d];
        if (!Reads::isOffset(map) ||
            op.rules.dims[map.dims[0]].extent == shape[d] ||
            (along >= 0 && map.dims[0] != along))
          continue;
        others.dims[d] = DimMap::full();
        const EvenAccess rest = evenAccess(others, op.rules.dims, shape);
        if (rest.even != 1 ||
            rest.dims != (allDims(op) & ~(DimSet(1) << map.dims[0])))
          continue;
        along = map.dims[0];
        parts.push_back({map.pad, map.pad + shape[d]});
        pin.values.push_back(value);
        break;
      }
    }
    if (along < 0)
      return {};
    std::sort(parts.begin(), parts.end());
    int64_t end = 0, touched = 0;
    for (const Interval &part : parts) {
      if (part.lo < end)
        return {};
      end = part.hi;
      touched += part.size();
    }
    const int64_t points = op.rules.dims[along].extent;
    pin.free =
        static_cast<double>(points - touched) / static_cast<double>(points);
    if (end > points || pin.free > kFree || parts.size() < 2)
      return {};
    return pin;
  }

  const Graph &graph;
  const Reads reads;
  std::vector<Traffic> &traffic;
};

} // namespace

StepTraffic::StepTraffic(const Graph &graph, const Topology &topology)
    : graph(graph), traffic(graph.values.size()) {
  const BestDevice best(topology);
  Finder finder(graph, traffic);
  finder.findTraffic();
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    items.push_back(finder.itemOf(id, best));
  for (ValueId id = 0; id < static_cast<ValueId>(traffic.size()); ++id)
    if (traffic[id].bytes > 0)
      items[traffic[id].maker].made.push_back(id);
}
