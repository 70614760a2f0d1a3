//===- SampleDims.cpp - where the samples are -----------------------------===//

#include "ffc/Plan/SampleDims.h"

#include <numeric>

using namespace ffc::plan;

namespace {
/// Dimensions of values and of operators, joined where they are the same.
class Dimensions {
public:
  explicit Dimensions(const Graph &graph) : graph(graph) {
    int next = 0;
    for (const Value &value : graph.values) {
      valueStarts.push_back(next);
      next += static_cast<int>(value.type.shape.size());
    }
    for (const Op &op : graph.ops) {
      opStarts.push_back(next);
      next += static_cast<int>(op.rules.dims.size());
    }
    parents.resize(next);
    std::iota(parents.begin(), parents.end(), 0);
    for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op)
      if (isForward(graph.op(op)))
        joinAll(op);
  }

  static bool isForward(const Op &op) {
    return op.role == OpRole::Forward || op.role == OpRole::Loss;
  }

  /// The set of a dimension of a value or an operator.
  int ofValue(ValueId value, int d) { return find(valueStarts[value] + d); }
  int ofOp(OpId op, int d) { return find(opStarts[op] + d); }
  size_t size() const { return parents.size(); }

private:
  int find(int node) {
    while (parents[node] != node)
      node = parents[node] = parents[parents[node]];
    return node;
  }

  void joinAll(OpId op) {
    for (const Schedule &schedule : graph.op(op).rules.schedules)
      for (const Phase &phase : schedule.phases) {
        for (const SlotRead &read : phase.reads)
          join(op, read.slot, read.access);
        for (const SlotWrite &write : phase.writes)
          join(op, write.slot, write.access);
      }
  }

  void join(OpId op, int slot, const Access &access) {
    ValueId value = graph.slotValue(op, slot);
    if (value < 0)
      return;
    const std::vector<IterDim> &dims = graph.op(op).rules.dims;
    for (size_t d = 0; d < access.dims.size(); ++d)
      // Of a number made of several dimensions, the leading one that counts.
      for (int dim : access.dims[d].dims)
        if (dims[dim].extent > 1) {
          parents[ofOp(op, dim)] = ofValue(value, static_cast<int>(d));
          break;
        }
  }

  const Graph &graph;
  std::vector<int> valueStarts, opStarts, parents;
};
} // namespace

/// The sample dimension of an operator that does not have it in front, which it
/// cannot have by position; -1: none.
static int knownDim(const Op &op) {
  if (op.rules.schedules.empty() ||
      op.rules.schedules.front().phases.back().writes.empty())
    return -1;
  const Access &result =
      op.rules.schedules.front().phases.back().writes.front().access;
  for (int d = 0; d < static_cast<int>(op.rules.dims.size()); ++d)
    if (op.rules.dims[d].kind == DimKind::Sample)
      for (size_t at = 1; at < result.dims.size(); ++at)
        if (result.dims[at].involves(d))
          return d;
  return -1;
}

/// The operators with a dimension that is nothing but samples.
static std::vector<int> wholeSampleDims(const Graph &graph) {
  Dimensions dimensions(graph);
  std::vector<bool> known(dimensions.size()), samples(dimensions.size());
  const auto end = static_cast<OpId>(graph.ops.size());
  for (OpId op = 0; op < end; ++op)
    if (Dimensions::isForward(graph.op(op)))
      if (int d = knownDim(graph.op(op)); d >= 0)
        known[dimensions.ofOp(op, d)] = true;
  samples = known;
  int64_t batch = -1;
  for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
    const Value &value = graph.value(id);
    const Shape &shape = value.type.shape;
    if (value.kind != ValueKind::Input || shape.empty())
      continue;
    size_t at = 0;
    for (size_t d = shape.size(); d-- > 0;)
      if (known[dimensions.ofValue(id, static_cast<int>(d))])
        at = d;
    if (batch < 0)
      batch = shape[at];
    if (shape[at] == batch)
      samples[dimensions.ofValue(id, static_cast<int>(at))] = true;
  }
  std::vector<int> result(graph.ops.size(), -1);
  for (OpId op = 0; op < end; ++op)
    if (Dimensions::isForward(graph.op(op)))
      for (int d = static_cast<int>(graph.op(op).rules.dims.size()); d-- > 0;)
        if (samples[dimensions.ofOp(op, d)])
          result[op] = d;
  return result;
}

