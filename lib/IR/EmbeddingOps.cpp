//===- EmbeddingOps.cpp - ff.embedding, its gradient and its update -------===//

#include "RuleHelpers.h"
#include "UpdateHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimKind;
using plan::DimMap;

/// `y` is the tensor of looked-up rows, called `yName` in `op`.
static LogicalResult verifyLookup(Operation *op, Value table, Value indices,
                                  Value y, StringRef yName) {
  if (failed(verifyTensors(op)))
    return failure();
  plan::Shape expected = shapeOf(indices);
  expected.push_back(shapeOf(table).back());
  if (failed(verifyShape(op, yName, expected, y))) // constraint 1
    return failure();
  Type element = getElementTypeOrSelf(table);
  if (getElementTypeOrSelf(y) != element) // constraint 2
    return op->emitOpError("expected ") << yName << " with elements of type "
                                        << element << ", found " << y.getType();
  return success();
}

/// A table whose rows and columns are these iteration dimensions.
static plan::Access tableAccess(int row, int column) {
  plan::Access access;
  access.dims = {DimMap::dim(row), DimMap::dim(column)};
  return access;
}

namespace {
/// The iteration space of a lookup: dimensions of the indices, width, rows.
struct LookupSpace {
  std::vector<plan::IterDim> dims;
  int64_t numIndices, rows;

  LookupSpace(Value table, Value indices, DimKind firstKind, DimKind kind);

  int width() const { return static_cast<int>(dims.size()) - 2; }
  int row() const { return width() + 1; }

  plan::Access table() const { return tableAccess(row(), width()); }
  plan::Access indices() const { return identityAccess(width(), kOrder); }
  plan::Access looked() const { return identityAccess(width() + 1, kOrder); }
  /// Every point is one element of a row that is found in one of `rows` rows.
  double perPoint() const { return 1.0 / static_cast<double>(rows); }

  static constexpr plan::MemoryOrder kOrder = plan::MemoryOrder::RowMajor;
};
} // namespace

LookupSpace::LookupSpace(Value table, Value indices, DimKind firstKind,
                         DimKind kind)
    : rows(shapeOf(table).front()) {
  plan::Shape shape = shapeOf(indices);
  numIndices = plan::numElements(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    std::string name =
        d < 2 ? std::string(1, "nh"[d]) : "d" + std::to_string(d);
    dims.push_back({name, shape[d], d == 0 ? firstKind : kind});
  }
  dims.push_back({"c", shapeOf(table).back(), DimKind::Parameter});
  dims.push_back({"r", rows, DimKind::Parameter});
}

static DictionaryAttr noArgs(Operation *op) {
  return DictionaryAttr::get(op->getContext());
}

//===----------------------------------------------------------------------===//
// EmbeddingOp
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  return verifyLookup(*this, getTable(), getIndices(), getY(), "y");
}

plan::OpRules EmbeddingOp::getRules() {
  LookupSpace space(getTable(), getIndices(), DimKind::Sample,
                    DimKind::Attribute);
  plan::Phase phase;
  phase.kernel = "embedding_forward";
  phase.reads = {{0, space.table(), space.perPoint()},
                 {1, space.indices(), 0, space.rows}};
  phase.writes = {{2, space.looked(), plan::Reduction::Sum}};
  phase.flopsPerPoint = 0;
  return onePhaseRules(std::move(space.dims), std::move(phase));
}

StringRef EmbeddingOp::getFamily() { return "embedding"; }

DictionaryAttr EmbeddingOp::getKernelArgs() { return noArgs(*this); }

LogicalResult EmbeddingOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = EmbeddingBackwardOp::create(
        builder, gradientLoc(*this), getTable().getType(), getIndices(), dy);
  return success();
}

//===----------------------------------------------------------------------===//
// EmbeddingBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingBackwardOp::verify() {
  return verifyLookup(*this, getDtable(), getIndices(), getDy(), "dy");
}

plan::OpRules EmbeddingBackwardOp::getRules() {
  LookupSpace space(getDtable(), getIndices(), DimKind::Reduction,
                    DimKind::Reduction);
  plan::Phase phase;
  phase.kernel = "embedding_backward";
  phase.reads = {{0, space.indices(), 0, space.rows}, {1, space.looked()}};
  phase.writes = {{2, space.table(), plan::Reduction::Sum}};
  phase.writes[0].mayAccumulate = true;
  phase.flopsPerPoint = space.perPoint();
  return onePhaseRules(std::move(space.dims), std::move(phase));
}

