//===- TableRecipes.cpp - recipes for tables and wide layers --------------===//

#include "Recipes.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

class TableRecipes {
public:
  explicit TableRecipes(Recipes &recipes)
      : recipes(recipes), graph(recipes.graph()) {
    std::vector<double> load(static_cast<size_t>(recipes.devices()));
    for (OpId anchor : recipes.space().anchors())
      if (const Op &op = graph.op(anchor); isTable(op)) {
        auto least = std::min_element(load.begin(), load.end());
        places[anchor] = static_cast<DeviceId>(least - load.begin());
        *least += numParameters(graph, op);
      }
    findReduced();
  }

  void run() {
    if (places.empty())
      return;
    recipes.add("data-parallel, table per device", [&](OpId op) {
      auto place = places.find(op);
      return place == places.end()
                 ? others(op)
                 : std::make_optional(Configuration::onDevice(place->second));
    });
    for (bool byRows : {true, false})
      recipes.addSeries(recipes.space().divisors(), [&](int64_t parts) {
        return parts == 1 ? 0 : addSplit(byRows, parts);
      });
    addApart();
  }

private:
  bool isTable(const Op &op) const {
    return hasManyParameters(graph, op) ||
           (isLookup(graph, op) &&
            hasManyParameters(graph, op, recipes.devices()));
  }

  /// What is no table, nor best done where one is.
  std::optional<Configuration> others(OpId op) const {
    return isReduced[op] ? std::nullopt : recipes.dataParallel(op);
  }

  /// Groups of devices that split tables so, and each take some of the
  /// samples.
  Picoseconds addSplit(bool byRows, int64_t parts) {
    const int64_t samples = recipes.devices() / parts;
    const std::string name =
        std::string("data-parallel, tables by ") +
        (byRows ? "rows" : "columns") +
        (samples == 1 ? ""
                      : " on " + std::to_string(parts) + " x " +
                            std::to_string(samples));
    return recipes.add(name, [&](OpId op) {
      const int dim =
          byRows ? rowDim(graph, graph.op(op)) : columnDim(graph, graph.op(op));
      return places.count(op)
                 ? recipes.inGrid(op, {{recipes.roles().sample[op], samples},
                                       {dim, parts}})
                 : others(op);
    });
  }

  /// By operator: does it only make less of what one of the tables gives, as
  /// the sum over a bag does?
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
          isOfTable |= places.count(producer) || isReduced[producer];
        }
      for (ValueId result : op.results)
        if (result >= 0)
          written += graph.value(result).type.bytes();
      isReduced[id] = op.role == OpRole::Forward && computed == 1 &&
                      isOfTable && written <= read && !places.count(id);
    }
  }

  /// Are tables most of the model's parameters?
  bool areMost() const {
    double tables = 0, all = 0;
    for (OpId anchor : recipes.space().anchors()) {
      const double parameters = numParameters(graph, graph.op(anchor));
      all += parameters;
      tables += places.count(anchor) ? parameters : 0;
    }
    return tables >= all / 2;
  }

  /// Where tables are most of a model: as far from each other as can be, so
  /// that each has links of its own, and all else data-parallel on some
  /// devices.
  void addApart() {
    if (places.size() < 2 || !areMost())
      return;
    int64_t number = 0;
    const auto count = static_cast<int64_t>(places.size());
    for (auto &[anchor, place] : places)
      place = static_cast<DeviceId>(number++ * recipes.devices() / count);
    recipes.addSeries(recipes.space().divisors(), [&](int64_t group) {
      return recipes.add(
          "tables apart, all else data-parallel on " + numberOfDevices(group),
          [&](OpId op) {
            auto place = places.find(op);
            return isReduced[op] ? std::nullopt
                   : place == places.end()
                       ? recipes.inGrid(op,
                                        {{recipes.roles().sample[op], group}})
                       : std::make_optional(
                             Configuration::onDevice(place->second));
          });
    });
  }

  Recipes &recipes;
  const Graph &graph;
  /// Of tables, one device each.
  std::map<OpId, DeviceId> places;
  std::vector<bool> isReduced;
};

} // namespace

void search::addTables(Recipes &recipes) { TableRecipes(recipes).run(); }
