//===- TableRecipes.cpp - recipes for tables and wide layers --------------===//

#include "Recipes.h"

#include <algorithm>
#include <limits>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

class TableRecipes {
public:
  explicit TableRecipes(Recipes &recipes)
      : recipes(recipes), graph(recipes.graph()), devices(recipes.devices()),
        sizes(recipes.space().divisors()), isTable(graph.ops.size()),
        isWide(graph.ops.size()) {
    for (OpId anchor : recipes.space().anchors()) {
      const Op &op = graph.op(anchor);
      isWide[anchor] = hasManyParameters(graph, op, devices);
      isTable[anchor] = hasManyParameters(graph, op) ||
                        (isWide[anchor] && isLookup(graph, op));
      if (isTable[anchor])
        tables.push_back(anchor);
    }
    findReduced();
  }

  void run() {
    if (!tables.empty())
      addSplits();
    if (tables.size() > 1 && areMost())
      addFewDevices();
    if (std::find(isWide.begin(), isWide.end(), true) != isWide.end())
      recipes.addSeries(
          sizes, [&](int64_t other) { return divisorsOf(devices / other); },
          [&](int64_t other, int64_t group) { return addGrid(other, group); });
  }

private:
  /// By operator: does it only make less of what one of the tables gives, as
  /// the sum over a bag does? It is best done where that is.
  void findReduced() {
    isReduced.resize(graph.ops.size());
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
          isOfTable |= isTable[producer] || isReduced[producer];
        }
      for (ValueId result : op.results)
        if (result >= 0)
          written += graph.value(result).type.bytes();
      isReduced[id] = op.role == OpRole::Forward && computed == 1 &&
                      isOfTable && written <= read && !isTable[id];
    }
  }

  /// Are tables most of the model's parameters?
  bool areMost() const {
    double ofTables = 0, all = 0;
    for (OpId anchor : recipes.space().anchors()) {
      const double parameters = numParameters(graph, graph.op(anchor));
      all += parameters;
      ofTables += isTable[anchor] ? parameters : 0;
    }
    return ofTables >= all / 2;
  }

  /// Of tables, all else on all devices.
  void addSplits() {
    addPerDevice();
    for (bool byRows : {true, false})
      recipes.addSeries(sizes, [&](int64_t parts) {
        return parts == 1 ? 0 : addSplit(byRows, parts);
      });
  }

  /// All else on some devices.
  void addFewDevices() {
    recipes.addSeries(sizes, [&](int64_t group) { return addApart(group); });
    recipes.addSeries(
        sizes, [&](int64_t) { return sizes; },
        [&](int64_t group, int64_t size) { return addBlocks(group, size); });
    for (bool onEach : {true, false})
      recipes.addSeries(
          sizes, [&](int64_t group) { return addTogether(group, onEach); });
    for (bool byRows : {true, false})
      for (bool onEach : {true, false})
        recipes.addSeries(
            sizes, [&](int64_t) { return shares(); },
            [&](int64_t group, int64_t share) {
              return addBalanced(byRows, onEach, group, share);
            });
  }

  /// A recipe that says configTable(op) of tables; all else is data-parallel on
  /// the first `group` devices.
  template <class ConfigTable>
  Picoseconds add(const std::string &name, int64_t group,
                  ConfigTable configTable) {
    return recipes.add(name, [&](OpId op) -> std::optional<Configuration> {
      if (isTable[op])
        return configTable(op);
      if (isReduced[op])
        return std::nullopt;
      return recipes.inGrid(op, {{recipes.roles().sample[op], group}});
    });
  }

  /// The first device of every table's, of blocks of `size` neighbours from
  /// `first` on; the least loaded one gets the next.
  std::map<OpId, DeviceId> blocksFrom(DeviceId first, int64_t size) const {
    std::map<OpId, DeviceId> result;
    std::vector<double> load(static_cast<size_t>((devices - first) / size));
    for (OpId table : tables) {
      const auto least = std::min_element(load.begin(), load.end());
      result[table] =
          first + static_cast<DeviceId>((least - load.begin()) * size);
      *least += numParameters(graph, graph.op(table));
    }
    return result;
  }

  void addPerDevice() {
    const std::map<OpId, DeviceId> places = blocksFrom(0, 1);
    add("data-parallel, table per device", devices,
        [&](OpId op) { return Configuration::onDevice(places.at(op)); });
  }

  /// Groups of devices that split tables so, and each take some of the
  /// samples.
  Picoseconds addSplit(bool byRows, int64_t parts) {
    const int64_t samples = devices / parts;
    const std::string name =
        std::string("data-parallel, tables by ") +
        (byRows ? "rows" : "columns") +
        (samples == 1 ? ""
                      : " on " + std::to_string(parts) + " x " +
                            std::to_string(samples));
    return add(name, devices, [&](OpId op) {
      const int dim =
          byRows ? rowDim(graph, graph.op(op)) : columnDim(graph, graph.op(op));
      return recipes.inGrid(
          op, {{recipes.roles().sample[op], samples}, {dim, parts}});
    });
  }

  /// Wide layers on tensor grids.
  Picoseconds addGrid(int64_t other, int64_t group) {
    if (group * other == 1)
      return 0;
    const TensorGrid grid{devices / other / group, group, other};
    return recipes.add("data-parallel, wide layers " + nameOf(grid),
                       [&](OpId op) {
                         return isWide[op] ? recipes.inTensorGrid(op, grid)
                                           : recipes.dataParallel(op);
                       });
  }

  /// On one device each, as far from each other as can be, so that each has
  /// links of its own.
  Picoseconds addApart(int64_t group) {
    std::map<OpId, DeviceId> places;
    const auto count = static_cast<int64_t>(tables.size());
    for (int64_t t = 0; t < count; ++t)
      places[tables[t]] = static_cast<DeviceId>(t * devices / count);
    return add(
        "tables apart, all else data-parallel on " + numberOfDevices(group),
        group, [&](OpId op) { return Configuration::onDevice(places.at(op)); });
  }

  /// By columns on blocks of `size` neighbours, behind the devices of all else
  /// if there is room. Of one device each, and on all, are other recipes.
  Picoseconds addBlocks(int64_t group, int64_t size) {
    if (size == 1 || size == devices)
      return 0;
    const std::map<OpId, DeviceId> places = blocksFrom(
        static_cast<DeviceId>(devices - group >= size ? group : 0), size);
    return add("tables by columns on " + numberOfDevices(size) +
                   " each, all else data-parallel on " + numberOfDevices(group),
               group, [&](OpId op) {
                 return gridOf(recipes.space(), op,
                               {{columnDim(graph, graph.op(op)), size}},
                               places.at(op));
               });
  }

  /// By columns; all else on the same devices, data-parallel or, where it is
  /// small, by each of them, so that only what tables give has to move.
  Picoseconds addTogether(int64_t group, bool onEach) {
    if (group == 1 || (group == devices && !onEach))
      return 0;
    return recipes.add(
        "tables by columns on " + numberOfDevices(group) +
            (onEach ? ", all else on each"
                    : ", all else data-parallel on these"),
        [&](OpId op) -> std::optional<Configuration> {
          if (isTable[op])
            return recipes.inGrid(op,
                                  {{columnDim(graph, graph.op(op)), group}});
          if (isReduced[op])
            return std::nullopt;
          return recipes.inGrid(
              op, {{onEach ? kReplica : recipes.roles().sample[op], group}});
        });
  }

  //===--------------------------------------------------------------------===//
  // Balanced
  //===--------------------------------------------------------------------===//

  /// None, a quarter, half of the tables.
  std::vector<int64_t> shares() const {
    const auto count = static_cast<int64_t>(tables.size());
    std::vector<int64_t> result;
    for (int64_t quarters = 0; quarters <= 2; ++quarters)
      if (const int64_t share = count * quarters / 4;
          result.empty() || share > result.back())
        result.push_back(share);
    return result;
  }

  /// All else on some devices; `share` tables are split over these, too, and
  /// the others over the rest of the devices, so that each of these has about
  /// as much of them.
  Picoseconds addBalanced(bool byRows, bool onEach, int64_t group,
                          int64_t share) {
    if (group == devices)
      return 0;
    const std::map<OpId, Block> blocks = balanced(group, share);
    return recipes.add(
        std::string("tables balanced by ") + (byRows ? "rows" : "columns") +
            ", " + std::to_string(share) + " of them and all else" +
            (onEach ? " on each of " : ", data-parallel, on ") +
            numberOfDevices(group),
        [&](OpId op) -> std::optional<Configuration> {
          if (isTable[op]) {
            const int dim = byRows ? rowDim(graph, graph.op(op))
                                   : columnDim(graph, graph.op(op));
            const Block &block = blocks.at(op);
            return gridOf(recipes.space(), op, {{dim, block.size}},
                          block.first);
          }
          if (isReduced[op])
            return std::nullopt;
          return recipes.inGrid(
              op, {{onEach ? kReplica : recipes.roles().sample[op], group}});
        });
  }

  struct Block {
    DeviceId first = 0;
    int64_t size = 1;
  };

  /// The `share` largest tables on the first `group` devices, each of the
  /// others on as few neighbours behind them as the mean load allows.
  std::map<OpId, Block> balanced(int64_t group, int64_t share) const {
    auto parameters = [&](OpId op) {
      return numParameters(graph, graph.op(op));
    };
    std::vector<OpId> order = tables;
    std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) {
      return parameters(a) > parameters(b);
    });
    const auto behind = order.begin() + static_cast<std::ptrdiff_t>(share);
    std::map<OpId, Block> result;
    for (auto table = order.begin(); table != behind; ++table)
      result[*table] = {0, group};
    std::vector<double> load(static_cast<size_t>(devices - group));
    double mean = 0;
    for (auto table = behind; table != order.end(); ++table)
      mean += parameters(*table) / static_cast<double>(load.size());
    for (auto table = behind; table != order.end(); ++table) {
      Block block = leastLoaded(load, parameters(*table), mean);
      for (int64_t d = 0; d < block.size; ++d)
        load[static_cast<size_t>(block.first + d)] +=
            parameters(*table) / static_cast<double>(block.size);
      block.first += static_cast<DeviceId>(group);
      result[*table] = block;
    }
    return result;
  }

  /// The smallest block that is not above the mean with `parameters` more, or
  /// the one that is least so.
  Block leastLoaded(const std::vector<double> &load, double parameters,
                    double mean) const {
    constexpr double kRounding = 1.001;
    const auto count = static_cast<int64_t>(load.size());
    Block best;
    double least = std::numeric_limits<double>::max();
    for (int64_t size : sizes) {
      for (int64_t first = 0; first + size <= count; first += size) {
        const auto begin = load.begin() + first;
        const double most = *std::max_element(begin, begin + size) +
                            parameters / static_cast<double>(size);
        if (most < least) {
          least = most;
          best = {static_cast<DeviceId>(first), size};
        }
      }
      if (least <= mean * kRounding)
        break;
    }
    return best;
  }

  Recipes &recipes;
  const Graph &graph;
  const int64_t devices;
  const std::vector<int64_t> &sizes;
  std::vector<OpId> tables;
  /// By operator. Are its parameters more than its activations, or at least,
  /// as those of a look-up may be, more than one device's part of them?
  std::vector<bool> isTable;
  /// More than one device's part of the activations.
  std::vector<bool> isWide;
  std::vector<bool> isReduced;
};

} // namespace

void search::addTables(Recipes &recipes) { TableRecipes(recipes).run(); }
