//===- SearchGraph.cpp - the graph that strategies are searched on --------===//

#include "SearchGraph.h"

#include "ffc/IR/NameOf.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;

plan::PartialStrategy SearchGraph::spread(const plan::Strategy &strategy,
                                          const plan::Graph &to) const {
  llvm::StringMap<plan::OpId> ids;
  for (size_t i = 0; i < to.ops.size(); ++i)
    ids[to.ops[i].name] = static_cast<plan::OpId>(i);
  plan::PartialStrategy result(to.ops.size());
  auto give = [&](StringRef name, size_t op) {
    auto it = ids.find(name);
    if (it == ids.end())
      return;
    const plan::OpRules &own = planned.graph.ops[op].rules,
                        &target = to.op(it->second).rules;
    plan::Configuration config = strategy[op];
    for (plan::GridAxis &axis : config.axes)
      if (axis.dim != plan::kReplica)
        axis.dim = target.findDim(own.dims[axis.dim].name);
    result[it->second] = std::move(config);
  };
  for (size_t i = 0; i < planned.ops.size(); ++i) {
    give(planned.graph.ops[i].name, i);
    planned.ops[i]->walk(
        [&](Operation *inside) { give(ff::nameOf(inside), i); });
  }
  return result;
}

plan::Strategy SearchGraph::gather(const plan::Graph &from,
                                   const plan::Strategy &strategy) const {
  llvm::StringMap<size_t> ids;
  for (size_t i = 0; i < from.ops.size(); ++i)
    ids[from.ops[i].name] = i;
  std::vector<std::optional<plan::Configuration>> given(
      planned.graph.ops.size());
  for (size_t i = 0; i < planned.graph.ops.size(); ++i) {
    auto it = ids.find(planned.graph.ops[i].name);
    if (it == ids.end())
      continue;
    const plan::OpRules &own = from.ops[it->second].rules;
    plan::Configuration config = strategy[it->second];
    for (plan::GridAxis &axis : config.axes)
      if (axis.dim != plan::kReplica)
        axis.dim = planned.graph.ops[i].rules.findDim(own.dims[axis.dim].name);
    given[i] = std::move(config);
  }
  return plan::completeStrategy(planned.graph, given);
}
