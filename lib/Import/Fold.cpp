//===- Fold.cpp - evaluating nodes on constants ---------------------------===//

#include "Fold.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace ffc::importer;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

char TooLarge::ID = 0;

llvm::Error ffc::importer::tooLarge(llvm::ArrayRef<int64_t> shape) {
  return llvm::make_error<TooLarge>(
      "a constant of shape " + shapeText(shape) +
      " is too large to be evaluated, expected at most " +
      Twine(kMaxConstantElements) + " elements");
}

const onnx::AttributeProto *
ffc::importer::findAttribute(const onnx::NodeProto &node, StringRef name) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

const onnx::AttributeProto *
FoldCall::attribute(StringRef name,
                    onnx::AttributeProto::AttributeType type) const {
  const onnx::AttributeProto *found = findAttribute(node, name);
  if (!found || found->type() == type)
    return found;
  using Attribute = onnx::AttributeProto;
  wrong = "attribute '" + found->name() + "' is of type " +
          Attribute::AttributeType_Name(found->type()) + ", expected " +
          Attribute::AttributeType_Name(type);
  return nullptr;
}

int64_t FoldCall::integer(StringRef name, int64_t missing) const {
  const auto *found = attribute(name, onnx::AttributeProto::INT);
  return found ? found->i() : missing;
}

std::optional<Shape> FoldCall::list(StringRef name, unsigned i) const {
  if (const auto *found = attribute(name, onnx::AttributeProto::INTS))
    return Shape(found->ints().begin(), found->ints().end());
  if (has(i))
    return Shape(inputs[i]->ints.begin(), inputs[i]->ints.end());
  return std::nullopt;
}

const Folder *ffc::importer::lookupFolder(StringRef opType) {
  static const llvm::StringMap<Folder> folders = {
      {"Abs", {foldUnary, 1}},
      {"Add", {foldArithmetic, 2}},
      {"And", {foldArithmetic, 2}},
      {"BitCast", {foldBitCast, 1}},
      {"BitShift", {foldBits, 2}},
      {"BitwiseAnd", {foldBits, 2}},
      {"BitwiseNot", {foldBits, 1}},
      {"BitwiseOr", {foldBits, 2}},
      {"BitwiseXor", {foldBits, 2}},
      {"Cast", {foldCast, 1}},
      {"Ceil", {foldUnary, 1}},
      {"Compress", {foldCompress, 2, 1}},
      {"Concat", {foldConcat, 1}},
      {"Cos", {foldUnary, 1}},
      {"CumSum", {foldCumSum, 2, 1}},
      {"Div", {foldArithmetic, 2}},
      {"Equal", {foldArithmetic, 2}},
      {"Exp", {foldUnary, 1}},
      {"Expand", {foldExpand, 2, 1}},
      {"Floor", {foldUnary, 1}},
      {"Gather", {foldGather, 2, 1}},
      {"Greater", {foldArithmetic, 2}},
      {"GreaterOrEqual", {foldArithmetic, 2}},
      {"IsNaN", {foldIsNaN, 1}},
      {"Less", {foldArithmetic, 2}},
      {"LessOrEqual", {foldArithmetic, 2}},
      {"Log", {foldUnary, 1}},
      {"Max", {foldArithmetic, 2}},
      {"Min", {foldArithmetic, 2}},
      {"Mod", {foldArithmetic, 2}},
      {"Mul", {foldArithmetic, 2}},
      {"Neg", {foldUnary, 1}},
      {"NonZero", {foldNonZero, 1}},
      {"Not", {foldUnary, 1}},
      {"OneHot", {foldOneHot, 3}},
      {"Or", {foldArithmetic, 2}},
      {"Pow", {foldPow, 2}},
      {"Range", {foldRange, 3}},
      {"Reciprocal", {foldUnary, 1}},
      {"ReduceMax", {foldReduce, 1, 1}},
      {"ReduceMean", {foldReduce, 1, 1}},
      {"ReduceMin", {foldReduce, 1, 1}},
      {"ReduceProd", {foldReduce, 1, 1}},
      {"ReduceSum", {foldReduce, 1, 1}},
      {"Reshape", {foldReshape, 2, 1}},
      {"Round", {foldUnary, 1}},
      {"Sign", {foldUnary, 1}},
      {"Sin", {foldUnary, 1}},
      {"Slice", {foldSlice, 1, 1}},
      {"Sqrt", {foldUnary, 1}},
      {"Squeeze", {foldSqueeze, 1, 1}},
      {"Sub", {foldArithmetic, 2}},
      {"Tile", {foldTile, 2, 1}},
      {"Transpose", {foldTranspose, 1}},
      {"Trilu", {foldTrilu, 1, 1}},
      {"Unsqueeze", {foldUnsqueeze, 1, 1}},
      {"Where", {foldWhere, 3}},
      {"Xor", {foldArithmetic, 2}},
  };
  auto found = folders.find(opType);
  return found == folders.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Expected<int64_t> ffc::importer::resolveAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return makeError("axis " + Twine(axis) + " is not a dimension of a " +
                     Twine(rank) + "-dimensional tensor");
  return axis < 0 ? axis + rank : axis;
}

