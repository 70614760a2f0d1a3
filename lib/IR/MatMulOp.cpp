//===- MatMulOp.cpp - ff.matmul -------------------------------------------===//

#include "Clamp.h"
#include "RuleHelpers.h"
#include "Windows.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimKind;
using plan::DimMap;

namespace {
/// The iteration space: batch dimensions, rows, columns, contracted dimension.
/// All tensors but the operands' last two dimensions are aligned at `columns`.
struct Space {
  plan::Shape batch;
  int64_t numRows, numColumns, depth;
  /// Of all dimensions, in order.
  SmallVector<std::string> names;

  explicit Space(MatMulOp op);

  int rows() const { return static_cast<int>(batch.size()); }
  int columns() const { return rows() + 1; }
  int contracted() const { return rows() + 2; }
  int rank() const { return rows() + 3; }
  int64_t extent(int d) const {
    if (d < rows())
      return batch[d];
    return d == rows() ? numRows : d == columns() ? numColumns : depth;
  }
  /// The iteration dimension that dimension `d` of a tensor of rank `rank` is
  /// aligned with, where the last two are rows and columns.
  int aligned(int64_t d, int64_t rank) const {
    return static_cast<int>(d + columns() + 1 - rank);
  }
  /// A tensor with the last two dimensions `row` and `column`.
  plan::Access matrices(const plan::Shape &shape, int row, int column) const;
  /// The dimensions that a result of shape `y` is summed over.
  std::vector<int> reductions(const plan::Shape &y) const;
};
} // namespace

Space::Space(MatMulOp op) {
  plan::Shape a = shapeOf(op.getA()), b = shapeOf(op.getB());
  plan::Shape y = shapeOf(op.getY());
  numRows = y[y.size() - 2];
  numColumns = y.back();
  depth = a[a.size() - (op.getTransA() ? 2 : 1)];
  batch.assign(std::max({a.size(), b.size(), y.size()}) - 2, 1);
  for (const plan::Shape &shape : {a, b, y})
    for (size_t d = 0; d + 2 < shape.size(); ++d) {
      int64_t &common = batch[aligned(d, shape.size())];
      common = std::max(common, shape[d]);
    }
  if (auto given = op.getDimNamesAttr()) {
    for (Attribute name : given)
      names.push_back(cast<StringAttr>(name).getValue().str());
    return;
  }
  for (int d = 0; d < rows(); ++d)
    names.push_back(d < 2 ? std::string(1, "nh"[d]) : "d" + std::to_string(d));
  names.append({batch.empty() ? "n" : "r", "c", "k"});
}

plan::Access Space::matrices(const plan::Shape &shape, int row,
                             int column) const {
  plan::Access access;
  for (size_t d = 0; d + 2 < shape.size(); ++d) {
    int dim = aligned(d, shape.size());
    access.dims.push_back(shape[d] == batch[dim] ? DimMap::dim(dim)
                                                 : DimMap::full());
  }
  access.dims.push_back(DimMap::dim(row));
  access.dims.push_back(DimMap::dim(column));
  return access;
}

std::vector<int> Space::reductions(const plan::Shape &y) const {
  std::vector<int> dims;
  for (int d = 0; d < rows(); ++d) {
    int64_t at = d + static_cast<int64_t>(y.size()) - (columns() + 1);
    if (at < 0 || y[at] != batch[d])
      dims.push_back(d);
  }
  dims.push_back(contracted());
  return dims;
}

