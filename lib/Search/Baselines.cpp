//===- Baselines.cpp - experts' recipes -----------------------------------===//

#include "ffc/Search/Search.h"

#include "Branches.h"
#include "Chain.h"
#include "Roles.h"
#include "ffc/Plan/StrategyFile.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

class Recipes {
public:
  Recipes(const Space &space, const std::vector<Choice> &pinned,
          const std::vector<int64_t> &room, Walker &walker,
          const std::function<bool(Picoseconds)> &goesOn,
          const std::vector<std::string> &names)
      : space(space), graph(space.graph()), room(room), walker(walker),
        goesOn(goesOn), names(names), roles(space),
        devices(space.numDevices()) {
    for (const Choice &pin : pinned)
      pins.insert({pin.op, pin});
  }

  std::vector<Baseline> run() {
    const bool isFree = pins.empty() || pins.size() < space.anchors().size();
    add(isFree ? "one device" : "as pinned",
        [](OpId) { return Configuration::onDevice(0); });
    if (devices == 1 || !isFree)
      return std::move(result);
    addSeries([&](int64_t group) { return addGrids(group); });
    addSeries([&](int64_t group) { return addTensorGroups(group); });
    addTables();
    addBranches();
    addExperts();
    addFewerDevices();
    addFastest();
    return std::move(result);
  }

private:
  /// Groups of devices of all sizes, the smallest first, which take
  /// add(size). Ends early with a group that takes longer than the one before
  /// and kHopeless times as long as something that fits: on many devices the
  /// large groups are the ones that take long to plan.
  template <class Add> void addSeries(Add add) {
    addSeries(space.divisors(), add);
  }
  template <class Add>
  void addSeries(const std::vector<int64_t> &sizes, Add add) {
    Picoseconds before = 0;
    for (int64_t group : sizes) {
      Picoseconds time = add(group);
      if (time > before && time / kHopeless > bestThatFits())
        return;
      before = time;
    }
  }

  /// What takes so many times as long as something that fits is no recipe, and
  /// is not planned to its end: of thousands of devices, reshards in which all
  /// have something for all take longer to plan than all else.
  static constexpr Picoseconds kHopeless = 10;

  /// The data-parallel one is known in any case: reports compare with it.
  Picoseconds limitOf(const std::string &name) const {
    const Picoseconds best = bestThatFits();
    return name == "data-parallel" || best > kNoLimit / kHopeless
               ? kNoLimit
               : kHopeless * best;
  }

  /// Of the walker's strategy. Whether what is slower than what fits does
  /// itself is not worth planning it.
  Quality quality() {
    if (walker.makespan() < bestThatFits())
      return qualityOf(walker, room);
    return {walker.makespan(), shareOf(walker.memory(), room)};
  }

  Picoseconds bestSoFar() const {
    return std::min_element(result.begin(), result.end(),
                            [](const Baseline &a, const Baseline &b) {
                              return a.quality < b.quality;
                            })
        ->quality.makespan;
  }

  Picoseconds bestThatFits() const {
    Picoseconds best = kNoLimit;
    for (const Baseline &baseline : result)
      if (baseline.quality.fits())
        best = std::min(best, baseline.quality.makespan);
    return best;
  }

  /// Returns its time, or one that is longer than it may be; 0, so that a
  /// series goes on, if it is not wanted. What the recipe cannot say of an
  /// anchor follows, as in a strategy file; what the space does not allow is on
  /// one device.
  template <class ConfigOf>
  Picoseconds add(const std::string &name, ConfigOf configOf,
                  bool sharded = false) {
    if (isOver)
      return kNoLimit;
    if (!names.empty() &&
        std::find(names.begin(), names.end(), name) == names.end())
      return 0;
    PartialStrategy given(graph.ops.size());
    for (OpId anchor : space.anchors()) {
      auto pin = pins.find(anchor);
      given[anchor] = pin == pins.end() ? configOf(anchor) : pin->second.config;
    }
    const Strategy completed = completeStrategy(graph, given);
    std::vector<Choice> choices;
    for (OpId anchor : space.anchors()) {
      if (auto pin = pins.find(anchor); pin != pins.end()) {
        choices.push_back(pin->second);
        continue;
      }
      Choice choice{anchor, completed[anchor],
                    sharded ? space.options(anchor) : ChoiceOptions()};
      if (!space.allows(anchor, choice.config))
        choice.config = Configuration::onDevice(0);
      choices.push_back(std::move(choice));
    }
    ++tried;
    const Picoseconds limit = limitOf(name);
    const Picoseconds time = walker.propose(choices, limit);
    if (time > limit) {
      walker.reject();
    } else {
      walker.accept();
      note(name);
    }
    isOver = goesOn && !goesOn(bestSoFar()) && tried > 1 &&
             bestThatFits() != kNoLimit;
    return time;
  }

