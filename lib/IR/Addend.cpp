//===- Addend.cpp - operators that add to a result ------------------------===//

#include "ffc/IR/FF.h"

using namespace mlir;
using namespace ffc;

LogicalResult ff::verifyAddend(Operation *op) {
  auto adding = cast<AddingInterface>(op);
  Type expected = adding.getSummedResult().getType();
  for (OpOperand &addend : adding.getAddendMutable())
    if (addend.get().getType() != expected)
      return op->emitOpError("expected an addend of type ")
             << expected << ", found " << addend.get().getType();
  return success();
}
