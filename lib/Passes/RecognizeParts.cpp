//===- RecognizeParts.cpp - slices of concatenations ----------------------===//
//
// A layer that takes block after block of what another one made block by block
// depends on all of it through the concatenation in between, unless that is
// looked through: only then can the layers run as a wave.
//
//===----------------------------------------------------------------------===//

#include "RecognizePatterns.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::recognition;

namespace {
using Shape = SmallVector<int64_t>;

/// A box of a tensor: offsets and extents.
struct Part {
  Shape starts, extents;
};
} // namespace

static ArrayRef<int64_t> extentsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// For every dimension of `to`, the dimension of `from` that it is, or -1 for
/// one of extent 1 that a reshape adds. Nothing if it does more than add and
/// remove such dimensions.
static std::optional<Shape> unitReshape(ArrayRef<int64_t> from,
                                        ArrayRef<int64_t> to) {
  Shape result;
  size_t at = 0;
  for (int64_t extent : to) {
    while (at < from.size() && from[at] == 1 && extent != 1)
      ++at;
    if (at < from.size() && from[at] == extent)
      result.push_back(static_cast<int64_t>(at++));
    else if (extent == 1)
      result.push_back(-1);
    else
      return std::nullopt;
  }
  return std::all_of(from.begin() + static_cast<std::ptrdiff_t>(at), from.end(),
                     [](int64_t extent) { return extent == 1; })
             ? std::optional(result)
             : std::nullopt;
}

/// The part of the operand that `op`, which moves dimensions only, makes `part`
/// of its result from; nothing for other operators.
static std::optional<Part> partOfOperand(Operation *op, const Part &part) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Part result = part;
    for (auto [d, source] : llvm::enumerate(transpose.getPerm())) {
      result.starts[source] = part.starts[d];
      result.extents[source] = part.extents[d];
    }
    return result;
  }
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape)
    return std::nullopt;
  ArrayRef<int64_t> from = extentsOf(reshape.getX());
  auto sources = unitReshape(from, extentsOf(reshape.getY()));
  if (!sources)
    return std::nullopt;
  Part result{Shape(from.size(), 0), Shape(from)};
  for (auto [d, source] : llvm::enumerate(*sources))
    if (source >= 0) {
      result.starts[source] = part.starts[d];
      result.extents[source] = part.extents[d];
    }
  return result;
}

namespace {
struct SliceOfConcat : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp slice,
                                PatternRewriter &rewriter) const override {
    // Up through what moves dimensions.
    Part part{Shape(slice.getStarts()), Shape(extentsOf(slice.getY()))};
    SmallVector<Operation *> moves;
    Value value = slice.getX();
    auto concat = value.getDefiningOp<ConcatOp>();
    while (!concat) {
      Operation *op = value.getDefiningOp();
      std::optional<Part> before = op ? partOfOperand(op, part) : std::nullopt;
      if (!before)
        return failure();
      part = *before;
      moves.push_back(op);
      value = op->getOperand(0);
      concat = value.getDefiningOp<ConcatOp>();
    }
    // The one operand that has the part.
    auto axis = static_cast<size_t>(concat.getAxis());
    for (Value input : concat.getInputs()) {
      int64_t extent = extentsOf(input)[axis];
      if (part.starts[axis] < extent) {
        if (part.starts[axis] + part.extents[axis] > extent)
          return failure();
        rewriter.replaceOp(slice, rebuild(slice, input, part, moves, rewriter));
        return success();
      }
      part.starts[axis] -= extent;
    }
    return failure();
  }

private:
  /// `part` of `value`, with dimensions moved as before; the last operator that
  /// is made for that has the slice's name.
  static Value rebuild(SliceOp slice, Value value, const Part &part,
                       ArrayRef<Operation *> moves, PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(slice.getType());
    bool isWhole = ArrayRef<int64_t>(part.extents) == extentsOf(value);
    size_t left = moves.size() + (isWhole ? 0 : 1);
    auto location = [&]() -> Location {
      if (--left == 0)
        return slice.getLoc();
      return NameLoc::get(
          rewriter.getStringAttr(nameOf(slice) + ".part" + Twine(left)));
    };
    if (!isWhole)
      value = SliceOp::create(rewriter, location(), type.clone(part.extents),
                              value, part.starts);
    for (Operation *move : llvm::reverse(moves)) {
      if (auto transpose = dyn_cast<TransposeOp>(move)) {
        Shape shape;
        for (int64_t source : transpose.getPerm())
          shape.push_back(extentsOf(value)[source]);
        value = TransposeOp::create(rewriter, location(), type.clone(shape),
                                    value, transpose.getPerm());
        continue;
      }
      auto reshape = cast<ReshapeOp>(move);
      auto sources =
          unitReshape(extentsOf(reshape.getX()), extentsOf(reshape.getY()));
      Shape shape;
      for (int64_t source : *sources)
        shape.push_back(source < 0 ? 1 : extentsOf(value)[source]);
      value = ReshapeOp::create(rewriter, location(), type.clone(shape), value);
    }
    if (left == 0 && (!moves.empty() || !isWhole))
      value.getDefiningOp()->setDiscardableAttrs(
          slice->getDiscardableAttrDictionary());
    return value;
  }
};

/// A reshape to the same shape, which looking through leaves.
struct EqualReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp reshape,
                                PatternRewriter &rewriter) const override {
    Value x = reshape.getX();
    if (auto inner = x.getDefiningOp<ReshapeOp>();
        inner && inner.getX().getType() == reshape.getType()) {
      rewriter.replaceOp(reshape, inner.getX());
      return success();
    }
    return failure();
  }
};
} // namespace

void recognition::addParts(RewritePatternSet &patterns) {
  patterns.add<SliceOfConcat, EqualReshape>(patterns.getContext());
}
