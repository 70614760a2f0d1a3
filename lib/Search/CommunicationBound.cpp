//===- CommunicationBound.cpp - least time with communication -------------===//

#include "ffc/Search/CommunicationBound.h"

#include "Shares.h"

#include <cmath>
#include <optional>
#include <queue>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

//===----------------------------------------------------------------------===//
// Parties
//===----------------------------------------------------------------------===//

/// Devices, or nodes, and what they receive from others.
struct Parties {
  double count = 0;
  double devices = 0;   ///< of all
  double largest = 1;   ///< devices of one
  double bandwidth = 0; ///< bytes per picosecond, of all devices together
  double fastest = 0;   ///< of one device
  double most = 0;      ///< of the devices of one party
};

/// What a device receives from others passes a link of its own at the end, and
/// what comes from another node one into the node. (Links into a node are not
/// shared by different reshards, docs/decisions/0016.)
Parties partiesOf(const Topology &topology, bool areNodes) {
  const size_t nodes = topology.nodes().size();
  std::vector<double> own(topology.numDevices()), across(nodes), size(nodes),
      all(nodes);
  for (const Link &link : topology.links()) {
    const int src = topology.vertices()[link.src].node;
    const int dst = topology.vertices()[link.dst].node;
    for (int end : {link.src, link.dst})
      if (end < topology.numDevices())
        own[end] = std::max(own[end], link.bandwidth / 1e12);
    if (src != dst)
      for (int node : {src, dst})
        if (node >= 0)
          across[node] = std::max(across[node], link.bandwidth / 1e12);
  }
  for (DeviceId d = 0; d < topology.numDevices(); ++d)
    ++size[topology.device(d).node];
  Parties parties;
  parties.devices = topology.numDevices();
  parties.count = areNodes ? static_cast<double>(nodes) : parties.devices;
  for (DeviceId d = 0; d < topology.numDevices(); ++d) {
    const int node = topology.device(d).node;
    double bandwidth = own[d];
    if (areNodes || size[node] == 1)
      bandwidth = std::min(bandwidth, across[node]);
    parties.bandwidth += bandwidth;
    parties.fastest = std::max(parties.fastest, bandwidth);
    all[node] += bandwidth;
    if (areNodes) {
      parties.largest = std::max(parties.largest, size[node]);
      parties.most = std::max(parties.most, all[node]);
    }
  }
  if (!areNodes)
    parties.most = parties.fastest;
  return parties;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// What is known of a value's messages.
struct Traffic {
  double bytes = 0; ///< of the value; 0: nothing is known
  OpId maker = -1;  ///< whose share is credited
  /// Its makers' partial sums and its readers count for themselves.
  bool isSummed = false;
  /// Its makers count as touching it: they make partial sums that are read.
  bool countsParts = false;
  /// Its readers read different parts of it, so that no element counts for two.
  bool isDivided = false;
};

/// What an operator touches: an operand, the result, or operands of which every
/// point touches one (concatenations).
struct Pin {
  std::vector<ValueId> values;
  bool isResult = false;
  double even = 1; ///< the least of all schedules
  /// The part of the points that touch none of them.
  double free = 0;
};

/// Operands count together if no more points touch others.
constexpr double kFree = 1.0 / 16;

/// An operator as far as prices depend on it.
struct Item {
  ShareTime time;
  std::vector<Pin> pins;
  /// By schedule and pin.
  std::vector<std::vector<EvenAccess>> accesses;
  std::vector<ValueId> made; ///< values for which it is credited
  bool isProduct = false;    ///< three of its pins have no dimension in common
};

class Problem {
public:
  Problem(const Graph &graph, const Topology &topology) : graph(graph) {
    const BestDevice best(topology);
    findTraffic();
    for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
      items.push_back(itemOf(id, best));
  }

  const Graph &graph;
  std::vector<Traffic> traffic; ///< by value
  std::vector<Item> items;      ///< by operator

private:
  double timesOf(OpId id) const {
    return id < graph.microBatchEnd ? graph.microBatches : 1;
  }

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
  EvenAccess readOf(OpId id, const Schedule &schedule, ValueId value) const {
    const Access *access = accessOf(id, schedule, value);
    return access ? evenAccess(*access, graph.op(id).rules.dims,
                               graph.value(value).type.shape)
                  : EvenAccess();
  }

  /// Is every element read by some operator, whatever the schedules?
  bool isReadWhole(ValueId value) const {
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

  static bool isOffset(const DimMap &map) {
    return map.kind == DimMap::Kind::Window && map.stride == 1 &&
           map.reach == 1;
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
    for (const SlotRead &read : op.rules.schedules[0].phases[0].reads) {
      if (!isPresent(graph, id, read.slot))
        continue;
      const ValueId value = graph.slotValue(id, read.slot);
      if (value < 0 || traffic[value].bytes == 0 ||
          graph.value(value).kind == ValueKind::State ||
          std::count(op.operands.begin(), op.operands.end(), value) != 1)
        continue;
      const Shape &shape = graph.value(value).type.shape;
      Access others = read.access;
      for (size_t d = 0; d < shape.size(); ++d) {
        const DimMap &map = read.access.dims[d];
        if (!isOffset(map) || op.rules.dims[map.dims[0]].extent == shape[d] ||
            (along >= 0 && map.dims[0] != along))
          continue;
        others.dims[d] = DimMap::full();
        const EvenAccess rest = evenAccess(others, op.rules.dims, shape);
        DimSet all = 0;
        for (size_t i = 0; i < op.rules.dims.size(); ++i)
          if (op.rules.dims[i].extent > 1 && static_cast<int>(i) != map.dims[0])
            all |= DimSet(1) << i;
        if (rest.even != 1 || rest.dims != all)
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

  bool isUpdated(ValueId value) const {
    const auto &uses = graph.value(value).uses;
    return std::any_of(uses.begin(), uses.end(), [&](const Use &use) {
      return graph.op(use.op).role == OpRole::Update;
    });
  }

  void findTraffic() {
    traffic.resize(graph.values.size());
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
      found.countsParts = making.isPartial && isReadWhole(id);
      found.isDivided = isDivided(id);
      // What is computed again comes together in places of its own.
      found.isSummed = found.countsParts && isUpdated(id) &&
                       graph.op(maker).role != OpRole::Forward;
    }
    for (const Op &op : graph.ops)
      keepOneSum(op.results);
  }

  /// Partial sums that nobody reads need not go anywhere, and what is of no use
  /// for one result may be for another. So of the results of an operator only
  /// the largest one that counts its parts is known.
  void keepOneSum(const std::vector<ValueId> &results) {
    ValueId kept = -1;
    for (ValueId result : results)
      if (result >= 0 && traffic[result].countsParts &&
          (kept < 0 || traffic[result].bytes > traffic[kept].bytes))
        kept = result;
    for (ValueId result : results)
      if (result >= 0 && kept >= 0 && result != kept)
        traffic[result] = {};
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
    DimSet allDims = 0;
    for (size_t d = 0; d < op.rules.dims.size(); ++d)
      if (op.rules.dims[d].extent > 1)
        allDims |= DimSet(1) << d;
    for (const Schedule &schedule : op.rules.schedules) {
      std::vector<EvenAccess> accesses;
      for (Pin &pin : item.pins) {
        accesses.push_back(
            pin.values.size() > 1 ? EvenAccess{1 / (1 - pin.free), allDims}
            : pin.isResult
                ? makingOf(graph, id, graph.value(pin.values[0]).result).access
                : readOf(id, schedule, pin.values[0]));
        pin.even = std::min(pin.values.size() > 1 ? HUGE_VAL : pin.even,
                            accesses.back().even);
      }
      item.accesses.push_back(std::move(accesses));
    }
    for (ValueId v = 0; v < static_cast<ValueId>(traffic.size()); ++v)
      if (traffic[v].bytes > 0 && traffic[v].maker == id)
        item.made.push_back(v);
    item.isProduct = !item.accesses.empty();
    for (const auto &accesses : item.accesses) {
      std::vector<Touch> touches;
      for (const EvenAccess &access : accesses)
        touches.push_back({access.even, access.dims});
      item.isProduct &= hasThree(touches);
    }
    return item;
  }
};

//===----------------------------------------------------------------------===//
// Charges
//===----------------------------------------------------------------------===//

/// What operators are charged and credited for, in bytes of a certain price.
/// All of it is a choice. Those on a list, the *large* ones, are charged as
/// much as possible. Nobody is credited with more than he is charged and the
/// price of his work, since a party could always do that instead of receiving
/// the result; so credits are passed on, from the results to the operands, down
/// to work or to inputs.
class Charges {
public:
  explicit Charges(const Problem &problem)
      : problem(problem), isLarge(problem.items.size()),
        isVisited(problem.items.size()), values(problem.traffic.size()) {
    size_t pins = 0;
    for (const Item &item : problem.items) {
      firstPin.push_back(pins);
      pins += item.pins.size();
    }
    wished.resize(pins);
    paid.resize(pins);
  }

  /// With at most so many operators besides the large ones. `areSummed`: sums
  /// count twice where they do (Traffic). `othersPay`: operators that are not
  /// large are charged for states, too, which leaves less for those that are.
  void choose(double bytePrice, const std::vector<OpId> &large, bool areSummed,
              bool othersPay, size_t mostOthers) {
    price = bytePrice;
    countSums = areSummed;
    // Updates come last, so which parameters are read is found out first.
    std::vector<OpId> readers = large;
    for (int round = 0; round < 2; ++round) {
      reset();
      others = mostOthers;
      for (OpId op : large)
        isLarge[op] = true;
      for (OpId op : othersPay ? readers : large)
        readStates(op);
      for (OpId op : large) {
        visit(op);
        for (const Pin &pin : problem.items[op].pins)
          if (!pin.isResult)
            for (ValueId value : pin.values)
              visit(problem.traffic[value].maker);
      }
      wish();
      readers = order;
    }
    share();
    for (int round = 0; round < kRounds; ++round) {
      wishLess();
      share();
    }
  }

  /// Those that are charged or credited at all.
  const std::vector<OpId> &ops() const { return order; }

  /// Bytes for which an operator is credited.
  double credit(OpId op) const {
    double bytes = 0;
    for (ValueId made : problem.items[op].made)
      bytes += isSum(made) ? 2 * values[made].paid
                           : values[made].paid + values[made].ofParts;
    return bytes;
  }

  /// The least bytes that a share of an operator is charged.
  double least(OpId op, double share) const {
    const Item &item = problem.items[op];
    double least = item.accesses.empty() || !isVisited[op] ? 0 : HUGE_VAL;
    for (size_t s = 0; least > 0 && s < item.accesses.size(); ++s)
      least = std::min(least, LeastTouched(touches(op, s))(share));
    return least;
  }

  /// By how many bytes a party is charged too much at most: for points that
  /// touch nothing (Pin::free).
  double excess() const {
    double bytes = 0;
    for (OpId op : order)
      for (size_t p = 0; p < problem.items[op].pins.size(); ++p)
        if (const Pin &pin = problem.items[op].pins[p]; pin.free > 0)
          bytes += paid[firstPin[op] + p] * pin.free / (1 - pin.free);
    return bytes;
  }

  /// What the schedules of an operator are charged for.
  std::vector<std::vector<Touch>> allTouches(OpId op) const {
    std::vector<std::vector<Touch>> all;
    for (size_t s = 0; s < problem.items[op].accesses.size(); ++s)
      all.push_back(touches(op, s));
    return all;
  }

private:
  /// So often wishes are made less, and how much more they stay than what was
  /// charged.
  static constexpr int kRounds = 2;
  static constexpr double kMore = 2;

  struct OfValue {
    bool isRead = false; ///< a state that operators are charged for
    /// Bytes that readers want to be charged, that may be credited, and that
    /// readers are charged; and those that makers of partial sums are.
    double wanted = 0, offered = 0, paid = 0, ofParts = 0;
    /// Of a state, what readers are charged at most.
    double asked = 0;
  };

  bool isState(ValueId value) const {
    return problem.graph.value(value).kind == ValueKind::State;
  }
  bool isSum(ValueId value) const {
    return countSums && problem.traffic[value].isSummed;
  }
  double bytesOf(const Pin &pin) const {
    double bytes = 0;
    for (ValueId value : pin.values)
      bytes += problem.traffic[value].bytes;
    return bytes;
  }
  std::vector<Touch> touches(OpId op, size_t schedule) const {
    const Item &item = problem.items[op];
    std::vector<Touch> touches;
    for (size_t p = 0; p < item.pins.size(); ++p)
      touches.push_back(
          {paid[firstPin[op] + p] * item.accesses[schedule][p].even,
           item.accesses[schedule][p].dims});
    return touches;
  }

  /// Adds what is charged for a pin to what is for a value.
  void count(double &sum, const Pin &pin, ValueId value, double bytes) const {
    sum = problem.traffic[value].isDivided && !pin.isResult
              ? std::max(sum, bytes)
              : sum + bytes;
  }

  void reset() {
    auto forget = [&](ValueId value) { values[value] = {}; };
    for (OpId op : order) {
      isLarge[op] = isVisited[op] = false;
      for (size_t p = 0; p < problem.items[op].pins.size(); ++p) {
        wished[firstPin[op] + p] = paid[firstPin[op] + p] = 0;
        for (ValueId value : problem.items[op].pins[p].values)
          forget(value);
      }
      for (ValueId made : problem.items[op].made)
        forget(made);
    }
    for (ValueId state : states)
      forget(state);
    order.clear();
    states.clear();
  }

  void readStates(OpId op) {
    for (const Pin &pin : problem.items[op].pins)
      for (ValueId value : pin.values) {
        const OpId maker = problem.traffic[value].maker;
        if (!isState(value) || values[value].isRead || maker == op)
          continue;
        values[value].isRead = true;
        values[value].offered = problem.traffic[value].bytes;
        states.push_back(value);
        visit(maker);
      }
  }

  /// May an operator that is not large be charged for the pin?
  bool mayPay(OpId op, const Pin &pin) const {
    return !pin.isResult && (!isState(pin.values[0]) ||
                             (values[pin.values[0]].isRead &&
                              problem.traffic[pin.values[0]].maker != op));
  }

  void visit(OpId op) {
    if (isVisited[op] || (!isLarge[op] && others == 0))
      return;
    others -= !isLarge[op];
    isVisited[op] = true;
    next.push(op);
  }

  /// From the last operator back: the bytes that each would be charged for its
  /// pins if there were no others. Large ones for all of them; others, but not
  /// for parameters, for what they are credited with and is not their work.
  void wish() {
    while (!next.empty()) {
      const OpId op = next.top();
      next.pop();
      order.push_back(op);
      const Item &item = problem.items[op];
      double need = -item.time.whole / price, have = 0;
      for (ValueId made : item.made)
        need += isState(made) ? values[made].offered
                              : std::min(problem.traffic[made].bytes,
                                         values[made].wanted);
      for (const Pin &pin : item.pins)
        if (mayPay(op, pin))
          have += bytesOf(pin);
      for (size_t p = 0; p < item.pins.size(); ++p) {
        const Pin &pin = item.pins[p];
        double part = isLarge[op] ? 1 : 0;
        if (!isLarge[op] && mayPay(op, pin) && need > 0)
          part = std::min(1.0, need / have);
        wished[firstPin[op] + p] = part * bytesOf(pin);
        if (part == 0 || (pin.isResult && isSum(pin.values[0])))
          continue;
        for (ValueId value : pin.values) {
          count(values[value].wanted, pin, value,
                part * problem.traffic[value].bytes);
          if (!pin.isResult && !isState(value))
            visit(problem.traffic[value].maker);
        }
      }
    }
  }

  void share() {
    // What states can be credited with is known after their updates.
    for (ValueId state : states)
      values[state].offered = problem.traffic[state].bytes;
    for (int round = 0; round < 8; ++round)
      offer();
    for (ValueId state : states)
      values[state].asked = values[state].offered;
    ask();
    // No more than readers are charged.
    for (ValueId state : states)
      values[state].asked = values[state].paid;
    ask();
  }

  /// Nobody keeps from others what he was not charged.
  void wishLess() {
    for (OpId op : order) {
      for (const Pin &pin : problem.items[op].pins)
        for (ValueId value : pin.values)
          values[value].wanted = 0;
      for (ValueId made : problem.items[op].made)
        values[made].wanted = 0;
    }
    for (OpId op : order)
      for (size_t p = 0; p < problem.items[op].pins.size(); ++p) {
        const Pin &pin = problem.items[op].pins[p];
        double &wish = wished[firstPin[op] + p];
        wish = std::min(wish, kMore * paid[firstPin[op] + p]);
        if (wish > 0 && !(pin.isResult && isSum(pin.values[0])))
          for (ValueId value : pin.values)
            count(values[value].wanted, pin, value,
                  wish * problem.traffic[value].bytes / bytesOf(pin));
      }
  }

  /// What an operator may be charged for a pin: its part of what is offered; of
  /// several values the same part of each.
  double share(OpId op, size_t p) const {
    const double wish = wished[firstPin[op] + p];
    double part = 1;
    for (ValueId value : problem.items[op].pins[p].values)
      if (values[value].wanted > values[value].offered)
        part = std::min(part, values[value].offered / values[value].wanted);
    return part * wish;
  }

  /// From the first operator on: how many bytes of each value may be credited.
  void offer() {
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      const Item &item = problem.items[*op];
      double bytes = item.time.whole / price;
      for (size_t p = 0; p < item.pins.size(); ++p)
        if (!item.pins[p].isResult)
          bytes += item.pins[p].even * share(*op, p);
      double wanted = 0;
      for (ValueId made : item.made)
        wanted += values[made].wanted;
      for (ValueId made : item.made)
        if (values[made].wanted > 0)
          values[made].offered =
              std::min({problem.traffic[made].bytes, values[made].wanted,
                        bytes * values[made].wanted / wanted});
    }
  }

  /// From the last one back: what of that is.
  void ask() {
    for (OpId op : order) {
      for (const Pin &pin : problem.items[op].pins)
        for (ValueId value : pin.values)
          values[value].paid = 0;
      for (ValueId made : problem.items[op].made)
        values[made].paid = 0;
    }
    for (OpId op : order) {
      const Item &item = problem.items[op];
      double need = -item.time.whole / price, have = 0;
      for (ValueId made : item.made)
        need += isState(made) ? values[made].asked : values[made].paid;
      for (size_t p = 0; p < item.pins.size(); ++p)
        if (!item.pins[p].isResult)
          have += item.pins[p].even * share(op, p);
      const double part = isLarge[op] ? 1
                          : have > 0 ? std::min(1.0, std::max(0.0, need / have))
                                     : 0;
      for (size_t p = 0; p < item.pins.size(); ++p) {
        const Pin &pin = item.pins[p];
        double &bytes = paid[firstPin[op] + p];
        if (pin.isResult && isSum(pin.values[0])) {
          bytes = values[pin.values[0]].paid;
        } else if (pin.isResult) {
          bytes = isLarge[op] ? share(op, p) : 0;
          values[pin.values[0]].ofParts = bytes;
        } else {
          bytes = part * share(op, p);
          for (ValueId value : pin.values)
            if (bytes > 0)
              count(values[value].paid, pin, value,
                    bytes * problem.traffic[value].bytes / bytesOf(pin));
        }
      }
    }
  }

  const Problem &problem;
  double price = 0;
  bool countSums = false;
  size_t others = 0;
  std::vector<char> isLarge, isVisited;
  std::priority_queue<OpId> next;
  std::vector<OpId> order; ///< that were visited, the last one first
  std::vector<size_t> firstPin;
  std::vector<double> wished, paid; ///< by pin
  std::vector<OfValue> values;
  std::vector<ValueId> states; ///< that operators are charged for
};

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

/// Picoseconds for a byte that are tried.
std::vector<double> pricesOf(const Parties &parties, bool overlaps,
                             double highest) {
  std::vector<double> prices;
  const double each = parties.devices / parties.bandwidth;
  // Where communication takes the time of kernels, bytes have a highest price.
  for (double price = overlaps ? 16 * each : highest; price > each / 64;
       price /= 2)
    prices.push_back(price);
  return prices;
}

/// How much of an operator that is a product a party can compute in a time,
/// from what it would have to receive or to make.
class Reach {
public:
  Reach(const Problem &problem, const Charges &charges, OpId op, double price)
      : time(problem.items[op].time), price(price), credit(charges.credit(op)),
        excess(charges.excess()) {
    for (const auto &touches : charges.allTouches(op))
      schedules.emplace_back(touches);
  }

  /// The most, if kernels and bytes cost at most `limit` together.
  double most(double limit) const {
    limit += price * excess;
    if (costOf(1) <= limit)
      return 1;
    // Concave, so that no larger share costs less than the limit again.
    double low = 0, high = 1;
    for (int step = 0; step < 40; ++step) {
      const double middle = (low + high) / 2;
      (costOf(middle) <= limit ? low : high) = middle;
    }
    return high;
  }

private:
  double costOf(double share) const {
    double least = HUGE_VAL;
    for (const LeastTouched &schedule : schedules)
      least = std::min(least, schedule(share));
    return time.starts + (time.whole - price * credit) * share + price * least;
  }

  ShareTime time;
  double price, credit, excess;
  std::vector<LeastTouched> schedules;
};

/// What parties of one kind can do.
class Bound {
public:
  Bound(const Problem &problem, const Parties &parties, bool overlaps)
      : problem(problem), parties(parties), overlaps(overlaps),
        charges(problem), reaches(problem.items.size()) {
    // A message takes time where it is sent and where it is received.
    const double highest = 1 / (2 * parties.fastest);
    for (OpId op = 0; op < static_cast<OpId>(problem.items.size()); ++op)
      if (problem.items[op].isProduct)
        for (double price : pricesOf(parties, overlaps, highest))
          for (bool othersPay : {false, true}) {
            charges.choose(price, {op}, /*areSummed=*/false, othersPay,
                           kOthers);
            if (areBalanced(op, price))
              reaches[op].emplace_back(price,
                                       Reach(problem, charges, op, price));
          }
  }

  /// Is a step that takes at most `limit` impossible?
  bool isImpossible(double limit) {
    std::vector<double> most;
    std::vector<OpId> large;
    for (OpId op = 0; op < static_cast<OpId>(problem.items.size()); ++op) {
      most.push_back(mostOf(op, limit));
      // Not even a part of it is possible.
      if (most.back() <= 0)
        return true;
      if (problem.items[op].isProduct && most.back() < 1)
        large.push_back(op);
    }
    // All of them, or those that make gradients of parameters, or the others:
    // fewer have more of what they touch for themselves.
    std::vector<std::vector<OpId>> choices = {large, {}, {}};
    for (OpId op : large)
      choices[makesSum(op) ? 1 : 2].push_back(op);
    for (const std::vector<OpId> &charged : choices)
      for (double price : pricesOf(parties, overlaps, 1 / parties.fastest))
        for (bool othersPay : {false, true})
          if (isTooLittle(limit, most, charged, price, othersPay))
            return true;
    return false;
  }

private:
  /// Operators that are looked at for the sake of one.
  static constexpr size_t kOthers = 64;

  bool makesSum(OpId op) const {
    const std::vector<ValueId> &made = problem.items[op].made;
    return std::any_of(made.begin(), made.end(), [&](ValueId value) {
      return problem.traffic[value].isSummed;
    });
  }

  /// Do all prices together take more than all parties have?
  bool isTooLittle(double limit, const std::vector<double> &most,
                   const std::vector<OpId> &charged, double price,
                   bool othersPay) {
    charges.choose(price, charged, /*areSummed=*/true, othersPay, SIZE_MAX);
    const double have =
        limit * (parties.devices + (overlaps ? price * parties.bandwidth : 0)) +
        parties.count * price * charges.excess();
    return sum(most, price) > have;
  }

  /// Does nobody but `op` gain by doing more than he is charged for?
  bool areBalanced(OpId op, double price) const {
    const std::vector<OpId> &ops = charges.ops();
    return std::all_of(ops.begin(), ops.end(), [&](OpId other) {
      const double work = problem.items[other].time.whole;
      const double credit = price * charges.credit(other);
      return other == op || work + price * charges.least(other, 1) - credit >=
                                -1e-9 * (work + credit);
    });
  }

  double mostOf(OpId op, double limit) const {
    const ShareTime &time = problem.items[op].time;
    const double kernels = limit * parties.largest;
    double most = time.starts + time.whole <= kernels ? 1
                  : time.starts >= kernels
                      ? 0
                      : (kernels - time.starts) / time.whole;
    for (const auto &[price, reach] : reaches[op])
      most = std::min(
          most,
          reach.most(kernels +
                     (overlaps ? 2 * price * limit * bandwidthOfOne() : 0)));
    return most;
  }

  double bandwidthOfOne() const { return parties.most; }

  /// Of all prices; nothing if some would be below zero.
  double sum(const std::vector<double> &most, double price) const {
    double sum = 0;
    for (OpId op = 0; op < static_cast<OpId>(problem.items.size()); ++op) {
      const ShareTime &time = problem.items[op].time;
      const double credit = price * charges.credit(op);
      const double one =
          (time.starts + price * charges.least(op, most[op])) / most[op] +
          time.whole - credit;
      if (one < -1e-9 * (time.whole + credit))
        return 0;
      sum += one;
    }
    return sum;
  }

  const Problem &problem;
  const Parties parties;
  bool overlaps;
  Charges charges;
  /// By operator, with the price of a byte.
  std::vector<std::vector<std::pair<double, Reach>>> reaches;
};

} // namespace

Picoseconds search::communicationBound(const Graph &graph,
                                       const Topology &topology,
                                       Picoseconds least) {
  if (topology.numDevices() == 1 || least <= 0)
    return least;
  const Problem problem(graph, topology);
  const bool overlaps =
      std::all_of(topology.kinds().begin(), topology.kinds().end(),
                  [](const DeviceKind &kind) { return kind.overlap; });
  std::vector<Parties> all = {partiesOf(topology, /*areNodes=*/false)};
  if (topology.nodes().size() > 1 &&
      topology.nodes().size() < static_cast<size_t>(topology.numDevices()))
    all.push_back(partiesOf(topology, /*areNodes=*/true));
  auto bound = static_cast<double>(least);
  for (const Parties &parties : all) {
    if (parties.bandwidth <= 0)
      continue;
    Bound known(problem, parties, overlaps);
    double low = bound, high = 2 * bound;
    while (high < static_cast<double>(kMaxCost) && known.isImpossible(high)) {
      low = high;
      high *= 2;
    }
    while (high > 1.001 * low) {
      const double middle = std::sqrt(low * high);
      (known.isImpossible(middle) ? low : high) = middle;
    }
    bound = std::max(bound, low);
  }
  return std::max(least, static_cast<Picoseconds>((1 - 1e-9) * bound));
}