Expected<Shape> ffc::importer::resolveReshape(llvm::ArrayRef<int64_t> from,
                                              llvm::ArrayRef<int64_t> target,
                                              bool allowZero) {
  auto mismatch = [&]() {
    return makeError("cannot reshape " + shapeText(from) + " to [" +
                     shapeText(target) + "]");
  };
  Shape result(target);
  std::optional<size_t> free;
  for (size_t d = 0; d < result.size(); ++d) {
    if (result[d] == 0 && !allowZero) {
      if (d >= from.size())
        return mismatch();
      result[d] = from[d];
    }
    if (result[d] != -1)
      continue;
    if (free)
      return mismatch();
    free = d;
    result[d] = 1;
  }
  std::optional<int64_t> given = elementCount(result);
  int64_t count = *elementCount(from);
  if (given && free && *given != 0 && count % *given == 0) {
    result[*free] = count / *given;
    given = count;
  }
  if (!given || *given != count)
    return mismatch();
  return result;
}

Expected<Shape> ffc::importer::squeezedShape(llvm::ArrayRef<int64_t> from,
                                             std::optional<Shape> axes) {
  llvm::SmallVector<bool> drop(from.size(), false);
  if (!axes) {
    for (size_t d = 0; d < from.size(); ++d)
      drop[d] = from[d] == 1;
  } else {
    for (int64_t given : *axes) {
      Expected<int64_t> axis = resolveAxis(given, from.size());
      if (!axis)
        return axis.takeError();
      if (from[*axis] != 1)
        return makeError("cannot squeeze dimension " + Twine(*axis) + " of " +
                         shapeText(from) + ", expected extent 1");
      drop[*axis] = true;
    }
  }
  Shape result;
  for (size_t d = 0; d < from.size(); ++d)
    if (!drop[d])
      result.push_back(from[d]);
  return result;
}

Expected<Shape> ffc::importer::unsqueezedShape(llvm::ArrayRef<int64_t> from,
                                               llvm::ArrayRef<int64_t> axes) {
  size_t rank = from.size() + axes.size();
  llvm::SmallVector<bool> added(rank, false);
  for (int64_t given : axes) {
    Expected<int64_t> axis = resolveAxis(given, rank);
    if (!axis)
      return axis.takeError();
    if (added[*axis])
      return makeError("axis " + Twine(given) + " is given twice");
    added[*axis] = true;
  }
  Shape result;
  for (bool isNew : added) {
    result.push_back(isNew ? 1 : from.front());
    if (!isNew)
      from = from.drop_front();
  }
  if (!elementCount(result))
    return makeError("expected fewer dimensions, found shape " +
                     shapeText(result));
  return result;
}
