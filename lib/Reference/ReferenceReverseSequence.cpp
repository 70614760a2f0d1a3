//===- ReferenceReverseSequence.cpp - reversed sequences in plain loops ---===//

#include "ReferenceFamilies.h"

using namespace ffc;
using namespace ffc::ff;

static void reverseSequence(const ReferenceCall &call) {
  const View &x = call.ins[0], &lengths = call.ins[1];
  const int64_t batch = call.i64("batch_axis"), time = call.i64("time_axis");
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    const auto length = static_cast<int64_t>(lengths.at({i[batch]}));
    llvm::SmallVector<int64_t> source(i);
    if (i[time] < length)
      source[time] = length - 1 - i[time];
    call.outs[0].at(i) = x.at(source);
  });
}

void ff::registerReferenceReverseSequence() {
  registerReference("reverse_sequence", reverseSequence);
}
