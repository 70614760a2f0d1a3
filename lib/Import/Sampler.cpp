//===- Sampler.cpp - images between their positions -----------------------===//

#include "Sampler.h"

#include "Positions.h"

using namespace ffc;
using namespace ffc::importer;
using llvm::ArrayRef;
using llvm::SmallVector;

Sampler::Sampler(NodeImporter &node, Expression &made, GraphValue *image)
    : node(node), made(made) {
  if (!image || node.failed())
    return;
  const Shape from(image->shape);
  extents = Shape(ArrayRef<int64_t>(from).drop_front(2));
  positions = product(extents);
  node.expectPositions(from[0] * positions);
  if (node.failed())
    return;
  Shape perm = {0};
  for (size_t d = 2; d < from.size(); ++d)
    perm.push_back(static_cast<int64_t>(d));
  perm.push_back(1);
  rows =
      made.reshape(made.transpose(image, perm), {from[0] * positions, from[1]});
}

Tap Sampler::inside(GraphValue *place, GraphValue *weight, int64_t extent) {
  const auto last = static_cast<double>(extent - 1);
  GraphValue *cut = made.clamp(place, 0, last);
  if (!cut)
    return {};
  GraphValue *isInside =
      made.cast(made.apply("Equal", {cut, place}), place->type);
  return {cut, weight ? made.mul(weight, isInside) : isInside};
}

SmallVector<Tap> Sampler::linear(GraphValue *place, int64_t extent,
                                 bool extends) {
  GraphValue *low = made.apply("Floor", {place});
  GraphValue *high = made.add(low, 1), *rest = made.sub(place, low);
  GraphValue *other = made.sub(high, place);
  if (!extends)
    return {inside(low, other, extent), inside(high, rest, extent)};
  const auto last = static_cast<double>(extent - 1);
  return {{made.clamp(low, 0, last), other}, {made.clamp(high, 0, last), rest}};
}

SmallVector<GraphValue *> Sampler::read(ArrayRef<SmallVector<Tap>> taps,
                                        GraphValue *batches) {
  SmallVector<GraphValue *> values;
  // Combinations, the last dimension's taps fastest.
  SmallVector<size_t> chosen(taps.size(), 0);
  for (bool more = true; more && !node.failed();) {
    GraphValue *row = nullptr, *weight = nullptr;
    for (size_t d = 0; d < taps.size(); ++d) {
      const Tap &tap = taps[d][chosen[d]];
      row = row ? made.add(made.mul(row, static_cast<double>(extents[d])),
                           tap.place)
                : tap.place;
      if (tap.weight)
        weight = weight ? made.mul(weight, tap.weight) : tap.weight;
    }
    row = made.add(row, made.mul(batches, static_cast<double>(positions)));
    GraphValue *value = made.apply(
        "Gather", {rows, made.cast(row, onnx::TensorProto::INT64)}, "axis", 0);
    if (value && weight) {
      Shape column(weight->shape);
      column.push_back(1);
      value = made.mul(value, made.reshape(weight, column));
    }
    values.push_back(value);
    more = false;
    for (size_t d = taps.size(); d-- > 0 && !more;) {
      chosen[d] = (chosen[d] + 1) % taps[d].size();
      more = chosen[d] != 0;
    }
  }
  return node.failed() ? SmallVector<GraphValue *>() : values;
}

GraphValue *Sampler::sum(ArrayRef<GraphValue *> values) {
  GraphValue *result = nullptr;
  for (GraphValue *value : values)
    result = result ? made.add(result, value) : value;
  return result;
}
