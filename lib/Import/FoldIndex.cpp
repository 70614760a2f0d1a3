//===- FoldIndex.cpp - evaluators of reductions and index computations ----===//

#include "Fold.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace ffc::importer;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using onnx::TensorProto;

/// What is not a number wins, as in Max and Min.
static double combine(StringRef op, double a, double b) {
  if (op == "ReduceMax")
    return larger(a, b);
  if (op == "ReduceMin")
    return -larger(-a, -b);
  return op == "ReduceProd" ? a * b : a + b;
}

/// Wraps, as integers do at run time.
static int64_t combine(StringRef op, int64_t a, int64_t b) {
  if (op == "ReduceMax")
    return std::max(a, b);
  if (op == "ReduceMin")
    return std::min(a, b);
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  return static_cast<int64_t>(op == "ReduceProd" ? ua * ub : ua + ub);
}

Expected<Constant> ffc::importer::foldReduce(const FoldCall &call) {
  StringRef op = call.node.op_type();
  const Constant &data = *call.inputs[0];
  size_t rank = data.shape.size();
  Shape axes = call.list("axes", 1).value_or(Shape());
  bool keepdims = call.integer("keepdims", 1) != 0;
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) != 0)
    return data;
  llvm::SmallVector<bool> reduced(rank, axes.empty());
  for (int64_t given : axes) {
    auto axis = resolveAxis(given, rank);
    if (!axis)
      return axis.takeError();
    reduced[*axis] = true;
  }
  if (data.size() == 0)
    return makeError("cannot reduce a constant without elements");
  Constant result;
  result.type = data.type;
  Shape extents; // of the result with dimensions kept
  for (size_t d = 0; d < rank; ++d) {
    extents.push_back(reduced[d] ? 1 : data.shape[d]);
    if (keepdims || !reduced[d])
      result.shape.push_back(extents.back());
  }
  int64_t count = *elementCount(extents);
  auto reduce = [&](auto &to, const auto &from) {
    std::vector<bool> seen(count, false);
    to.resize(count);
    for (int64_t i = 0; i < data.size(); ++i) {
      int64_t rest = i, index = 0, stride = 1;
      for (size_t d = rank; d-- > 0; rest /= data.shape[d]) {
        index += reduced[d] ? 0 : rest % data.shape[d] * stride;
        stride *= extents[d];
      }
      to[index] = seen[index] ? combine(op, to[index], from[i]) : from[i];
      seen[index] = true;
    }
    if (op == "ReduceMean")
      for (auto &value : to)
        value /= data.size() / count;
  };
  if (data.isFloat())
    reduce(result.floats, data.floats);
  else
    reduce(result.ints, data.ints);
  result.normalize();
  return result;
}

Expected<Constant> ffc::importer::foldRange(const FoldCall &call) {
  const Constant &start = *call.inputs[0];
  for (const Constant *input : call.inputs)
    if (input->size() != 1 || input->type != start.type)
      return makeError("expected three scalars of one type");
  Constant result;
  result.type = start.type;
  const double first = start.number(0), limit = call.inputs[1]->number(0),
               step = call.inputs[2]->number(0);
  // What is no number is no limit.
  const double span = std::ceil((limit - first) / step);
  if (step == 0 || !(span <= static_cast<double>(kMaxConstantElements)))
    return makeError("cannot evaluate a range from " + numberText(first) +
                     " to " + numberText(limit) + " in steps of " +
                     numberText(step) + ", expected at most " +
                     Twine(kMaxConstantElements) + " numbers");
  result.shape = {static_cast<int64_t>(std::max(span, 0.0))};
  for (int64_t i = 0; i < result.shape[0]; ++i)
    if (result.isFloat())
      result.floats.push_back(first + static_cast<double>(i) * step);
    else
      result.ints.push_back(static_cast<int64_t>(
          static_cast<uint64_t>(start.ints[0]) +
          static_cast<uint64_t>(i) *
              static_cast<uint64_t>(call.inputs[2]->ints[0])));
  result.normalize();
  return result;
}

Expected<Constant> ffc::importer::foldCompress(const FoldCall &call) {
  const Constant &data = *call.inputs[0], &condition = *call.inputs[1];
  Shape shape = data.shape;
  size_t axis = 0;
  if (findAttribute(call.node, "axis")) {
    auto given = resolveAxis(call.integer("axis", 0), shape.size());
    if (!given)
      return given.takeError();
    axis = *given;
  } else {
    shape = {data.size()}; // of the flattened operand
  }
  int64_t extent = shape[axis];
  if (condition.size() > extent)
    return makeError("expected at most " + Twine(extent) +
                     " conditions, found " + Twine(condition.size()));
  int64_t outer = *elementCount(ArrayRef<int64_t>(shape).take_front(axis));
  int64_t inner = *elementCount(ArrayRef<int64_t>(shape).drop_front(axis + 1));
  std::vector<int64_t> source;
  // Of no elements there may be any number of rows.
  for (int64_t o = 0; data.size() > 0 && o < outer; ++o)
    for (int64_t i = 0; i < condition.size(); ++i)
      for (int64_t k = 0; condition.ints[i] && k < inner; ++k)
        source.push_back((o * extent + i) * inner + k);
  shape[axis] =
      llvm::count_if(condition.ints, [](int64_t c) { return c != 0; });
  return select(data, shape, source);
}

Expected<Constant> ffc::importer::foldOneHot(const FoldCall &call) {
  const Constant &indices = *call.inputs[0], &depth = *call.inputs[1],
                 &values = *call.inputs[2];
  if (depth.size() != 1 || values.size() != 2)
    return makeError("expected a scalar depth and two values");
  const double given = depth.number(0);
  if (!(given >= 1 && given <= static_cast<double>(kMaxConstantElements)))
    return makeError("expected a depth from 1 to " +
                     Twine(kMaxConstantElements) + ", found " +
                     numberText(given));
  auto extent = static_cast<int64_t>(given);
  int64_t rank = static_cast<int64_t>(indices.shape.size());
  auto axis = resolveAxis(call.integer("axis", -1), rank + 1);
  if (!axis)
    return axis.takeError();
  Shape shape = indices.shape;
  shape.insert(shape.begin() + *axis, extent);
  auto count = elementCount(shape);
  if (!count || *count > kMaxConstantElements)
    return tooLarge(shape);
  int64_t inner =
      *elementCount(ArrayRef<int64_t>(indices.shape).drop_front(*axis));
  std::vector<int64_t> source;
  for (int64_t i = 0; i < *count; ++i) {
    auto place = static_cast<double>(i / inner % extent);
    double index = indices.number(i / inner / extent * inner + i % inner);
    source.push_back(place ==
                     (index < 0 ? index + static_cast<double>(extent) : index));
  }
  return select(values, shape, source);
}

Expected<Constant> ffc::importer::foldNonZero(const FoldCall &call) {
  const Constant &data = *call.inputs[0];
  std::vector<int64_t> found;
  for (int64_t i = 0; i < data.size(); ++i)
    if (data.number(i) != 0)
      found.push_back(i);
  auto rank = static_cast<int64_t>(data.shape.size());
  Constant result;
  result.type = TensorProto::INT64;
  result.shape = {rank, static_cast<int64_t>(found.size())};
  for (int64_t d = 0; d < rank; ++d) {
    int64_t inner =
        *elementCount(ArrayRef<int64_t>(data.shape).drop_front(d + 1));
    for (int64_t i : found)
      result.ints.push_back(i / inner % data.shape[d]);
  }
  return result;
}
