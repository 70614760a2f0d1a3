//===- AdditiveCost.cpp - what anchors and pairs of them cost alone -------===//

#include "ffc/Search/Elimination.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

class ProblemBuilder {
public:
  ProblemBuilder(const Space &space, SegmentTable &table)
      : space(space), graph(space.graph()), table(table),
        nodeOf(graph.ops.size()), placeOf(graph.ops.size()),
        isOutput(graph.values.size()), written(graph.values.size()) {
    for (size_t n = 0; n < space.anchors().size(); ++n) {
      OpId anchor = space.anchors()[n];
      nodeOf[anchor] = n;
      int32_t place = 0;
      for (OpId op : space.followers(anchor)) {
        nodeOf[op] = n;
        placeOf[op] = ++place;
      }
    }
    for (const Output &output : graph.outputs)
      isOutput[output.value] = true;
    for (StateId s = 0; s < static_cast<StateId>(graph.states.size()); ++s)
      if (const ValueId value = graph.states[s].written; value >= 0)
        written[value].push_back(s);
    findFlows();
  }

  std::optional<EliminationProblem> run(const std::vector<Strategy> &known,
                                        const std::vector<Choice> &pinned,
                                        size_t most,
                                        const std::function<bool()> &stopped) {
    for (size_t n = 0; n < space.anchors().size(); ++n) {
      if (stopped && stopped())
        return std::nullopt;
      addNode(n, known, pinned, most);
    }
    for (const auto &[pair, flows] : between)
      if (!addEdge(pair.first, pair.second, flows, stopped))
        return std::nullopt;
    return std::move(result);
  }

private:
  /// A value that the operators of one group make (or keep, of a state) and
  /// those of another, or the same one, read.
  struct Flow {
    ValueId value;
    size_t from, to;
    std::vector<Use> readers; ///< in order, each with its first operand
  };

  //===--------------------------------------------------------------------===//
  // Flows
  //===--------------------------------------------------------------------===//

  /// Inputs and constant states are loaded wherever they are needed: -1.
  OpId sourceOf(ValueId id) const {
    const Value &value = graph.value(id);
    if (value.kind != ValueKind::State)
      return value.producer;
    ValueId written = graph.states[value.state].written;
    return written < 0 ? -1 : graph.value(written).producer;
  }