LogicalResult MatMulOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  // Constraint 6.
  SmallVector<Value, 2> others = {getY()};
  for (Value value : {getC(), getAddend()})
    if (value)
      others.push_back(value);
  if (failed(verifyFactors(*this, {getA(), getB()}, others)))
    return failure();
  // Constraint 1.
  plan::Shape a = shapeOf(getA()), b = shapeOf(getB()), y = shapeOf(getY());
  if (getTransA())
    std::swap(a[a.size() - 2], a.back());
  if (getTransB())
    std::swap(b[b.size() - 2], b.back());
  if (a.back() != b[b.size() - 2])
    return emitOpError("expected op(a) with as many columns as op(b) has rows, "
                       "found ")
           << a.back() << " and " << b[b.size() - 2];
  plan::Shape expected = y;
  expected[y.size() - 2] = a[a.size() - 2];
  expected.back() = b.back();
  if (failed(verifyShape(*this, "y", expected, getY())))
    return failure();
  // Constraint 2.
  if (Value c = getC()) {
    auto type = cast<RankedTensorType>(c.getType());
    auto common = broadcastShapes(type.getShape(), y);
    if (!common || ArrayRef<int64_t>(*common) != ArrayRef<int64_t>(y))
      return emitOpError("expected c that broadcasts to [")
             << ArrayRef<int64_t>(y) << "], found " << type;
  }
  // Constraint 4.
  auto batch = broadcastShapes(ArrayRef(a).drop_back(2), //
                               ArrayRef(b).drop_back(2));
  if (!batch)
    return emitOpError("expected batch dimensions that broadcast, found ")
           << getA().getType() << " and " << getB().getType();
  // Where y has 1 it is a sum, whatever the extent.
  auto common = broadcastShapes(ArrayRef(y).drop_back(2), *batch);
  if (!common || *common != *batch)
    return emitOpError("expected y with batch dimensions of [")
           << ArrayRef<int64_t>(*batch) << "], or 1, found "
           << getY().getType();
  // Constraint 5.
  if (batch->size() + 3 > plan::kMaxRank)
    return emitOpError("expected at most ")
           << plan::kMaxRank - 3 << " batch dimensions, found "
           << batch->size();
  // Constraint 3.
  if (auto names = getDimNamesAttr()) {
    SmallPtrSet<Attribute, plan::kMaxRank> different(names.begin(),
                                                     names.end());
    if (names.size() != batch->size() + 3 || different.size() != names.size())
      return emitOpError("expected ")
             << batch->size() + 3 << " different dimension names, found "
             << names;
  }
  return success();
}

SmallVector<Value> MatMulOp::getOperandSlots() {
  return {getA(), getB(), getC(), getAddend()};
}

SmallVector<OpOperand *> MatMulOp::getFactors() {
  return {&getAMutable(), &getBMutable()};
}

plan::OpRules MatMulOp::getRules() {
  Space space(*this);
  plan::Shape y = shapeOf(getY());
  std::vector<int> reductions = space.reductions(y);
  int rows = space.rows(), columns = space.columns(),
      contracted = space.contracted();
  auto operand = [&](Value value, int row, int column, bool transposed) {
    if (transposed)
      std::swap(row, column);
    return space.matrices(shapeOf(value), row, column);
  };
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
    addend = space.matrices(y, rows, columns);
    addend.onlyAtStart = reductions;
  }
  // Bounds of partial sums are not bounds of the sum.
  if (getClampAttr())
    unsplit = reductions;
  phase.reads = {{0, operand(getA(), rows, contracted, getTransA() != 0)},
                 {1, operand(getB(), contracted, columns, getTransB() != 0)},
                 {2, std::move(c)},
                 {3, std::move(addend)}};
  phase.writes = {{4, space.matrices(y, rows, columns), plan::Reduction::Sum}};
  // A result is clamped once, whatever is added up.
  double summands = 1;
  for (int d : reductions)
    summands *= static_cast<double>(space.extent(d));
  phase.flopsPerPoint = 2 + clampFlops(*this) / summands;

  std::vector<plan::IterDim> dims;
  for (int d = 0; d < space.rank(); ++d) {
    const std::string &name = space.names[d];
    DimKind kind = llvm::is_contained(reductions, d) ? DimKind::Reduction
                   : name == "n"                     ? DimKind::Sample
                   : name == "c" || name == "k"      ? DimKind::Parameter
                                                     : DimKind::Attribute;
    dims.push_back({name, space.extent(d), kind});
  }
  return onePhaseRules(std::move(dims), std::move(phase), std::move(unsplit));
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
  Space space(*this);
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
