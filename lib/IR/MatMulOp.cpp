//===- MatMulOp.cpp - ff.matmul -------------------------------------------===//

#include "RuleHelpers.h"
#include "Windows.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimKind;
using plan::DimMap;

namespace {
/// Names of the iteration dimensions.
struct DimNames {
  StringRef rows = "n", columns = "c", contracted = "k";

  explicit DimNames(MatMulOp op) {
    if (auto names = op.getDimNamesAttr()) {
      rows = cast<StringAttr>(names[0]).getValue();
      columns = cast<StringAttr>(names[1]).getValue();
      contracted = cast<StringAttr>(names[2]).getValue();
    }
  }
};
} // namespace

LogicalResult MatMulOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  // Constraint 1.
  plan::Shape a = shapeOf(getA()), b = shapeOf(getB());
  if (getTransA())
    std::swap(a[0], a[1]);
  if (getTransB())
    std::swap(b[0], b[1]);
  if (a[1] != b[0])
    return emitOpError("expected op(a) with as many columns as op(b) has rows, "
                       "found ")
           << a[1] << " and " << b[0];
  const int64_t shape[] = {a[0], b[1]};
  if (failed(verifyShape(*this, "y", shape, getY())))
    return failure();
  // Constraint 2.
  if (Value c = getC()) {
    auto type = cast<RankedTensorType>(c.getType());
    auto common = broadcastShapes(type.getShape(), shape);
    if (!common || ArrayRef<int64_t>(*common) != ArrayRef<int64_t>(shape))
      return emitOpError("expected c that broadcasts to [")
             << ArrayRef<int64_t>(shape) << "], found " << type;
  }
  // Constraint 3.
  if (auto names = getDimNamesAttr())
    if (names.size() != 3 || names[0] == names[1] || names[1] == names[2] ||
        names[0] == names[2])
      return emitOpError("expected three different dimension names, found ")
             << names;
  return success();
}

SmallVector<Value> MatMulOp::getOperandSlots() {
  return {getA(), getB(), getC()};
}

plan::OpRules MatMulOp::getRules() {
  enum { rows, columns, contracted };
  auto operand = [](int row, int column, bool transposed) -> plan::Access {
    if (transposed)
      std::swap(row, column);
    return {{DimMap::dim(row), DimMap::dim(column)},
            plan::MemoryOrder::RowMajor,
            {}};
  };
  plan::Phase phase;
  phase.kernel = "mat_mul";
  plan::Shape y = shapeOf(getY());
  plan::Access addend;
  std::vector<int> unsplit;
  if (Value c = getC()) {
    addend = broadcastAccess(shapeOf(c), y);
    addend.order = plan::MemoryOrder::RowMajor;
    // A scalar has no empty part that the other blocks could be given.
    if (addend.dims.empty())
      unsplit = {contracted};
    else
      addend.onlyAtStart = {contracted};
  }
  phase.reads = {{0, operand(rows, contracted, getTransA() != 0)},
                 {1, operand(contracted, columns, getTransB() != 0)},
                 {2, std::move(addend)}};
  phase.writes = {{3, operand(rows, columns, false), plan::Reduction::Sum}};
  phase.flopsPerPoint = 2;

  DimNames names(*this);
  auto dim = [](StringRef name, int64_t extent) -> plan::IterDim {
    return {name.str(), extent,
            name == "n" ? DimKind::Sample : DimKind::Parameter};
  };
  int64_t depth = shapeOf(getA())[getTransA() ? 0 : 1];
  return onePhaseRules({dim(names.rows, y[0]),
                        dim(names.columns, y[1]),
                        {names.contracted.str(), depth, DimKind::Reduction}},
                       std::move(phase), std::move(unsplit));
}

StringRef MatMulOp::getFamily() { return "linear"; }

DictionaryAttr MatMulOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("alpha", getAlphaAttr()),
       builder.getNamedAttr("beta", getBetaAttr()),
       builder.getNamedAttr("trans_a", getTransAAttr()),
       builder.getNamedAttr("trans_b", getTransBAttr())});
}

LogicalResult MatMulOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(3, nullptr);
  Value dy = resultGrads[0];
  if (!dy)
    return success();
  DimNames names(*this);
  // alpha op(left) op(right), of the type of the operand it is a gradient of.
  auto product = [&](StringRef part, Type type, Value left, bool transLeft,
                     Value right, bool transRight,
                     std::array<StringRef, 3> dims) -> Value {
    return MatMulOp::create(
        builder, gradientLoc(*this, part), type, left, right, Value(),
        getAlphaAttr(), builder.getF64FloatAttr(1),
        builder.getStrArrayAttr(dims), builder.getI64IntegerAttr(transLeft),
        builder.getI64IntegerAttr(transRight));
  };
  const bool transA = getTransA() != 0, transB = getTransB() != 0;
  if (needed[0]) // dy op(b)^T
    operandGrads[0] =
        transA ? product("a", getA().getType(), getB(), transB, dy, true,
                         {names.contracted, names.rows, names.columns})
               : product("a", getA().getType(), dy, false, getB(), !transB,
                         {names.rows, names.contracted, names.columns});
  if (needed[1]) // op(a)^T dy
    operandGrads[1] =
        transB ? product("b", getB().getType(), dy, true, getA(), transA,
                         {names.columns, names.contracted, names.rows})
               : product("b", getB().getType(), getA(), !transA, dy, false,
                         {names.contracted, names.columns, names.rows});
  if (getC() && needed[2]) {
    Value grad = sumToShape(builder, *this, "c", dy,
                            cast<RankedTensorType>(getC().getType()));
    if (!getBeta().isExactlyValue(1))
      grad = UnaryOp::create(builder, gradientLoc(*this, "c.scale"),
                             grad.getType(), UnaryKind::Scale, grad,
                             getBetaAttr());
    operandGrads[2] = grad;
  }
  return success();
}
