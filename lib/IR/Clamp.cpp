//===- Clamp.cpp - operators that cut a result to bounds ------------------===//

#include "Clamp.h"

#include "RuleHelpers.h"

#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult ff::verifyClamp(Operation *op) {
  DenseF64ArrayAttr clamp = cast<ClampingInterface>(op).getClampAttr();
  if (!clamp || clamp.size() == 1 || clamp.size() == 2)
    return success();
  return op->emitOpError("expected one or two bounds in 'clamp', found ")
         << clamp.size();
}

NamedAttribute ff::clampArg(ClampingInterface op) {
  Builder builder(op.getContext());
  DenseF64ArrayAttr clamp = op.getClampAttr();
  return builder.getNamedAttr(kClampArg,
                              clamp ? clamp : builder.getDenseF64ArrayAttr({}));
}

double ff::clampFlops(ClampingInterface op) {
  DenseF64ArrayAttr clamp = op.getClampAttr();
  return clamp ? static_cast<double>(clamp.size()) : 0;
}

Value ff::clampGradient(OpBuilder &builder, ClampingInterface op, Value dy) {
  DenseF64ArrayAttr clamp = op.getClampAttr();
  if (!clamp)
    return dy;
  double upper =
      clamp.size() > 1 ? clamp[1] : std::numeric_limits<double>::infinity();
  return UnaryBackwardOp::create(
      builder, gradientLoc(op, "clamp"), dy.getType(),
      UnaryKindAttr::get(op.getContext(), UnaryKind::Clip), dy,
      op.getClampedResult(), builder.getF64FloatAttr(clamp[0]),
      builder.getF64FloatAttr(upper));
}
