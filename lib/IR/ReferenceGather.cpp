//===- ReferenceGather.cpp - indexing in plain loops ----------------------===//

#include "ReferenceFamilies.h"
#include "ffc/IR/Reference.h"

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

static void gather(const ReferenceCall &call) {
  int64_t axis = call.i64("axis");
  ArrayRef<int64_t> indices = call.ints("indices");
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    SmallVector<int64_t> source(i);
    source[axis] = indices[i[axis]];
    call.outs[0].at(i) = call.ins[0].at(source);
  });
}

static void gatherBackward(const ReferenceCall &call) {
  int64_t axis = call.i64("axis");
  ArrayRef<int64_t> indices = call.ints("indices");
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    SmallVector<int64_t> source(i);
    double sum = 0;
    for (size_t k = 0; k < indices.size(); ++k)
      if (indices[k] == i[axis]) {
        source[axis] = static_cast<int64_t>(k);
        sum += call.ins[0].at(source);
      }
    call.outs[0].at(i) = sum;
  });
}

void ff::registerGatherReferences() {
  registerReference("gather", gather);
  registerReference("gather_backward", gatherBackward);
}
