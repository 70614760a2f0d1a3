//===- ShapeInference.cpp - result types of operators ---------------------===//

#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;

std::optional<SmallVector<int64_t>> ff::broadcastShapes(ArrayRef<int64_t> a,
                                                        ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> result(a);
  size_t missing = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    int64_t &extent = result[d + missing];
    if (extent == 1)
      extent = b[d];
    else if (b[d] != 1 && b[d] != extent)
      return std::nullopt;
  }
  return result;
}

RankedTensorType ff::transposedType(RankedTensorType x,
                                    ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t d : perm)
    shape.push_back(x.getDimSize(d));
  return x.clone(shape);
}

RankedTensorType ff::concatenatedType(TypeRange inputs, int64_t axis) {
  auto first = cast<RankedTensorType>(inputs.front());
  SmallVector<int64_t> shape(first.getShape());
  for (Type type : inputs.drop_front())
    shape[axis] += cast<RankedTensorType>(type).getDimSize(axis);
  return first.clone(shape);
}

RankedTensorType ff::paddedType(RankedTensorType x, ArrayRef<int64_t> pads) {
  SmallVector<int64_t> shape(x.getShape());
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] += pads[d] + pads[d + shape.size()];
  return x.clone(shape);
}

RankedTensorType ff::reducedType(RankedTensorType x, ArrayRef<int64_t> axes,
                                 bool keepdims) {
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.getRank(); ++d) {
    if (!llvm::is_contained(axes, d))
      shape.push_back(x.getDimSize(d));
    else if (keepdims)
      shape.push_back(1);
  }
  return x.clone(shape);
}

RankedTensorType ff::labelType(RankedTensorType logits, int64_t axis) {
  return RankedTensorType::get(
      reducedType(logits, {axis}, /*keepdims=*/false).getShape(),
      IntegerType::get(logits.getContext(), 32));
}

RankedTensorType ff::lossType(RankedTensorType x) {
  return RankedTensorType::get({}, x.getElementType());
}
