//===- Branches.cpp - parts of a model that do not need each other --------===//

#include "Branches.h"
#include "KernelTime.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// A branch that does less is no reason to divide devices.
static constexpr double kLeastShare = 0.05;

Branches::Branches(const Graph &graph) : of(graph.ops.size(), -1) {
  std::vector<bool> needsInput(graph.ops.size());
  std::map<ValueId, int> ofInput; // its first reader's branch
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const Op &op = graph.op(id);
    if (op.role != OpRole::Forward)
      continue;
    std::set<int> met;
    std::vector<ValueId> fresh;
    for (ValueId operand : op.operands) {
      if (operand < 0)
        continue;
      const Value &value = graph.value(operand);
      if (value.producer >= 0) {
        if (needsInput[value.producer])
          met.insert(of[value.producer]);
      } else if (value.kind == ValueKind::Input) {
        if (auto known = ofInput.find(operand); known != ofInput.end())
          met.insert(known->second);
        else
          fresh.push_back(operand);
      }
    }
    needsInput[id] = !met.empty() || !fresh.empty();
    if (met.empty() && !fresh.empty()) {
      of[id] = static_cast<int>(operations.size());
      operations.push_back(0);
    } else if (met.size() == 1) {
      of[id] = *met.begin();
    }
    for (ValueId input : fresh)
      ofInput[input] = of[id];
    if (of[id] >= 0)
      operations[of[id]] += operationsOf(op);
  }
}

bool Branches::areWorthwhile() const {
  const double all = std::accumulate(operations.begin(), operations.end(), 0.0);
  return std::count_if(operations.begin(), operations.end(), [&](double own) {
           return own >= kLeastShare * all && own > 0;
         }) > 1;
}

/// Doubles the block of whoever has most to do for each of its devices, as long
/// as there are devices.
static std::vector<int64_t> sizesOf(const std::vector<double> &operations,
                                    int64_t devices) {
  std::vector<int64_t> sizes(operations.size(), 1);
  int64_t left = devices - static_cast<int64_t>(sizes.size());
  while (true) {
    size_t busiest = 0;
    auto load = [&](size_t branch) {
      return operations[branch] / static_cast<double>(sizes[branch]);
    };
    for (size_t branch = 1; branch < sizes.size(); ++branch)
      if (load(branch) > load(busiest))
        busiest = branch;
    if (sizes[busiest] > left)
      return sizes;
    left -= sizes[busiest];
    sizes[busiest] *= 2;
  }
}

std::vector<Branches::Block> Branches::blocks(int64_t devices) const {
  const auto count = static_cast<int64_t>(operations.size());
  const std::vector<int64_t> sizes =
      sizesOf(operations, std::max(devices, count));
  std::vector<size_t> order(operations.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_pair(sizes[a], operations[a]) >
           std::make_pair(sizes[b], operations[b]);
  });
  std::vector<Block> result(operations.size());
  std::vector<double> load(static_cast<size_t>(devices));
  DeviceId next = 0;
  for (size_t branch : order) {
    if (count > devices) {
      const auto least = std::min_element(load.begin(), load.end());
      next = static_cast<DeviceId>(least - load.begin());
      *least += operations[branch];
    }
    result[branch] = {next, sizes[branch]};
    next += static_cast<DeviceId>(sizes[branch]);
  }
  return result;
}
