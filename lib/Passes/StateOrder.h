//===- StateOrder.h - states are read before they are updated ---*- C++ -*-===//
#ifndef FFC_LIB_PASSES_STATEORDER_H
#define FFC_LIB_PASSES_STATEORDER_H

#include "mlir/IR/Block.h"

namespace ffc {

/// Moves what writes over a state (OpRules::inPlace) behind all that reads it,
/// with what needs its results. To be called where a pass has moved reads
/// towards the end.
void putUpdatesBehindReads(mlir::Block &block);

} // namespace ffc

#endif // FFC_LIB_PASSES_STATEORDER_H
