//===- UnrolledRecurrent.h - recurrent layers, step by step -----*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_UNROLLEDRECURRENT_H
#define FFC_LIB_IMPORT_UNROLLEDRECURRENT_H

#include "NodeImporter.h"

namespace ffc::importer {

/// Operands of LSTM, GRU (to H0) and RNN (to H0).
struct RecurrentOperand {
  enum { X, W, R, B, Lengths, H0, C0, Peepholes };
};

/// What is the same however a layer is computed.
struct RecurrentForm {
  int64_t gates = 4;
  bool batchFirst = false;          ///< X and Y begin with samples, not steps
  llvm::SmallVector<bool> reversed; ///< per direction
  int64_t steps = 0, samples = 0, inputs = 0, units = 0;
};

/// The functions of the gates of LSTM, GRU or RNN in one direction, unless a
/// node has others.
llvm::SmallVector<llvm::StringRef> usualFunctions(llvm::StringRef opType);

/// Imports a node whose shapes were checked as other operators for each step:
/// any functions of gates, clipped, coupled, with peepholes, and sequences of
/// other lengths. `why` says which of that, if there are too many steps.
void importUnrolledRecurrent(NodeImporter &node, const RecurrentForm &form,
                             llvm::StringRef why);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_UNROLLEDRECURRENT_H
