//===- FollowerTable.cpp - what followers make of their leaders -----------===//

#include "FollowerTable.h"

using namespace ffc::plan;

static void addNames(Key &key, const OpRules &rules) {
  for (const IterDim &dim : rules.dims)
    key.add(dim.name);
}

FollowerTable::FollowerTable(const Graph &graph,
                             const std::vector<int32_t> &classes)
    : graph(graph), leaders(followingOf(graph).leaders) {
  Interner<OpId> ids;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const Op &op = graph.op(id);
    const Leader &leader = leaders[id];
    if (leader.op < 0) {
      kinds.push_back(-1);
      continue;
    }
    Key key;
    key.add(int64_t(classes[id])).add(int64_t(classes[leader.op]));
    key.add(int64_t(leader.slot)).add(int64_t(leader.ownSlot));
    addNames(key, op.rules);
    addNames(key, graph.op(leader.op).rules);
    // What is loaded must be one box.
    for (ValueId value : op.operands)
      key.add(int64_t(value >= 0 && graph.isLoaded(value)));
    kinds.push_back(ids.intern(key, id));
  }
}

ConfigId FollowerTable::follow(OpId op, ConfigId leader, bool sharesCopies,
                               ConfigurationTable &configs) {
  const uint64_t key =
      pairKey(2 * kinds[op] + static_cast<int>(sharesCopies), leader);
  if (const ConfigId *known = followed.find(key))
    return *known;
  Configuration config = plan::follow(graph, leaders[op], configs[leader], op);
  if (sharesCopies)
    config = shareCopies(graph, op, config);
  return followed.insert(key, configs.intern(config));
}
