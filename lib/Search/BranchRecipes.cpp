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
        blocks(branches.blocks(recipes.devices())) {
    for (const Branches::Block &block : blocks)
      largest = std::max(largest, block.size);
  }

  void run() {
    for (bool byOther : {false, true})
      recipes.addSeries(divisorsOf(largest), [&](int64_t group) {
        return recipes.addSeries(recipes.space().divisors(), divisorsOf,
                                 [&](int64_t meet, int64_t parts) {
                                   return addMeeting(group, byOther, meet,
                                                     parts);
                                 });
      });
  }

private:
  /// The devices of a branch are tensor groups of so many, or all of them if
  /// these are fewer. What branches meet in is on `meet` devices in tensor
  /// groups of so many parts. Layers of both split the first dimension of their
  /// parameters, or the other one, so that what branches give lies side by side
  /// and the first layer behind them contracts it as it lies.
  Picoseconds addMeeting(int64_t group, bool byOther, int64_t meet,
                         int64_t parts) {
    if (byOther && parts == 1) // the same as groups of one
      return 0;
    const TensorGrid grid{meet / parts, byOther ? 1 : parts,
                          byOther ? parts : 1};
    return recipes.add("branches apart, " + name(group, byOther) +
                           ", all else " + nameOf(grid) + " on " +
                           numberOfDevices(meet),
                       [&](OpId op) -> std::optional<Configuration> {
                         if (branches.of[op] >= 0)
                           return inBranch(op, group, byOther);
                         // What joins branches follows.
                         return byOther && recipes.roles().other[op] == kReplica
                                    ? std::nullopt
                                    : recipes.inTensorGrid(op, grid);
                       });
  }

  std::string name(int64_t group, bool byOther) const {
    if (group == 1)
      return "data-parallel";
    return std::string("tensor") +
           (group == largest ? "" : " " + std::to_string(group)) +
           (byOther ? " by sums" : "") + (group == largest ? "" : " x data");
  }

  std::optional<Configuration> inBranch(OpId op, int64_t group,
                                        bool byOther) const {
    const Branches::Block &block = blocks[branches.of[op]];
    const int64_t parts = std::min(group, block.size);
    return tensorGridOf(
        recipes.space(), recipes.roles(), op,
        {block.size / parts, byOther ? 1 : parts, byOther ? parts : 1},
        block.first);
  }

  Recipes &recipes;
  const Branches &branches;
  const std::vector<Branches::Block> blocks;
  int64_t largest = 1; ///< devices of a branch
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