StringRef EmbeddingBackwardOp::getFamily() { return "embedding_backward"; }

DictionaryAttr EmbeddingBackwardOp::getKernelArgs() { return noArgs(*this); }

/// Models scatter with it.
LogicalResult EmbeddingBackwardOp::buildGradient(
    OpBuilder &builder, ArrayRef<Value> resultGrads, ArrayRef<bool> needed,
    SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  if (Value table = resultGrads[0]; table && needed[1])
    operandGrads[1] = EmbeddingOp::create(
        builder, gradientLoc(*this), getDy().getType(), table, getIndices());
  return success();
}

Value EmbeddingBackwardOp::getRowGradients() { return getDy(); }

SmallVector<Value>
EmbeddingBackwardOp::buildRowUpdate(OpBuilder &builder, Location loc,
                                    const Optimizer &optimizer, Value table,
                                    ValueRange slots, Value scale) {
  auto update = UpdateRowsOp::create(
      builder, loc, table.getType(), slots.getTypes(), optimizer.kind, table,
      getIndices(), getDy(), slots, scale, optimizer.hyper);
  return llvm::to_vector_of<Value>(update->getResults());
}

//===----------------------------------------------------------------------===//
// UpdateRowsOp
//===----------------------------------------------------------------------===//

LogicalResult UpdateRowsOp::verify() {
  if (failed(verifyLookup(*this, getW(), getIndices(), getDy(), "dy")))
    return failure();
  // Constraint 3.
  if (failed(verifyOptimizer(*this)))
    return failure();
  if (Optimizer optimizer = optimizerOf(*this); !optimizer.updatesRows())
    return emitOpError("expected an optimizer that leaves rows without "
                       "gradient alone, found ")
           << optimizer.str();
  // Constraint 4.
  const RankedTensorType type = getW().getType();
  for (auto [name, values] : {std::pair("slots", ValueRange(getSlots())),
                              std::pair("results", ValueRange(getResults()))})
    for (Value value : values)
      if (value.getType() != type)
        return emitOpError("expected ")
               << name << " of type " << type << ", found " << value.getType();
  return getScale() ? verifyUpdateScale(*this, getScale(), type) : success();
}

SmallVector<Value> UpdateRowsOp::getOperandSlots() {
  SmallVector<Value> slots = {getW(), getIndices(), getDy(), getScale()};
  llvm::append_range(slots, getSlots());
  return slots;
}

plan::OpRules UpdateRowsOp::getRules() {
  LookupSpace space(getW(), getIndices(), DimKind::Reduction,
                    DimKind::Reduction);
  const OptimizerInfo &info = optimizerInfo(getKind());
  const int slots = static_cast<int>(getSlots().size());
  enum { W, Indices, Dy, Scale, FirstSlot };
  const int wOut = FirstSlot + slots;
  auto count = static_cast<double>(space.numIndices);
  plan::Access table = tableAccess(0, 1), indices, dy;
  indices.dims.assign(space.width(), DimMap::full());
  dy.dims = indices.dims;
  dy.dims.push_back(DimMap::dim(1));
  double touched = std::min(1.0, count * space.perPoint());
  plan::Phase phase;
  phase.kernel = info.rowKernel;
  phase.reads = {{W, table, touched},
                 {Indices, indices, 0, space.rows},
                 {Dy, dy},
                 {Scale, accessOfUpdateScale(getScale())}};
  phase.writes = {{wOut, table, plan::Reduction::None, touched}};
  phase.flopsPerPoint = count * space.perPoint() + info.flops * touched;
  std::vector<std::pair<int, int>> inPlace = {{0, W}};
  for (int slot = 0; slot < slots; ++slot) {
    phase.reads.push_back({FirstSlot + slot, table, touched});
    phase.writes.push_back(
        {wOut + 1 + slot, table, plan::Reduction::None, touched});
    inPlace.push_back({1 + slot, FirstSlot + slot});
  }
  plan::OpRules rules = onePhaseRules(
      {space.dims[space.row()], space.dims[space.width()]}, std::move(phase));
  rules.inPlace = std::move(inPlace);
  return rules;
}

StringRef UpdateRowsOp::getFamily() {
  return optimizerInfo(getKind()).rowKernel;
}

DictionaryAttr UpdateRowsOp::getKernelArgs() {
  return optimizerOf(*this).kernelArgs(getContext(), /*ofRows=*/true);
}
