//===- Addend.cpp - operators that add to a result ------------------------===//

#include "ffc/IR/FF.h"

using namespace mlir;
using namespace ffc;

LogicalResult ff::verifyAddend(Operation *op) {
  auto adding = cast<AddingInterface>(op);
  // Sums are not as narrow as what is written of them.
  auto expected = cast<RankedTensorType>(adding.getSummedResult().getType());
  if (isa<BFloat16Type, Float16Type>(expected.getElementType()))
    expected = expected.clone(Float32Type::get(op->getContext()));
  for (OpOperand &addend : adding.getAddendMutable())
    if (addend.get().getType() != expected)
      return op->emitOpError("expected an addend of type ")
             << expected << ", found " << addend.get().getType();
  return success();
}
