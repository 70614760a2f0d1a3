//===- TilesAgree.h - points that go on with what they have -----*- C++ -*-===//
#ifndef FFC_LIB_PASSES_TILESAGREE_H
#define FFC_LIB_PASSES_TILESAGREE_H

#include "ffc/IR/FF.h"

namespace ffc {

/// Every point of `consumer` reads of `value`, a result of `producer`, what the
/// same point of `producer`, on the same device, has computed to the end. False
/// where one of them has no configuration.
bool tilesAgree(ff::PartitionableInterface producer, mlir::OpResult value,
                ff::PartitionableInterface consumer);

/// Does the configuration of `producer`, if it has one, leave partial sums of
/// `value`, its result?
bool isPartial(ff::PartitionableInterface producer, mlir::OpResult value);

/// Every point of `a`, in slot `slotA`, and the same point of `b`, on the same
/// device, in slot `slotB`, read the same of a value, and no other point of `a`
/// but replicas reads that. False where one of them has no configuration, or is
/// several kernels.
bool readsAgree(ff::PartitionableInterface a, int slotA,
                ff::PartitionableInterface b, int slotB);

/// The slot of a result among the operands and results of its operator.
int slotOf(mlir::OpResult result);

} // namespace ffc

#endif // FFC_LIB_PASSES_TILESAGREE_H
