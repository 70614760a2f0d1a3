//===- ReferenceGather.cpp - indexing in plain loops ----------------------===//

#include "ReferenceFamilies.h"

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

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

/// The position along `axis` that the indices name at `i`. What is out of range
/// stays so and is a fault where it is used.
static int64_t positionAt(const View &indices, ArrayRef<int64_t> i,
                          int64_t extent) {
  const auto position = static_cast<int64_t>(indices.at(i));
  return position < 0 ? position + extent : position;
}

static void gatherElements(const ReferenceCall &call) {
  const int64_t axis = call.i64("axis");
  const View &x = call.ins[0], &indices = call.ins[1];
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    SmallVector<int64_t> source(i);
    source[axis] = positionAt(indices, i, x.global()[axis]);
    call.outs[0].at(i) = x.at(source);
  });
}

static void gatherElementsBackward(const ReferenceCall &call) {
  const int64_t axis = call.i64("axis");
  const View &indices = call.ins[0], &dy = call.ins[1], &dx = call.outs[0];
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) { dx.at(i) = 0; });
  plan::Tile all = call.tile;
  const plan::Interval own = all[axis];
  all[axis] = {0, indices.global()[axis]};
  forEachIndex(all, [&](ArrayRef<int64_t> i) {
    SmallVector<int64_t> target(i);
    const int64_t at = positionAt(indices, i, dx.global()[axis]);
    target[axis] = at;
    if (own.contains({at, at + 1}))
      dx.at(target) += dy.at(i);
  });
}

void ff::registerReferenceGather() {
  registerReference("gather_elements", gatherElements);
  registerReference("gather_elements_backward", gatherElementsBackward);
  registerReference("gather_backward", gatherBackward);
}
