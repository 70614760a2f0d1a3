//===- MatMulOp.cpp - ff.matmul -------------------------------------------===//

#include "Clamp.h"
#include "Epilogue.h"
#include "MatMulSpace.h"
#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimMap;

LogicalResult MatMulOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  // Constraint 6.
  auto mayBeMultiplied = [&](Value value) {
    return getElementTypeOrSelf(value) == getElementTypeOrSelf(getA());
  };
  SmallVector<Value, 3> others;
  if (!mayBeMultiplied(getY()) || !canNarrow(getOperation()->getOpResult(0)))
    others.push_back(getY());
  if (Value c = getC(); c && !(mayBeMultiplied(c) && !getNarrowable().empty()))
    others.push_back(c);
  if (getAddend())
    others.push_back(getAddend());
  if (failed(verifyMultiplied(*this, {getA(), getB()}, others)))
    return failure();
  // Constraints 1, 3 to 5.
  if (failed(verifyProduct(*this, getA(), getB(), getY(), getTransA() != 0,
                           getTransB() != 0, getDimNamesAttr())))
    return failure();
  // Constraint 2.
  if (Value c = getC()) {
    auto type = cast<RankedTensorType>(c.getType());
    plan::Shape y = shapeOf(getY());
    auto common = broadcastShapes(type.getShape(), y);
    if (!common || ArrayRef<int64_t>(*common) != ArrayRef<int64_t>(y))
      return emitOpError("expected c that broadcasts to [")
             << ArrayRef<int64_t>(y) << "], found " << type;
  }
  return success();
}

SmallVector<Value> MatMulOp::getOperandSlots() {
  return {getA(), getB(), getC(), getAddend()};
}

SmallVector<OpOperand *> MatMulOp::getMultipliedOperands() {
  return {&getAMutable(), &getBMutable()};
}

SmallVector<OpOperand *> MatMulOp::getNarrowable() {
  if (!getC() || !isRow(getC(), getY()))
    return {};
  return {&*getCMutable().begin()};
}

bool MatMulOp::isLinear() {
  MatMulSpace space(*this);
  const bool isSummedOnce = space.reductions(getY()).size() == 1;
  return isSummedOnce && !getAddend() && getAlpha().isExactlyValue(1) &&
         getBeta().isExactlyValue(1) && (!getC() || isRow(getC(), getY()));
}

/// Libraries add a row to a narrow result that is as narrow.
bool MatMulOp::canNarrow(OpResult) {
  return isLinear() && (!getC() || getElementTypeOrSelf(getC()) ==
                                       getElementTypeOrSelf(getA()));
}

plan::OpRules MatMulOp::getRules() {
  MatMulSpace space(*this);
  std::vector<int> reductions = space.reductions(getY());
  int rows = space.rows(), columns = space.columns(),
      contracted = space.contracted();
  plan::Phase phase;
  phase.kernel = "mat_mul";
  plan::Access c, addend;
  std::vector<int> unsplit;
  if (Value value = getC()) {
    plan::Shape shape = shapeOf(value);
    for (size_t d = 0; d < shape.size(); ++d) {
      int dim = space.aligned(d, shape.size());
      c.dims.push_back(shape[d] == space.extent(dim) ? DimMap::dim(dim)
                                                     : DimMap::full());
    }
    // A scalar has no empty part that the other blocks could be given.
    if (c.dims.empty())
      unsplit = reductions;
    else
      c.onlyAtStart = reductions;
  }
  if (getAddend()) {
    addend = space.matrices(getY(), rows, columns);
    addend.onlyAtStart = reductions;
  }
  phase.reads = {
      {0, pitched(space.matrices(getA(), rows, contracted, getTransA() != 0))},
      {1,
       pitched(space.matrices(getB(), contracted, columns, getTransB() != 0))},
      {2, std::move(c)},
      {3, std::move(addend)}};
  phase.writes = {{4, pitched(space.matrices(getY(), rows, columns)),
                   plan::Reduction::Sum}};
  phase.writes[0].mayAccumulate = !getC() && !getAddend();
  // A result is clamped once, whatever is added up.
  double summands = 1;
  for (int d : reductions)
    summands *= static_cast<double>(space.extent(d));
  phase.flopsPerPoint = 2 + clampFlops(*this) / summands;

  return sumRules(space.dims(reductions), std::move(phase), std::move(unsplit),
                  reductions, *this);
}

DictionaryAttr MatMulOp::getPhaseArgs(plan::PhaseKind part) {
  return sumArgs(*this, part);
}

StringRef MatMulOp::getFamily() { return "linear"; }

DictionaryAttr MatMulOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("alpha", getAlphaAttr()),
       builder.getNamedAttr("beta", getBetaAttr()), clampArg(*this),
       builder.getNamedAttr("trans_a", getTransAAttr()),
       builder.getNamedAttr("trans_b", getTransBAttr())});
}

LogicalResult MatMulOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(4, nullptr);
  if (!resultGrads[0])
    return success();
  Value dy = clampGradient(builder, *this, resultGrads[0]);
  MatMulSpace space(*this);
  StringRef rows = space.names[space.rows()],
            columns = space.names[space.columns()],
            contracted = space.names[space.contracted()];
  // alpha op(left) op(right), of the type of the operand it is a gradient of.
  auto product = [&](StringRef part, Type type, Value left, bool transLeft,
                     Value right, bool transRight,
                     std::array<StringRef, 3> matrix) -> Value {
    SmallVector<StringRef> dims(space.names.begin(),
                                space.names.end() - matrix.size());
    dims.append(matrix.begin(), matrix.end());
    return MatMulOp::create(
        builder, gradientLoc(*this, part), type, left, right, Value(),
        getAlphaAttr(), builder.getF64FloatAttr(1),
        builder.getStrArrayAttr(dims), builder.getI64IntegerAttr(transLeft),
        builder.getI64IntegerAttr(transRight));
  };
  const bool transA = getTransA() != 0, transB = getTransB() != 0;
  if (needed[0]) // dy op(b)^T
    operandGrads[0] = transA ? product("a", getA().getType(), getB(), transB,
                                       dy, true, {contracted, rows, columns})
                             : product("a", getA().getType(), dy, false, getB(),
                                       !transB, {rows, contracted, columns});
  if (needed[1]) // op(a)^T dy
    operandGrads[1] = transB ? product("b", getB().getType(), dy, true, getA(),
                                       transA, {columns, contracted, rows})
                             : product("b", getB().getType(), getA(), !transA,
                                       dy, false, {contracted, columns, rows});
  if (getC() && needed[2]) {
    Value grad = sumToShape(builder, *this, "c", dy,
                            cast<RankedTensorType>(getC().getType()));
    if (!getBeta().isExactlyValue(1))
      grad = UnaryOp::create(builder, gradientLoc(*this, "c.scale"),
                             grad.getType(), UnaryKind::Scale, grad,
                             getBetaAttr(), FloatAttr());
    operandGrads[2] = grad;
  }
  if (getAddend() && needed[3])
    operandGrads[3] = dy;
  return success();
}