  void findFlows() {
    inside.resize(space.anchors().size());
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
      OpId source = sourceOf(id);
      if (source < 0)
        continue;
      size_t from = nodeOf[source];
      std::map<size_t, Flow> flows;
      std::vector<Use> readers = graph.value(id).uses;
      std::sort(readers.begin(), readers.end(), [](Use a, Use b) {
        return std::tie(a.op, a.operand) < std::tie(b.op, b.operand);
      });
      readers.erase(std::unique(readers.begin(), readers.end(),
                                [](Use a, Use b) { return a.op == b.op; }),
                    readers.end());
      for (Use reader : readers) {
        Flow &flow = flows[nodeOf[reader.op]];
        flow = {id, from, nodeOf[reader.op], std::move(flow.readers)};
        flow.readers.push_back(reader);
      }
      for (auto &[to, flow] : flows)
        if (to == from)
          inside[from].push_back(std::move(flow));
        else
          between[std::minmax(from, to)].push_back(std::move(flow));
    }
  }

  //===--------------------------------------------------------------------===//
  // Costs
  //===--------------------------------------------------------------------===//

  /// The configurations of an anchor, and of its followers in their order.
  using Group = std::vector<ConfigId>;

  ConfigId configIn(const Group &group, OpId op) const {
    return group[static_cast<size_t>(placeOf[op])];
  }

  const Group &groupOf(size_t node, ConfigId id) {
    const uint64_t key = pairKey(static_cast<int32_t>(node), id);
    if (const Group *known = groups.find(key))
      return *known;
    Group group{id};
    for (OpId op : space.followers(space.anchors()[node]))
      group.push_back(table.follow(op, configIn(group, space.leader(op).op)));
    return groups.insert(key, std::move(group));
  }

  /// The time that tasks take on idle devices.
  Picoseconds alone(const TimedTasks &tasks) {
    if (tasks.empty())
      return 0;
    auto [it, added] = times.emplace(&tasks, 0);
    if (added) {
      free.assign(static_cast<size_t>(space.numDevices()), 0);
      tasks.advance({free.data(), free.data()});
      it->second = *std::max_element(free.begin(), free.end());
    }
    return it->second;
  }

  /// Where a value is to begin with; adds what completing the loss costs.
  LayoutId layoutOf(ValueId id, const Group &from, Picoseconds *cost) {
    const Value &value = graph.value(id);
    if (value.kind == ValueKind::State)
      return table.home(value.state, configIn(from, sourceOf(id)));
    LayoutId layout = table.op(value.producer, configIn(from, value.producer))
                          .results[value.result];
    return id == graph.loss ? move(layout, table.lossNeed(layout), cost)
                            : layout;
  }

  LayoutId move(LayoutId layout, NeedId need, Picoseconds *cost) {
    const ReshardSegment &reshard = table.reshard(layout, need);
    if (cost)
      *cost += alone(reshard.tasks);
    return reshard.after;
  }

  Picoseconds flowCost(const Flow &flow, const Group &from, const Group &to) {
    Picoseconds cost = 0;
    LayoutId layout = layoutOf(flow.value, from, nullptr);
    for (auto [reader, slot] : flow.readers) {
      const OpSegment &segment = table.op(reader, configIn(to, reader));
      const LayoutId before = layout;
      const bool isApart = table.isReadApart(reader, slot, before);
      segment.eachRead(slot, [&](size_t step) {
        layout = move(layout, segment.steps[step].need, &cost);
      });
      if (isApart)
        layout = before;
    }
    return cost;
  }

  Picoseconds nodeCost(size_t node, const Group &group) {
    Picoseconds cost = 0;
    auto addOp = [&](OpId id) {
      const Op &op = graph.op(id);
      for (const OpSegment::Step &step :
           table.op(id, configIn(group, id)).steps)
        if (step.slot < 0)
          cost += alone(step.tasks);
      for (ValueId value : op.results)
        if (value >= 0)
          addEnd(value, group, cost);
    };
    addOp(space.anchors()[node]);
    for (OpId op : space.followers(space.anchors()[node]))
      addOp(op);
    for (const Flow &flow : inside[node])
      cost += flowCost(flow, group, group);
    return std::min(cost, kMaxCost);
  }

  /// The loss and what is done at the end of the step.
  void addEnd(ValueId id, const Group &group, Picoseconds &cost) {
    LayoutId layout = layoutOf(id, group, &cost);
    if (isOutput[id])
      if (NeedId need = table.outputNeed(layout); need >= 0)
        move(layout, need, &cost);
    if (table.isInPlace(id))
      return;
    for (StateId s : written[id])
      cost += alone(
          table
              .store(layout,
                     table.home(s, configIn(group, graph.value(id).producer)))
              .tasks);
  }

  //===--------------------------------------------------------------------===//
  // The problem
  //===--------------------------------------------------------------------===//

  /// Configurations on the first devices that split one dimension, or two over
  /// all devices; the same for layers alike.
  const std::vector<Configuration> &plainCandidates(size_t node) {
    auto [it, added] =
        plain.emplace(space.alike(node).front(), std::vector<Configuration>());
    if (!added)
      return it->second;
    OpId anchor = space.anchors()[node];
    const int dims = static_cast<int>(graph.op(anchor).rules.dims.size());
    auto tryThis = [&](std::vector<GridAxis> axes) {
      Configuration config{std::move(axes), {}};
      for (DeviceId d = 0; d < config.numPoints(); ++d)
        config.devices.push_back(d);
      if (!checkConfiguration(graph, anchor, config, space.numDevices()) &&
          space.allows(anchor, config))
        it->second.push_back(std::move(config));
    };
    tryThis({});
    for (int a = 0; a < dims; ++a)
      for (int64_t degree : space.divisors()) {
        if (degree == 1)
          continue;
        tryThis({{a, degree}});
        for (int b = a + 1; b < dims && degree < space.numDevices(); ++b)
          tryThis({{a, degree}, {b, space.numDevices() / degree}});
      }
    for (const GridAxis &axis : space.evenSplits(anchor))
      tryThis({axis});
    if (!space.speeds().empty())
      for (size_t i = 0, equal = it->second.size(); i < equal; ++i)
        if (Configuration shared = space.bySpeed(anchor, it->second[i]);
            !(shared == it->second[i]))
          it->second.push_back(std::move(shared));
    return it->second;
  }

  void addNode(size_t node, const std::vector<Strategy> &known,
               const std::vector<Choice> &pinned, size_t most) {
    OpId anchor = space.anchors()[node];
    std::vector<ConfigId> first;
    auto add = [&](const Configuration &config) {
      ConfigId id = table.intern(config);
      if (std::find(first.begin(), first.end(), id) == first.end())
        first.push_back(id);
    };
    auto pin =
        std::find_if(pinned.begin(), pinned.end(),
                     [&](const Choice &choice) { return choice.op == anchor; });
    if (pin != pinned.end())
      add(pin->config);
    else
      for (const Strategy &strategy : known)
        add(strategy[anchor]);
    size_t certain = first.size();
    if (pin == pinned.end())
      for (const Configuration &config : plainCandidates(node))
        add(config);
    std::vector<std::pair<Picoseconds, ConfigId>> ranked;
    for (ConfigId id : first)
      ranked.push_back({nodeCost(node, groupOf(node, id)), id});
    std::stable_sort(
        ranked.begin() + static_cast<std::ptrdiff_t>(certain), ranked.end(),
        [](const auto &a, const auto &b) { return a.first < b.first; });
    ranked.resize(std::min(ranked.size(), std::max(certain, most)));
    result.costs.nodes.emplace_back();
    result.candidates.emplace_back();
    chosen.emplace_back();
    for (auto [cost, id] : ranked) {
      result.costs.nodes.back().push_back(cost);
      result.candidates.back().push_back(table.config(id));
      chosen.back().push_back(id);
    }
  }

  bool addEdge(size_t a, size_t b, const std::vector<Flow> &flows,
               const std::function<bool()> &stopped) {
    AdditiveProblem::Edge edge{a, b, {}};
    for (ConfigId i : chosen[a]) {
      if (stopped && stopped())
        return false;
      for (ConfigId j : chosen[b]) {
        const Group &groupA = groupOf(a, i), &groupB = groupOf(b, j);
        Picoseconds cost = 0;
        for (const Flow &flow : flows)
          cost += flow.from == a ? flowCost(flow, groupA, groupB)
                                 : flowCost(flow, groupB, groupA);
        edge.costs.push_back(std::min(cost, kMaxCost));
      }
    }
    result.costs.edges.push_back(std::move(edge));
    return true;
  }

  const Space &space;
  const Graph &graph;
  SegmentTable &table;
  std::vector<size_t> nodeOf;                ///< by operator
  std::vector<int32_t> placeOf;              ///< by operator, in its group
  std::vector<bool> isOutput;                ///< by value
  std::vector<std::vector<StateId>> written; ///< by value, what it becomes
  std::vector<std::vector<Flow>> inside;
  std::map<std::pair<size_t, size_t>, std::vector<Flow>> between;
  PairMap<Group> groups; ///< by node and the anchor's configuration
  std::unordered_map<const TimedTasks *, Picoseconds> times;
  std::vector<Picoseconds> free;
  std::map<OpId, std::vector<Configuration>> plain; ///< by the first one alike
  std::vector<std::vector<ConfigId>> chosen;        ///< by node
  EliminationProblem result;
};

} // namespace

std::optional<EliminationProblem>
search::eliminationProblem(const Space &space, SegmentTable &table,
                           const std::vector<Strategy> &known,
                           const std::vector<Choice> &pinned, size_t most,
                           const std::function<bool()> &stopped) {
  return ProblemBuilder(space, table).run(known, pinned, most, stopped);
}
