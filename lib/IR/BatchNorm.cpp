//===- BatchNorm.cpp - batch normalisation of evaluations -----------------===//

#include "ffc/IR/BatchNorm.h"

using namespace mlir;
using namespace ffc::ff;

Value ffc::ff::normalizeByStatistics(
    OpBuilder &builder, Value x, Value scale, Value bias, Value mean, Value var,
    double epsilon, llvm::function_ref<Location(StringRef part)> locationOf) {
  auto image = cast<RankedTensorType>(x.getType());
  auto vector = cast<RankedTensorType>(scale.getType());
  SmallVector<int64_t> column(static_cast<size_t>(image.getRank() - 1), 1);
  column[0] = image.getDimSize(1);
  auto reshape = [&](StringRef part, Value value) -> Value {
    RankedTensorType type = vector.clone(column);
    return type == value.getType()
               ? value
               : ReshapeOp::create(builder, locationOf(part), type, value);
  };
  auto binary = [&](StringRef part, BinaryKind kind, Type type, Value a,
                    Value b) -> Value {
    return BinaryOp::create(builder, locationOf(part), type, kind, a, b);
  };
  Value shifted = UnaryOp::create(builder, locationOf("var_epsilon"), vector,
                                  UnaryKind::Shift, var,
                                  builder.getF64FloatAttr(epsilon), {});
  Value deviation = UnaryOp::create(builder, locationOf("deviation"), vector,
                                    UnaryKind::Sqrt, shifted, {}, {});
  Value factor = binary("factor", BinaryKind::Div, vector, scale, deviation);
  Value centred = binary("centred", BinaryKind::Sub, image, x,
                         reshape("mean_column", mean));
  Value scaled = binary("scaled", BinaryKind::Mul, image, centred,
                        reshape("factor_column", factor));
  return binary("", BinaryKind::Add, image, scaled,
                reshape("bias_column", bias));
}
