//===- FoldMove.cpp - evaluators that move elements -----------------------===//

#include "Fold.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>

using namespace ffc::importer;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::Twine;

Constant ffc::importer::select(const Constant &from, Shape shape,
                               ArrayRef<int64_t> source) {
  Constant result;
  result.type = from.type;
  result.shape = std::move(shape);
  for (int64_t i : source) {
    if (from.isFloat())
      result.floats.push_back(from.floats[i]);
    else
      result.ints.push_back(from.ints[i]);
  }
  return result;
}

/// Flat indices that pick, per dimension, `starts` + i * `steps` of a row-major
/// tensor with `strides`, for all i below `shape`.
static std::vector<int64_t> walk(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> starts,
                                 ArrayRef<int64_t> steps,
                                 ArrayRef<int64_t> strides) {
  // The extents before one of 0 may be any.
  if (llvm::is_contained(shape, 0))
    return {};
  std::vector<int64_t> indices = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t> longer;
    for (int64_t base : indices)
      for (int64_t i = 0; i < shape[d]; ++i)
        longer.push_back(base + (starts[d] + i * steps[d]) * strides[d]);
    indices = std::move(longer);
  }
  return indices;
}

static Shape rowMajorStrides(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// `from` with another shape of as many elements.
static Expected<Constant> reshaped(const Constant &from,
                                   Expected<Shape> shape) {
  if (!shape)
    return shape.takeError();
  Constant result = from;
  result.shape = std::move(*shape);
  return result;
}

Expected<Constant> ffc::importer::foldGather(const FoldCall &call) {
  const Constant &data = *call.inputs[0], &indices = *call.inputs[1];
  auto axis = resolveAxis(call.integer("axis", 0), data.shape.size());
  if (!axis)
    return axis.takeError();
  int64_t extent = data.shape[*axis];
  int64_t inner =
      *elementCount(ArrayRef<int64_t>(data.shape).drop_front(*axis + 1));
  int64_t outer =
      *elementCount(ArrayRef<int64_t>(data.shape).take_front(*axis));
  Shape shape(data.shape.begin(), data.shape.begin() + *axis);
  shape.append(indices.shape);
  shape.append(data.shape.begin() + *axis + 1, data.shape.end());
  auto count = elementCount(shape);
  if (!count || *count > kMaxConstantElements)
    return tooLarge(shape);
  for (int64_t index : indices.ints)
    if (index < -extent || index >= extent)
      return makeError("index " + Twine(index) +
                       " is out of range for extent " + Twine(extent));
  std::vector<int64_t> source;
  // Of no elements there may be any number of rows.
  for (int64_t o = 0; *count > 0 && o < outer; ++o)
    for (int64_t index : indices.ints) {
      int64_t row = o * extent + (index < 0 ? index + extent : index);
      for (int64_t i = 0; i < inner; ++i)
        source.push_back(row * inner + i);
    }
  return select(data, shape, source);
}

Expected<Constant> ffc::importer::foldConcat(const FoldCall &call) {
  const Constant &first = *call.inputs.front();
  auto axis = resolveAxis(call.integer("axis", 0), first.shape.size());
  if (!axis)
    return axis.takeError();
  Constant result;
  result.type = first.type;
  result.shape = first.shape;
  result.shape[*axis] = 0;
  int64_t outer =
      *elementCount(ArrayRef<int64_t>(first.shape).take_front(*axis));
  for (const Constant *input : call.inputs) {
    Shape expected = first.shape;
    if (input && input->shape.size() == expected.size())
      expected[*axis] = input->shape[*axis];
    if (!input || input->shape != expected || input->type != first.type)
      return makeError("cannot concatenate " + shapeText(first.shape) +
                       " and " + (input ? shapeText(input->shape) : "nothing") +
                       " along dimension " + Twine(*axis));
    result.shape[*axis] += input->shape[*axis];
  }
  auto count = elementCount(result.shape);
  if (!count || *count > kMaxConstantElements)
    return tooLarge(result.shape);
  // Without elements, there may be no rows to put together.
  if (*count == 0)
    return result;
  for (int64_t o = 0; o < outer; ++o)
    for (const Constant *input : call.inputs) {
      int64_t row = input->size() / outer;
      auto append = [&](auto &to, const auto &from) {
        to.insert(to.end(), from.begin() + o * row,
                  from.begin() + (o + 1) * row);
      };
      if (result.isFloat())
        append(result.floats, input->floats);
      else
        append(result.ints, input->ints);
    }
  return result;
}

Expected<llvm::SmallVector<SliceDim>> ffc::importer::resolveSlice(
    ArrayRef<int64_t> shape, std::optional<Shape> starts,
    std::optional<Shape> ends, std::optional<Shape> axes,
    std::optional<Shape> steps) {
  if (!axes && starts)
    axes = llvm::to_vector(llvm::seq<int64_t>(starts->size()));
  if (!steps && starts)
    steps = Shape(starts->size(), 1);
  if (!starts || !ends || ends->size() != starts->size() ||
      axes->size() != starts->size() || steps->size() != starts->size())
    return makeError("expected as many starts as ends, axes and steps");

  llvm::SmallVector<SliceDim> dims;
  for (int64_t extent : shape)
    dims.push_back({0, 1, extent});
  for (size_t i = 0; i < axes->size(); ++i) {
    auto axis = resolveAxis((*axes)[i], shape.size());
    if (!axis)
      return axis.takeError();
    int64_t extent = shape[*axis], step = (*steps)[i];
    if (step == 0)
      return makeError("expected steps other than 0");
    if (extent == 0)
      continue;
    // Steps beyond the extent pick one element, whatever their size.
    step = std::clamp(step, -extent - 1, extent + 1);
    auto place = [&](int64_t given, int64_t lowest, int64_t highest) {
      return std::clamp(given < 0 ? given + extent : given, lowest, highest);
    };
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    int64_t start = place((*starts)[i], std::max<int64_t>(low, 0), high);
    // Ends below -extent mean "to the front" when walking backwards.
    int64_t end = place((*ends)[i], low, high);
    int64_t span = step > 0 ? end - start : start - end;
    int64_t count =
        span <= 0 ? 0 : (span + std::abs(step) - 1) / std::abs(step);
    dims[*axis] = {start, step, count};
  }
  return dims;
}

Expected<Constant> ffc::importer::foldSlice(const FoldCall &call) {
  const Constant &data = *call.inputs[0];
  auto dims =
      resolveSlice(data.shape, call.list("starts", 1), call.list("ends", 2),
                   call.list("axes", 3), call.list("steps", 4));
  if (!dims)
    return dims.takeError();
  Shape shape, starts, steps;
  for (const SliceDim &dim : *dims) {
    shape.push_back(dim.count);
    starts.push_back(dim.start);
    steps.push_back(dim.step);
  }
  return select(data, shape,
                walk(shape, starts, steps, rowMajorStrides(data.shape)));
}

Expected<Constant> ffc::importer::foldTranspose(const FoldCall &call) {
  const Constant &data = *call.inputs[0];
  size_t rank = data.shape.size();
  Shape perm = call.list("perm", 1).value_or(
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(rank))));
  Shape sorted = perm;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(rank)))
    return makeError("expected a permutation of " + Twine(rank) +
                     " dimensions");
  Shape strides = rowMajorStrides(data.shape), shape, picked;
  for (int64_t d : perm) {
    shape.push_back(data.shape[d]);
    picked.push_back(strides[d]);
  }
  return select(data, shape,
                walk(shape, Shape(rank, 0), Shape(rank, 1), picked));
}

