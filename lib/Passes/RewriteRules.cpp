//===- RewriteRules.cpp - what the rules of the pass `rewrite` share ------===//

#include "RewriteRules.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::rewriting;

ArrayRef<int64_t> rewriting::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

RankedTensorType rewriting::shaped(Value value, ArrayRef<int64_t> shape) {
  return cast<RankedTensorType>(value.getType()).clone(shape);
}

Location Maker::named(const Twine &wanted) {
  return NameLoc::get(builder.getStringAttr(names.take(wanted)));
}

Value Maker::before(Operation *op, Value state) {
  Operation *read = state.getDefiningOp();
  if (!read->isBeforeInBlock(op))
    read->moveBefore(op);
  return state;
}

Value Maker::reshape(const Twine &name, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return ReshapeOp::create(builder, named(name), shaped(value, shape), value);
}

Value Maker::concat(const Twine &name, ArrayRef<Value> operands, int64_t axis) {
  SmallVector<int64_t> shape(shapeOf(operands.front()));
  for (Value operand : operands.drop_front())
    shape[axis] += shapeOf(operand)[axis];
  return ConcatOp::create(builder, named(name), shaped(operands.front(), shape),
                          operands, axis);
}

Value Maker::slice(const Twine &name, Value value, ArrayRef<int64_t> starts,
                   ArrayRef<int64_t> shape) {
  return SliceOp::create(builder, named(name), shaped(value, shape), value,
                         starts);
}

Value Maker::transpose(const Twine &name, Value value,
                       ArrayRef<int64_t> order) {
  SmallVector<int64_t> shape;
  for (int64_t d : order)
    shape.push_back(shapeOf(value)[d]);
  return TransposeOp::create(builder, named(name), shaped(value, shape), value,
                             order);
}

void Maker::replace(Operation *old, Value result) {
  Operation *made = result.getDefiningOp();
  made->setLoc(old->getLoc());
  made->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  old->getResult(0).replaceAllUsesWith(result);
  old->erase();
}
