//===- ShapeOps.cpp - ff.transpose, ff.slice and ff.pad -------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Rules of kernels whose result is the operand shifted: y[i] = x[i - shift].
static plan::OpRules shiftedRules(const plan::Shape &shape, StringRef kernel,
                                  ArrayRef<int64_t> shift) {
  plan::OpRules rules = pointwiseRules(shape, 1, kernel, 0);
  plan::Access &read = rules.schedules.front().phases.front().reads[0].access;
  for (size_t d = 0; d < shape.size(); ++d)
    read.dims[d] = plan::DimMap::window(static_cast<int>(d), 1, 1, shift[d]);
  return rules;
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  int64_t rank = typeOf(getX()).getRank();
  SmallVector<int64_t> sorted(getPerm());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank))) // constraint 1
    return emitOpError("expected a permutation of ")
           << rank << " dimensions, found [" << getPerm() << "]";
  // Constraint 2.
  return verifyResultType(*this, transposedType(typeOf(getX()), getPerm()));
}

plan::OpRules TransposeOp::getRules() {
  plan::OpRules rules = pointwiseRules(shapeOf(getY()), 1, "transpose", 0);
  plan::Phase &phase = rules.schedules.front().phases.front();
  plan::Access &x = phase.reads.front().access;
  int rank = static_cast<int>(getPerm().size());
  std::vector<plan::IterDim> operandDims = dimsByRank(shapeOf(getX()));
  for (int d = 0; d < rank; ++d) {
    x.dims[getPerm()[d]] = plan::DimMap::dim(d);
    // The operand of a gradient is the forward operator's result.
    if (isGradient(*this))
      rules.dims[d] = operandDims[getPerm()[d]];
  }
  x.order = plan::MemoryOrder::RowMajor;
  phase.writes.front().access.order = plan::MemoryOrder::RowMajor;
  return rules;
}

StringRef TransposeOp::getFamily() { return "transpose"; }

DictionaryAttr TransposeOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(builder.getNamedAttr("perm", getPermAttr()));
}

LogicalResult TransposeOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  Value dy = resultGrads[0];
  if (!dy || !needed[0])
    return success();
  SmallVector<int64_t> inverse(getPerm().size());
  for (auto [d, source] : llvm::enumerate(getPerm()))
    inverse[source] = static_cast<int64_t>(d);
  operandGrads[0] = TransposeOp::create(builder, gradientLoc(*this),
                                        getX().getType(), dy, inverse);
  return success();
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  RankedTensorType x = typeOf(getX()), y = typeOf(getY());
  if (x.getRank() != y.getRank()) // constraint 1
    return emitOpError("expected a result of rank ")
           << x.getRank() << ", found " << y;
  if (static_cast<int64_t>(getStarts().size()) != x.getRank())
    return emitOpError("expected ")
           << x.getRank() << " starts, found " << getStarts().size();
  for (int64_t d = 0; d < x.getRank(); ++d) {
    int64_t begin = getStarts()[d], end = begin + y.getDimSize(d);
    if (begin < 0 || end > x.getDimSize(d)) // constraint 2
      return emitOpError("expected dimension ")
             << d << " to be taken from within [0:" << x.getDimSize(d)
             << "], found [" << begin << ":" << end << "]";
  }
  return success();
}

plan::OpRules SliceOp::getRules() {
  SmallVector<int64_t> shift;
  for (int64_t start : getStarts())
    shift.push_back(-start);
  plan::OpRules rules = shiftedRules(shapeOf(getY()), "slice", shift);
  // Who gives it the part of the operand has copied that already.
  plan::Phase &phase = rules.schedules.front().phases.front();
  phase.reads.front().touchedPerPoint = plan::kTouchesNothing;
  phase.writes.front().touchedPerPoint = plan::kTouchesNothing;
  phase.parts = 0;
  rules.keepsBytes = true;
  return rules;
}

StringRef SliceOp::getFamily() { return "slice"; }

DictionaryAttr SliceOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      builder.getNamedAttr("starts", getStartsAttr()));
}

LogicalResult SliceOp::buildGradient(OpBuilder &builder,
                                     ArrayRef<Value> resultGrads,
                                     ArrayRef<bool> needed,
                                     SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  Value dy = resultGrads[0];
  if (!dy || !needed[0])
    return success();
  SmallVector<int64_t> pads(getStarts());
  for (auto [d, start] : llvm::enumerate(getStarts()))
    pads.push_back(typeOf(getX()).getDimSize(d) - typeOf(getY()).getDimSize(d) -
                   start);
  operandGrads[0] = PadOp::create(builder, gradientLoc(*this), getX().getType(),
                                  dy, builder.getDenseI64ArrayAttr(pads),
                                  builder.getF64FloatAttr(0));
  return success();
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  RankedTensorType x = typeOf(getX()), y = typeOf(getY());
  int64_t rank = x.getRank();
  if (rank != y.getRank()) // constraint 1
    return emitOpError("expected a result of rank ") << rank << ", found " << y;
  if (static_cast<int64_t>(getPads().size()) != 2 * rank)
    return emitOpError("expected ")
           << 2 * rank << " pads, found " << getPads().size();
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = x.getDimSize(d) + getPads()[d] + getPads()[d + rank];
    if (extent != y.getDimSize(d)) // constraint 2
      return emitOpError("expected extent ")
             << extent << " in dimension " << d << " of the result, found "
             << y.getDimSize(d);
  }
  return success();
}

plan::OpRules PadOp::getRules() {
  plan::Shape shape = shapeOf(getY());
  return shiftedRules(shape, "pad", getPads().take_front(shape.size()));
}

StringRef PadOp::getFamily() { return "pad"; }

DictionaryAttr PadOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("pads", getPadsAttr()),
       builder.getNamedAttr("value", getValueAttr())});
}

LogicalResult PadOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> resultGrads,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  Value dy = resultGrads[0];
  if (!dy || !needed[0])
    return success();
  Location loc = gradientLoc(*this);
  Type type = getX().getType();
  if (llvm::none_of(getPads(), [](int64_t pad) { return pad < 0; })) {
    operandGrads[0] = SliceOp::create(
        builder, loc, type, dy, getPads().take_front(typeOf(getX()).getRank()));
    return success();
  }
  // Elements that a negative pad removed get no gradient: the reverse pad.
  SmallVector<int64_t> pads;
  for (int64_t pad : getPads())
    pads.push_back(-pad);
  operandGrads[0] =
      PadOp::create(builder, loc, type, dy, builder.getDenseI64ArrayAttr(pads),
                    builder.getF64FloatAttr(0));
  return success();
}
