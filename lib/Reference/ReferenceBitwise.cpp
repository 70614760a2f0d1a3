//===- ReferenceBitwise.cpp - functions of bits ---------------------------===//
//
// Of numbers of 64 bits, which the doubles of the evaluators hold up to 2^53.
//
//===----------------------------------------------------------------------===//

#include "ReferenceFamilies.h"

#include "ffc/IR/FF.h"

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;

static int64_t bits(BitwiseKind kind, int64_t a, int64_t b) {
  const bool isInside = b >= 0 && b < 64;
  switch (kind) {
  case BitwiseKind::And:
    return a & b;
  case BitwiseKind::Or:
    return a | b;
  case BitwiseKind::Xor:
    return a ^ b;
  case BitwiseKind::ShiftLeft:
    return isInside ? static_cast<int64_t>(static_cast<uint64_t>(a) << b) : 0;
  case BitwiseKind::ShiftRight:
    return isInside ? a >> b : (a < 0 ? -1 : 0);
  case BitwiseKind::ShiftRightUnsigned:
    return isInside ? static_cast<int64_t>(static_cast<uint64_t>(a) >> b) : 0;
  }
  llvm_unreachable("unknown kind");
}

/// The element that an operand of lower rank, or of extents of 1, has for a
/// result's.
static double broadcastAt(const View &view, ArrayRef<int64_t> index) {
  llvm::SmallVector<int64_t> own(index.take_back(view.global().size()).begin(),
                                 index.end());
  for (size_t d = 0; d < own.size(); ++d)
    if (view.global()[d] == 1)
      own[d] = 0;
  return view.at(own);
}

static void bitwise(const ReferenceCall &call) {
  const auto kind = static_cast<BitwiseKind>(call.i64("kind"));
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = static_cast<double>(
        bits(kind, static_cast<int64_t>(broadcastAt(call.ins[0], i)),
             static_cast<int64_t>(broadcastAt(call.ins[1], i))));
  });
}

void ff::registerReferenceBitwise() { registerReference("bitwise", bitwise); }
