//===- BranchRecipes.cpp - recipes for parts beside each other ------------===//

#include "Branches.h"
#include "Recipes.h"

#include <algorithm>
#include <numeric>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

void search::addBranches(Recipes &recipes) {
  const Branches branches(recipes.graph());
  if (!branches.areWorthwhile())
    return;
  const Roles &roles = recipes.roles();
  const std::vector<Branches::Block> blocks =
      branches.blocks(recipes.devices());
  for (bool sharesLayers : {true, false})
    recipes.addSeries(recipes.space().divisors(), [&](int64_t meet) {
      return recipes.add(
          std::string("branches apart, ") +
              (sharesLayers ? "tensor" : "data-parallel") + ", all else on " +
              numberOfDevices(meet),
          [&](OpId op) {
            const int branch = branches.of[op];
            const Branches::Block block =
                branch < 0 ? Branches::Block{0, meet} : blocks[branch];
            const int dim = sharesLayers ? roles.tensor[op] : roles.sample[op];
            return gridOf(recipes.space(), op, {{dim, block.size}},
                          block.first);
          });
    });
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
