//===- Addend.cpp - operators that add to a result ------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;

LogicalResult ff::verifyAddend(Operation *op) {
  auto adding = cast<AddingInterface>(op);
  for (OpOperand &addend : adding.getAddendMutable())
    if (Type found = addend.get().getType(); !takesAddend(adding, found))
      return op->emitOpError("expected an addend of type ")
             << wideType(adding.getSummedResult().getType()) << ", found "
             << found;
  return success();
}

bool ff::takesAddend(AddingInterface op, Type type) {
  // Sums are not as narrow as what is written of them.
  RankedTensorType sum = wideType(op.getSummedResult().getType());
  return type == sum || (op.addsNarrow() && wideType(type) == sum);
}