Expected<Constant> ffc::importer::foldReshape(const FoldCall &call) {
  const Constant &data = *call.inputs[0];
  return reshaped(data, resolveReshape(data.shape, call.inputs[1]->ints,
                                       call.integer("allowzero", 0) != 0));
}

Expected<Constant> ffc::importer::foldSqueeze(const FoldCall &call) {
  const Constant &data = *call.inputs[0];
  return reshaped(data, squeezedShape(data.shape, call.list("axes", 1)));
}

Expected<Constant> ffc::importer::foldUnsqueeze(const FoldCall &call) {
  const Constant &data = *call.inputs[0];
  return reshaped(
      data,
      unsqueezedShape(data.shape, call.list("axes", 1).value_or(Shape())));
}

Expected<Constant> ffc::importer::foldExpand(const FoldCall &call) {
  const Constant &data = *call.inputs[0];
  auto shape = ff::broadcastShapes(data.shape, call.inputs[1]->ints);
  auto count = shape ? elementCount(*shape) : std::nullopt;
  if (!count)
    return makeError("cannot expand a constant of shape " +
                     shapeText(data.shape) + " to " +
                     shapeText(call.inputs[1]->ints));
  if (*count > kMaxConstantElements)
    return tooLarge(*shape);
  // Dimensions that are repeated have stride 0.
  Shape strides(shape->size(), 0), own = rowMajorStrides(data.shape);
  size_t missing = shape->size() - data.shape.size();
  for (size_t d = 0; d < data.shape.size(); ++d)
    if (data.shape[d] != 1)
      strides[d + missing] = own[d];
  return select(
      data, Shape(*shape),
      walk(*shape, Shape(shape->size(), 0), Shape(shape->size(), 1), strides));
}

Expected<Constant> ffc::importer::foldTile(const FoldCall &call) {
  const Constant &data = *call.inputs[0];
  ArrayRef<int64_t> repeats = call.inputs[1]->ints;
  if (repeats.size() != data.shape.size())
    return makeError("expected " + Twine(data.shape.size()) +
                     " repeats, found " + Twine(repeats.size()));
  // Each dimension is walked as two: the repeat, with stride 0, and itself.
  Shape shape, walked, strides, own = rowMajorStrides(data.shape);
  for (size_t d = 0; d < repeats.size(); ++d) {
    walked.append({repeats[d], data.shape[d]});
    strides.append({0, own[d]});
    // Extents that are no product of two numbers below the limit are too large.
    const bool isLarge =
        std::max(repeats[d], data.shape[d]) > kMaxConstantElements &&
        repeats[d] != 0 && data.shape[d] != 0;
    shape.push_back(repeats[d] < 0 || isLarge ? -1
                                              : repeats[d] * data.shape[d]);
  }
  auto count = elementCount(shape);
  if (!count || *count > kMaxConstantElements)
    return tooLarge(shape);
  return select(
      data, shape,
      walk(walked, Shape(walked.size(), 0), Shape(walked.size(), 1), strides));
}
