//===- Trails.cpp - anchors that go along with others ---------------------===//

#include "Trails.h"

#include "Roles.h"

#include <algorithm>
#include <set>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

static std::set<ValueId> parametersOf(const Graph &graph, OpId op) {
  std::set<ValueId> result;
  for (ValueId operand : graph.op(op).operands)
    if (ValueId state = stateBehind(graph, operand); state >= 0)
      result.insert(state);
  return result;
}

Trails::Trails(const Space &space)
    : space(space), leaders(followingOf(space.graph()).leaders),
      next(leaders.size()) {
  const Graph &graph = space.graph();
  for (OpId anchor : space.anchors()) {
    const std::set<ValueId> parameters = parametersOf(graph, anchor);
    for (ValueId parameter : parameters)
      readers[parameter].push_back(anchor);
    OpId leader = leaders[anchor].op;
    if (leader < 0 || leader > anchor || !parameters.empty())
      continue;
    while (space.leader(leader).op >= 0)
      leader = space.leader(leader).op;
    next[leader].push_back(anchor);
  }
}

std::vector<OpId> Trails::sharing(OpId anchor) const {
  std::set<OpId> all{anchor};
  for (ValueId parameter : parametersOf(space.graph(), anchor)) {
    const std::vector<OpId> &others = readers.at(parameter);
    all.insert(others.begin(), others.end());
  }
  return {all.begin(), all.end()};
}

std::vector<std::pair<OpId, Configuration>>
Trails::behind(OpId anchor, const Configuration &config) const {
  std::vector<std::pair<OpId, Configuration>> result;
  for (OpId member : next[anchor]) {
    std::vector<OpId> way;
    for (OpId op = member; op != anchor; op = leaders[op].op)
      way.push_back(op);
    Configuration taken = config;
    for (; !way.empty(); way.pop_back())
      taken = follow(space.graph(), leaders[way.back()], taken, way.back());
    std::vector<std::pair<OpId, Configuration>> more = behind(member, taken);
    result.push_back({member, std::move(taken)});
    result.insert(result.end(), more.begin(), more.end());
  }
  return result;
}