namespace {
/// Samples as a digit of a dimension: index = (outer * extent + sample) * inner
/// + rest.
struct Place {
  int dim = -1; ///< -1: nowhere
  int64_t extent = 1, inner = 1;
};

/// Follows samples where they are merged with something else, and apart again.
class MergedSamples {
public:
  explicit MergedSamples(const Graph &graph)
      : graph(graph), places(graph.values.size()) {}

  /// Fills in the operators of `found` that have -1.
  void fill(std::vector<int> &found) {
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const Op &op = graph.ops[i];
      if (!Dimensions::isForward(op))
        continue;
      Place place = fromOperands(op);
      if (found[i] >= 0)
        place = {found[i], op.rules.dims[found[i]].extent, 1};
      found[i] = place.dim;
      if (place.dim >= 0)
        note(op, place);
    }
  }

private:
  Place fromOperands(const Op &op) const {
    for (const Phase &phase : op.rules.schedules.front().phases)
      for (const SlotRead &read : phase.reads) {
        if (read.slot >= static_cast<int>(op.operands.size()) ||
            op.operands[read.slot] < 0)
          continue;
        const Place &place = places[op.operands[read.slot]];
        if (place.dim < 0)
          continue;
        Place found =
            inIteration(place, read.access.dims[place.dim], op.rules.dims);
        if (found.dim >= 0)
          return found;
      }
    return {};
  }

  static Place inIteration(Place place, const DimMap &map,
                           const std::vector<IterDim> &dims) {
    int64_t inner = 1;
    for (size_t i = map.dims.size(); i-- > 0;) {
      const int64_t extent = dims[map.dims[i]].extent;
      if (map.kind != DimMap::Kind::Digits)
        return {map.dims[i], place.extent, place.inner};
      // The digit that has all of them.
      if (inner <= place.inner &&
          place.inner * place.extent <= inner * extent && extent > 1)
        return {map.dims[i], place.extent, place.inner / inner};
      inner *= extent;
    }
    return {};
  }

  void note(const Op &op, Place place) {
    const int operands = static_cast<int>(op.operands.size());
    for (const Phase &phase : op.rules.schedules.front().phases)
      for (const SlotWrite &write : phase.writes) {
        const int result = write.slot - operands;
        if (result < 0 || result >= static_cast<int>(op.results.size()) ||
            op.results[result] < 0)
          continue;
        for (size_t d = 0; d < write.access.dims.size(); ++d) {
          const DimMap &map = write.access.dims[d];
          int64_t inner = place.inner;
          for (size_t i = map.dims.size(); i-- > 0;) {
            if (map.dims[i] == place.dim)
              places[op.results[result]] = {static_cast<int>(d), place.extent,
                                            inner};
            inner *= op.rules.dims[map.dims[i]].extent;
          }
        }
      }
  }

  const Graph &graph;
  std::vector<Place> places; ///< by value
};
} // namespace

std::vector<int> ffc::plan::sampleDims(const Graph &graph) {
  std::vector<int> found = wholeSampleDims(graph);
  MergedSamples(graph).fill(found);
  return found;
}

void ffc::plan::markSampleDims(Graph &graph) {
  std::vector<int> found = wholeSampleDims(graph);
  std::vector<bool> readsData(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i)
    readsData[i] = graph.values[i].kind == ValueKind::Input;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    Op &op = graph.ops[i];
    bool data = false;
    for (ValueId operand : op.operands)
      data |= operand >= 0 && readsData[operand];
    for (ValueId result : op.results)
      if (result >= 0)
        readsData[result] = data;
    if (!Dimensions::isForward(op) || (data && found[i] < 0))
      continue;
    for (IterDim &dim : op.rules.dims)
      if (dim.kind == DimKind::Sample)
        dim.kind = DimKind::Attribute;
    if (found[i] >= 0)
      op.rules.dims[found[i]].kind = DimKind::Sample;
  }
}
