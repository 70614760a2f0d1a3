//===- Addend.cpp - operators that add to a result ------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;

LogicalResult ff::verifyAddend(Operation *op) {
  auto adding = cast<AddingInterface>(op);
  // Sums are not as narrow as what is written of them.
  RankedTensorType expected = wideType(adding.getSummedResult().getType());
  for (OpOperand &addend : adding.getAddendMutable()) {
    Type found = addend.get().getType();
    if (found != expected &&
        !(adding.addsNarrow() && wideType(found) == expected))
      return op->emitOpError("expected an addend of type ")
             << expected << ", found " << found;
  }
  return success();
}
