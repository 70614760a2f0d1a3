//===- SampleDims.cpp - where the samples of a batch are ------------------===//

#include "ffc/Plan/SampleDims.h"

using namespace ffc::plan;

namespace {
/// Samples are the middle digit of a dimension: index = (outer * extent +
/// sample) * inner + rest.
struct Place {
  int dim = -1; ///< -1: nowhere
  int64_t extent = 1, inner = 1;
};

class SampleFinder {
public:
  explicit SampleFinder(const Graph &graph)
      : graph(graph), places(graph.values.size()) {}

  std::vector<int> run() {
    std::vector<int> result;
    for (const Op &op : graph.ops)
      result.push_back(op.owner < 0 ? visit(op) : -1);
    return result;
  }

private:
  int visit(const Op &op) {
    Place place = fromOperands(op);
    if (place.dim < 0)
      place = byKind(op);
    if (place.dim >= 0)
      note(op, place);
    return place.dim;
  }

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

  /// Of the operators that nothing has been followed to.
  static Place byKind(const Op &op) {
    for (size_t d = 0; d < op.rules.dims.size(); ++d)
      if (op.rules.dims[d].kind == DimKind::Sample)
        return {static_cast<int>(d), op.rules.dims[d].extent, 1};
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
  return SampleFinder(graph).run();
}
