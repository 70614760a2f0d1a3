//===- MatMulSpace.cpp - the iteration space of matrix products -----------===//

#include "MatMulSpace.h"

#include "RuleHelpers.h"
#include "Windows.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimKind;
using plan::DimMap;

MatMulSpace::MatMulSpace(Value va, Value vb, Value vy, bool transA,
                         ArrayAttr given) {
  plan::Shape a = shapeOf(va), b = shapeOf(vb), y = shapeOf(vy);
  numRows = y[y.size() - 2];
  numColumns = y.back();
  depth = a[a.size() - (transA ? 2 : 1)];
  batch.assign(std::max({a.size(), b.size(), y.size()}) - 2, 1);
  for (const plan::Shape &shape : {a, b, y})
    for (size_t d = 0; d + 2 < shape.size(); ++d) {
      int64_t &common = batch[aligned(d, shape.size())];
      common = std::max(common, shape[d]);
    }
  if (given) {
    for (Attribute name : given)
      names.push_back(cast<StringAttr>(name).getValue().str());
    return;
  }
  for (int d = 0; d < rows(); ++d)
    names.push_back(d < 2 ? std::string(1, "nh"[d]) : "d" + std::to_string(d));
  names.append({batch.empty() ? "n" : "r", "c", "k"});
}

int64_t MatMulSpace::extent(int d) const {
  if (d < rows())
    return batch[d];
  return d == rows() ? numRows : d == columns() ? numColumns : depth;
}

plan::Access MatMulSpace::matrices(Value value, int row, int column,
                                   bool transposed) const {
  if (transposed)
    std::swap(row, column);
  plan::Shape shape = shapeOf(value);
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

std::vector<int> MatMulSpace::reductions(Value vy) const {
  plan::Shape y = shapeOf(vy);
  std::vector<int> dims;
  for (int d = 0; d < rows(); ++d) {
    int64_t at = d + static_cast<int64_t>(y.size()) - (columns() + 1);
    if (at < 0 || y[at] != batch[d])
      dims.push_back(d);
  }
  dims.push_back(contracted());
  return dims;
}

std::vector<plan::IterDim> MatMulSpace::dims(ArrayRef<int> reductions) const {
  std::vector<plan::IterDim> result;
  for (int d = 0; d < rank(); ++d) {
    const std::string &name = names[d];
    DimKind kind = llvm::is_contained(reductions, d) ? DimKind::Reduction
                   : name == "n"                     ? DimKind::Sample
                   : name == "c" || name == "k"      ? DimKind::Parameter
                                                     : DimKind::Attribute;
    result.push_back({name, extent(d), kind});
  }
  return result;
}

bool ff::isRow(Value c, Value y) {
  plan::Shape row = shapeOf(c);
  return !row.empty() && row.back() == shapeOf(y).back() &&
         llvm::all_of(ArrayRef(row).drop_back(),
                      [](int64_t extent) { return extent == 1; });
}

LogicalResult ff::verifyProduct(Operation *op, Value va, Value vb, Value vy,
                                bool transA, bool transB, ArrayAttr names) {
  // Constraint 1.
  plan::Shape a = shapeOf(va), b = shapeOf(vb), y = shapeOf(vy);
  if (transA)
    std::swap(a[a.size() - 2], a.back());
  if (transB)
    std::swap(b[b.size() - 2], b.back());
  if (a.back() != b[b.size() - 2])
    return op->emitOpError(
               "expected op(a) with as many columns as op(b) has rows, "
               "found ")
           << a.back() << " and " << b[b.size() - 2];
  plan::Shape expected = y;
  expected[y.size() - 2] = a[a.size() - 2];
  expected.back() = b.back();
  if (failed(verifyShape(op, "y", expected, vy)))
    return failure();
  // Constraint 4.
  auto batch = broadcastShapes(ArrayRef(a).drop_back(2), //
                               ArrayRef(b).drop_back(2));
  if (!batch)
    return op->emitOpError("expected batch dimensions that broadcast, found ")
           << va.getType() << " and " << vb.getType();
  // Where y has 1 it is a sum, whatever the extent.
  auto common = broadcastShapes(ArrayRef(y).drop_back(2), *batch);
  if (!common || *common != *batch)
    return op->emitOpError("expected y with batch dimensions of [")
           << ArrayRef<int64_t>(*batch) << "], or 1, found " << vy.getType();
  // Constraint 5.
  if (batch->size() + 3 > plan::kMaxRank)
    return op->emitOpError("expected at most ")
           << plan::kMaxRank - 3 << " batch dimensions, found "
           << batch->size();
  // Constraint 3.
  if (names) {
    SmallPtrSet<Attribute, plan::kMaxRank> different(names.begin(),
                                                     names.end());
    if (names.size() != batch->size() + 3 || different.size() != names.size())
      return op->emitOpError("expected ")
             << batch->size() + 3 << " different dimension names, found "
             << names;
  }
  return success();
}