  /// The walker's strategy, once.
  void note(const std::string &name) {
    Strategy strategy = walker.strategy();
    if (std::none_of(result.begin(), result.end(), [&](const Baseline &other) {
          return other.strategy == strategy;
        }))
      result.push_back({name, std::move(strategy), quality()});
  }

  /// On the first devices.
  std::optional<Configuration>
  inGrid(OpId op, std::initializer_list<Split> splits) const {
    return gridOf(space, op, splits, 0);
  }

  std::optional<Configuration> dataParallel(OpId op) const {
    return inGrid(op, {{roles.sample[op], devices}});
  }

  /// Samples x parameters; devices that share samples are neighbours. The same,
  /// but layers of many parameters split by parameter alone.
  Picoseconds addGrids(int64_t group) {
    int64_t samples = devices / group;
    std::string name = group == 1     ? "data-parallel"
                       : samples == 1 ? "parameter-parallel"
                                      : "grid n = " + std::to_string(samples) +
                                            ", c = " + std::to_string(group);
    auto grid = [&](OpId op) {
      return inGrid(op, {{roles.sample[op], samples},
                         {parameterDim(graph.op(op)), group}});
    };
    Picoseconds time = add(name, grid);
    if (samples > 1)
      time = std::min(
          time, add(name + ", one weird trick", [&](OpId op) {
            return hasManyParameters(graph, graph.op(op))
                       ? inGrid(op, {{parameterDim(graph.op(op)), devices}})
                       : grid(op);
          }));
    return time;
  }

  static std::string groupName(int64_t group, int64_t samples) {
    if (group == 1)
      return "data-parallel";
    return "tensor " + std::to_string(group) +
           (samples > 1 ? " x data " + std::to_string(samples) : "");
  }

  /// Groups of neighbours that share layers as Megatron does, and each take
  /// some of the samples; every device updates all parameters that it has, or
  /// a share of them.
  Picoseconds addTensorGroups(int64_t group) {
    int64_t samples = devices / group;
    const std::string name = groupName(group, samples);
    auto groups = [&](OpId op) {
      return inGrid(op,
                    {{roles.sample[op], samples}, {roles.tensor[op], group}});
    };
    Picoseconds time = addWithUpdates(name, groups, samples > 1);
    if (!space.speeds().empty())
      time =
          std::min(time, addWithUpdates(
                             name + ", by speed",
                             [&](OpId op) { return bySpeed(op, groups(op)); },
                             samples > 1));
    return time;
  }

  /// If updates can be shared, both.
  template <class ConfigOf>
  Picoseconds addWithUpdates(const std::string &name, ConfigOf configOf,
                             bool canShare) {
    const Picoseconds time = add(name, configOf);
    return canShare ? std::min(time, add(name + ", sharded updates", configOf,
                                         /*sharded=*/true))
                    : time;
  }

  std::optional<Configuration>
  bySpeed(OpId op, const std::optional<Configuration> &config) const {
    return config ? std::make_optional(space.bySpeed(op, *config)) : config;
  }

