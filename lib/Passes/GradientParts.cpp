//===- GradientParts.cpp - sums of gradients that are parts of one --------===//

#include "GradientParts.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool equalBut(ArrayRef<int64_t> a, ArrayRef<int64_t> b, int64_t axis) {
  if (a.size() != b.size())
    return false;
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d] != b[d] && static_cast<int64_t>(d) != axis)
      return false;
  return true;
}

static void carryThrough(Operation *made, int64_t ownerSlot, int64_t ownSlot) {
  made->setAttr(kCarryAttr, DenseI64ArrayAttr::get(made->getContext(),
                                                   {ownerSlot, ownSlot}));
}

/// Replaces the contributions made by `ops`, which nothing uses, by `whole`.
template <class Op>
static void replaceParts(SmallVectorImpl<Value> &parts, ArrayRef<Op> ops,
                         Value whole) {
  const llvm::DenseSet<Operation *> joined(ops.begin(), ops.end());
  auto isJoined = [&](Value part) {
    return joined.contains(part.getDefiningOp());
  };
  *llvm::find_if(parts, isJoined) = whole;
  llvm::erase_if(parts, isJoined);
  for (Op op : ops)
    op->erase();
}

Location GradientParts::named(const Twine &suffix) {
  return NameLoc::get(builder.getStringAttr(ff::nameOf(owner) + suffix));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Does `op` surround its operand with zeros along one dimension? Then the
/// dimension.
static std::optional<int64_t> embeddingAxis(PadOp op) {
  if (!op.getValue().isZero() || !op.getY().use_empty())
    return std::nullopt;
  ArrayRef<int64_t> pads = op.getPads();
  size_t rank = pads.size() / 2;
  std::optional<int64_t> axis;
  for (size_t d = 0; d < rank; ++d) {
    int64_t before = pads[d], after = pads[d + rank];
    if (before < 0 || after < 0 || (axis && (before > 0 || after > 0)))
      return std::nullopt;
    if (before > 0 || after > 0)
      axis = static_cast<int64_t>(d);
  }
  return axis;
}

void GradientParts::joinSlices(int64_t slot) {
  SmallVector<PadOp> pads;
  std::optional<int64_t> axis;
  for (Value part : parts)
    if (auto pad = part.getDefiningOp<PadOp>())
      if (auto own = embeddingAxis(pad); own && (!axis || *axis == *own)) {
        axis = own;
        pads.push_back(pad);
      }
  if (pads.size() < 2)
    return;
  llvm::sort(pads, [&](PadOp a, PadOp b) {
    return a.getPads()[*axis] < b.getPads()[*axis];
  });
  // They must follow each other from the first element to the last.
  SmallVector<Value> operands;
  int64_t end = 0;
  for (PadOp pad : pads) {
    if (pad.getPads()[*axis] != end)
      return;
    end += shapeOf(pad.getX())[*axis];
    operands.push_back(pad.getX());
  }
  if (end != shapeOf(parts.front())[*axis])
    return;
  auto whole = ConcatOp::create(builder, named(".gradient_parts"),
                                parts.front().getType(), operands, *axis);
  carryThrough(whole, slot, static_cast<int64_t>(operands.size()));
  replaceParts<PadOp>(parts, pads, whole);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Where operands that are slices one after the other cover what they were
/// taken from, that; else null.
static Value wholeOf(ArrayRef<Value> operands, int64_t axis) {
  Value whole;
  int64_t end = 0;
  for (Value operand : operands) {
    auto slice = operand.getDefiningOp<SliceOp>();
    if (!slice || (whole && slice.getX() != whole) ||
        !equalBut(shapeOf(slice.getX()), shapeOf(operand), axis) ||
        slice.getStarts()[axis] != end)
      return {};
    whole = slice.getX();
    end += shapeOf(operand)[axis];
  }
  return end == shapeOf(whole)[axis] ? whole : Value();
}

/// The concatenation of exactly `operands`, or null.
static ConcatOp concatOf(ArrayRef<Value> operands) {
  for (Operation *user : operands.front().getUsers())
    if (auto concat = dyn_cast<ConcatOp>(user))
      if (llvm::equal(concat.getInputs(), operands))
        return concat;
  return {};
}

Value GradientParts::concatenate(const Twine &suffix, ArrayRef<Value> operands,
                                 int64_t axis) {
  if (Value whole = wholeOf(operands, axis))
    return whole;
  if (ConcatOp made = concatOf(operands);
      made && static_cast<int64_t>(made.getAxis()) == axis)
    return made;
  auto type = cast<RankedTensorType>(operands.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 0;
  for (Value operand : operands)
    shape[axis] += shapeOf(operand)[axis];
  auto made = ConcatOp::create(builder, named(suffix), type.clone(shape),
                               operands, axis);
  // Laid out as a tensor of the owner that looks like an operand.
  auto interface = cast<PartitionableInterface>(owner);
  int64_t slot = 0;
  for (const SmallVector<Value> &values :
       {interface.getOperandSlots(), interface.getResultSlots()})
    for (Value value : values) {
      if (value && llvm::any_of(operands, [&](Value operand) {
            return operand.getType() == value.getType();
          })) {
        carryThrough(made, slot, static_cast<int64_t>(operands.size()));
        return made;
      }
      ++slot;
    }
  return made;
}

namespace {
/// Dimensions of the operands that are summed over together.
struct SummedAxis {
  int64_t a, b;
};
} // namespace

/// A dimension other than the samples that `op` sums over, and in which alone
/// the operands of `others` differ from its own.
static std::optional<SummedAxis> summedAxis(MatMulOp op,
                                            ArrayRef<MatMulOp> others) {
  ArrayRef<int64_t> a = shapeOf(op.getA()), b = shapeOf(op.getB()),
                    y = shapeOf(op.getY());
  ArrayAttr names = op.getDimNamesAttr();
  if (!names || a.size() != b.size())
    return std::nullopt;
  auto rank = static_cast<int64_t>(a.size());
  SmallVector<std::pair<SummedAxis, int64_t>> candidates;
  for (int64_t d = 0; d < rank - 2; ++d) {
    int64_t own = d + static_cast<int64_t>(y.size()) - rank;
    if (a[d] == b[d] && (own < 0 || y[own] == 1))
      candidates.push_back({{d, d}, d});
  }
  candidates.push_back({{op.getTransA() ? rank - 2 : rank - 1,
                         op.getTransB() ? rank - 1 : rank - 2},
                        rank});
  for (auto [axis, dim] : candidates) {
    if (cast<StringAttr>(names[dim]).getValue() == "n")
      continue;
    SummedAxis at = axis;
    if (llvm::all_of(others, [&](MatMulOp other) {
          return equalBut(shapeOf(other.getA()), a, at.a) &&
                 equalBut(shapeOf(other.getB()), b, at.b);
        }))
      return axis;
  }
  return std::nullopt;
}

void GradientParts::joinProducts() {
  SmallVector<MatMulOp> products;
  for (Value part : llvm::reverse(parts)) {
    auto op = part.getDefiningOp<MatMulOp>();
    // By the time of a sum, state that products have read may be overwritten.
    if (!op || op.getC() || op.getAddend() || !op.getY().use_empty() ||
        stateReaders.contains(op.getA()) || stateReaders.contains(op.getB()))
      continue;
    MatMulOp first = products.empty() ? op : products.front();
    if (op.getDimNamesAttr() == first.getDimNamesAttr() &&
        op.getAlphaAttr() == first.getAlphaAttr() &&
        op.getTransAAttr() == first.getTransAAttr() &&
        op.getTransBAttr() == first.getTransBAttr())
      products.push_back(op);
  }
  if (products.size() < 2)
    return;
  MatMulOp first = products.front();
  std::optional<SummedAxis> axis = summedAxis(first, products);
  if (!axis)
    return;
  SmallVector<Value> a, b;
  for (MatMulOp op : products) {
    a.push_back(op.getA());
    b.push_back(op.getB());
  }
  Value left = concatenate(".gradient_left", a, axis->a),
        right = concatenate(".gradient_right", b, axis->b);
  Value whole = MatMulOp::create(
      builder, named(".gradient_product"), first.getY().getType(), left, right,
      Value(), first.getAlphaAttr(), first.getBetaAttr(),
      first.getDimNamesAttr(), first.getTransAAttr(), first.getTransBAttr());
  replaceParts<MatMulOp>(parts, products, whole);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void GradientParts::joinSums() {
  SmallVector<Operation *> ends;
  SmallVector<ReduceSumOp> sums;
  SmallVector<Value> operands;
  for (Value part : llvm::reverse(parts)) {
    Operation *end = part.getDefiningOp();
    auto reshape = dyn_cast_or_null<ReshapeOp>(end);
    auto sum = reshape ? reshape.getX().getDefiningOp<ReduceSumOp>()
                       : dyn_cast_or_null<ReduceSumOp>(end);
    if (!sum || !part.use_empty() || (reshape && !sum->hasOneUse()))
      return;
    ends.push_back(end);
    sums.push_back(sum);
    operands.push_back(sum.getX());
    if (sum.getAxesAttr() != sums.front().getAxesAttr() ||
        sum.getKeepdimsAttr() != sums.front().getKeepdimsAttr())
      return;
  }
  ConcatOp concat = sums.size() > 1 ? concatOf(operands) : ConcatOp();
  if (!concat || !llvm::is_contained(sums.front().getAxes(),
                                     static_cast<int64_t>(concat.getAxis())))
    return;
  // As the first one, whose owner's configuration they take.
  auto copyOf = [&](Operation *model, Value operand, StringRef suffix) {
    Operation *made = model->clone();
    made->setOperand(0, operand);
    made->setLoc(named(suffix));
    builder.insert(made);
    made->setAttr(kOwnerAttr, model->getAttr(kOwnerAttr));
    return made->getResult(0);
  };
  Value whole = copyOf(sums.front(), concat.getY(), ".gradient_sum");
  if (ends.front() != sums.front())
    whole = copyOf(ends.front(), whole, ".gradient_shaped");
  parts.assign({whole});
  for (auto [end, sum] : llvm::zip_equal(ends, sums)) {
    bool isShaped = end != sum.getOperation();
    end->erase();
    if (isShaped)
      sum->erase();
  }
}
