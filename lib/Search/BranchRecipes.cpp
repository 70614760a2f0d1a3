//===- BranchRecipes.cpp - recipes for parts beside each other ------------===//

#include "Branches.h"
#include "Recipes.h"

#include <algorithm>
#include <numeric>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

class BranchRecipes {
public:
  BranchRecipes(Recipes &recipes, const Branches &branches)
      : recipes(recipes), branches(branches),
        blocks(branches.blocks(recipes.devices())) {}

  void run() {
    for (bool sharesLayers : {true, false})
      for (bool byOther : {false, true})
        recipes.addSeries(recipes.space().divisors(), divisorsOf,
                          [&](int64_t meet, int64_t parts) {
                            return addMeeting(sharesLayers, byOther, meet,
                                              parts);
                          });
  }

private:
  /// What branches meet in is on so many devices: data-parallel, or on tensor
  /// groups of so many parts; or, as branches that share their layers, split
  /// along the other dimension of its parameters, so that what branches give
  /// lies side by side and the first layer behind them contracts it as it lies.
  Picoseconds addMeeting(bool sharesLayers, bool byOther, int64_t meet,
                         int64_t parts) {
    if (byOther && parts == 1) // the same as groups of one
      return 0;
    const TensorGrid grid{meet / parts, byOther ? 1 : parts,
                          byOther ? parts : 1};
    return recipes.add(std::string("branches apart, ") +
                           name(sharesLayers, byOther) + ", all else " +
                           nameOf(grid) + " on " + numberOfDevices(meet),
                       [&](OpId op) -> std::optional<Configuration> {
                         if (branches.of[op] >= 0)
                           return inBranch(op, sharesLayers, byOther);
                         // What joins branches follows.
                         return byOther && recipes.roles().other[op] == kReplica
                                    ? std::nullopt
                                    : recipes.inTensorGrid(op, grid);
                       });
  }

  static const char *name(bool sharesLayers, bool byOther) {
    return !sharesLayers ? "data-parallel"
           : byOther     ? "tensor by sums"
                         : "tensor";
  }

  std::optional<Configuration> inBranch(OpId op, bool sharesLayers,
                                        bool byOther) const {
    const Branches::Block &block = blocks[branches.of[op]];
    const TensorGrid grid = !sharesLayers ? TensorGrid{block.size, 1, 1}
                            : byOther     ? TensorGrid{1, 1, block.size}
                                          : TensorGrid{1, block.size, 1};
    return tensorGridOf(recipes.space(), recipes.roles(), op, grid,
                        block.first);
  }

  Recipes &recipes;
  const Branches &branches;
  const std::vector<Branches::Block> blocks;
};

} // namespace

void search::addBranches(Recipes &recipes) {
  const Branches branches(recipes.graph());
  if (branches.areWorthwhile())
    BranchRecipes(recipes, branches).run();
}

/// Of the largest batch of parameters; 0: there is none.
static int64_t numExperts(const Recipes &recipes) {
  const Graph &graph = recipes.graph();
  int64_t experts = 0;
  for (OpId anchor : recipes.space().anchors())
    if (const int dim = expertDims(graph, graph.op(anchor)).experts;
        dim != kReplica && graph.op(anchor).role == OpRole::Forward)
      experts = std::max(experts, graph.op(anchor).rules.dims[dim].extent);
  return experts;
}

void search::addExperts(Recipes &recipes) {
  const Graph &graph = recipes.graph();
  const int64_t experts = numExperts(recipes), devices = recipes.devices();
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
    recipes.addSeries(rows, [&](int64_t r) {
      return recipes.add("experts on " + std::to_string(apart) + " x " +
                             std::to_string(r) + " devices, all else " +
                             (everywhere ? "everywhere" : "data-parallel"),
                         [&](OpId op) -> std::optional<Configuration> {
                           const ExpertDims dims =
                               expertDims(graph, graph.op(op));
                           if (dims.experts != kReplica)
                             return recipes.inGrid(
                                 op, {{dims.experts, apart}, {dims.rows, r}});
                           if (everywhere)
                             return std::nullopt;
                           return recipes.inGrid(
                               op, {{recipes.roles().sample[op], apart * r}});
                         });
    });
}