  /// Where devices are not equally fast: groups of the fastest ones alone, with
  /// and without the next ones.
  void addFastest() {
    const std::vector<double> &speeds = space.speeds();
    std::vector<DeviceId> order(speeds.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](DeviceId a, DeviceId b) {
      return speeds[a] > speeds[b];
    });
    for (size_t used = 1; used < order.size(); ++used) {
      if (speeds[order[used]] == speeds[order[used - 1]])
        continue;
      const auto count = static_cast<int64_t>(used);
      addSeries(divisorsOf(count), [&](int64_t group) {
        return addWithUpdates(
            used == 1 ? "fastest device"
                      : groupName(group, count / group) + " on the fastest " +
                            std::to_string(used) + " devices",
            [&](OpId op) {
              auto config = inGrid(op, {{roles.sample[op], count / group},
                                        {roles.tensor[op], group}});
              if (config)
                for (DeviceId &device : config->devices)
                  device = order[device];
              return bySpeed(op, config);
            },
            count > group);
      });
    }
  }

  /// Groups as above on the first devices only, which may be all that is near:
  /// links between the others may cost more than they are worth.
  void addFewerDevices() {
    constexpr int64_t kMost = 16;
    for (int64_t used : space.divisors())
      for (int64_t group : space.divisors()) {
        if (used == 1 || used >= devices || used > kMost || used % group != 0)
          continue;
        const std::string name = groupName(group, used / group) + " on " +
                                 std::to_string(used) + " devices";
        add(name, [&](OpId op) {
          return inGrid(op, {{roles.sample[op], used / group},
                             {roles.tensor[op], group}});
        });
        if (group == 1)
          add(name + ", one weird trick", [&](OpId op) {
            return hasManyParameters(graph, graph.op(op))
                       ? inGrid(op, {{parameterDim(graph.op(op)), used}})
                       : inGrid(op, {{roles.sample[op], used}});
          });
      }
  }

  /// Layers whose parameters are more than their activations, tables above all,
  /// on one device each or by rows; all else data-parallel.
  void addTables() {
    std::map<OpId, DeviceId> places;
    std::vector<double> load(static_cast<size_t>(devices));
    for (OpId anchor : space.anchors())
      if (const Op &op = graph.op(anchor); hasManyParameters(graph, op)) {
        auto least = std::min_element(load.begin(), load.end());
        places[anchor] = static_cast<DeviceId>(least - load.begin());
        *least += numParameters(graph, op);
      }
    if (places.empty())
      return;
    const std::vector<bool> ofTable = followingTables(places);
    auto others = [&](OpId op) {
      return ofTable[op] ? std::nullopt : dataParallel(op);
    };
    add("data-parallel, table per device", [&](OpId op) {
      auto place = places.find(op);
      return place == places.end()
                 ? others(op)
                 : std::make_optional(Configuration::onDevice(place->second));
    });
    add("data-parallel, tables by rows", [&](OpId op) {
      return places.count(op)
                 ? inGrid(op, {{rowDim(graph, graph.op(op)), devices}})
                 : others(op);
    });
    addTablesApart(places, ofTable);
  }

  /// By operator: does it only make less of what one of the tables gives, as
  /// the sum over a bag does? It is best done where that is.
  std::vector<bool>
  followingTables(const std::map<OpId, DeviceId> &tables) const {
    std::vector<bool> follows(graph.ops.size());
    for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
      const Op &op = graph.op(id);
      int64_t read = 0, written = 0;
      int computed = 0;
      bool isOfTable = false;
      for (ValueId operand : op.operands)
        if (operand >= 0 && graph.value(operand).producer >= 0) {
          const OpId producer = graph.value(operand).producer;
          ++computed;
          read += graph.value(operand).type.bytes();
          isOfTable |= tables.count(producer) || follows[producer];
        }
      for (ValueId result : op.results)
        if (result >= 0)
          written += graph.value(result).type.bytes();
      follows[id] = op.role == OpRole::Forward && computed == 1 && isOfTable &&
                    written <= read && !tables.count(id);
    }
    return follows;
  }

  /// Where tables are most of a model: as far from each other as can be, so
  /// that each has links of its own, and all else data-parallel on some
  /// devices.
  void addTablesApart(std::map<OpId, DeviceId> places,
                      const std::vector<bool> &ofTable) {
    double tables = 0, all = 0;
    for (OpId anchor : space.anchors()) {
      const double parameters = numParameters(graph, graph.op(anchor));
      all += parameters;
      tables += places.count(anchor) ? parameters : 0;
    }
    if (places.size() < 2 || tables < all / 2)
      return;
    int64_t number = 0;
    const auto count = static_cast<int64_t>(places.size());
    for (auto &[anchor, place] : places)
      place = static_cast<DeviceId>(number++ * devices / count);
    addSeries([&](int64_t group) {
      return add("tables apart, all else data-parallel on " +
                     std::to_string(group) +
                     (group == 1 ? " device" : " devices"),
                 [&](OpId op) {
                   auto place = places.find(op);
                   return ofTable[op] ? std::nullopt
                          : place == places.end()
                              ? inGrid(op, {{roles.sample[op], group}})
                              : std::make_optional(
                                    Configuration::onDevice(place->second));
                 });
    });
  }

  /// Branches of the model on devices of their own, which share their layers or
  /// their samples; what they meet in is on 1, 2, ... devices from the largest
  /// one's on.
  void addBranches() {
    const Branches branches(graph);
    if (!branches.areWorthwhile())
      return;
    const std::vector<Branches::Block> blocks = branches.blocks(devices);
    for (bool sharesLayers : {true, false})
      addSeries([&](int64_t meet) {
        return add(std::string("branches apart, ") +
                       (sharesLayers ? "tensor" : "data-parallel") +
                       ", all else on " + std::to_string(meet) +
                       (meet == 1 ? " device" : " devices"),
                   [&](OpId op) {
                     const int branch = branches.of[op];
                     const Branches::Block block =
                         branch < 0 ? Branches::Block{0, meet} : blocks[branch];
                     return gridOf(
                         space, op,
                         {{sharesLayers ? roles.tensor[op] : roles.sample[op],
                           block.size}},
                         block.first);
                   });
      });
  }

  /// Experts on devices of their own, or several on each, and the rows of each
  /// on 1, 2, ... of these. What comes before and behind them follows: where
  /// experts get their rows it is divided as they are, elsewhere everybody does
  /// all; or is data-parallel on the same devices.
  void addExperts() {
    int64_t experts = 0;
    for (OpId anchor : space.anchors())
      if (const int dim = expertDims(graph, graph.op(anchor)).experts;
          dim != kReplica && graph.op(anchor).role == OpRole::Forward)
        experts = std::max(experts, graph.op(anchor).rules.dims[dim].extent);
    if (experts == 0)
      return;
    const int64_t apart =
        experts <= devices ? experts : std::gcd(experts, devices);
    std::vector<int64_t> rows;
    for (int64_t r = 1; r <= devices / apart; r *= 2)
      rows.push_back(r);
    if (rows.back() != devices / apart)
      rows.push_back(devices / apart);
    for (bool everywhere : {true, false})
      addSeries(rows, [&](int64_t r) {
        return add(
            "experts on " + std::to_string(apart) + " x " + std::to_string(r) +
                " devices, all else " +
                (everywhere ? "everywhere" : "data-parallel"),
            [&](OpId op) -> std::optional<Configuration> {
              const ExpertDims dims = expertDims(graph, graph.op(op));
              if (dims.experts != kReplica)
                return inGrid(op, {{dims.experts, apart}, {dims.rows, r}});
              return everywhere ? std::nullopt
                                : inGrid(op, {{roles.sample[op], apart * r}});
            });
      });
  }

  const Space &space;
  const Graph &graph;
  const std::vector<int64_t> &room;
  Walker &walker;
  const std::function<bool(Picoseconds)> &goesOn;
  const std::vector<std::string> &names;
  int tried = 0;
  bool isOver = false; ///< after goesOn said so
  Roles roles;
  int64_t devices;
  std::map<OpId, Choice> pins;
  std::vector<Baseline> result;
};

} // namespace

std::vector<Baseline>
search::baselines(const Space &space, const std::vector<Choice> &pinned,
                  const std::vector<int64_t> &room, Walker &walker,
                  const std::function<bool(Picoseconds)> &goesOn,
                  const std::vector<std::string> &names) {
  return Recipes(space, pinned, room, walker, goesOn, names).run();
}
