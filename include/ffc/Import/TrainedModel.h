//===- TrainedModel.h - a model with what was learned -----------*- C++ -*-===//
#ifndef FFC_IMPORT_TRAINEDMODEL_H
#define FFC_IMPORT_TRAINEDMODEL_H

#include "ffc/Import/Import.h"

namespace ffc {

struct TrainedModelReport {
  int64_t values = 0;   ///< parameters and running statistics
  std::string weights;  ///< the folder or file that they were read from
  std::string dataPath; ///< of large tensors; empty: they are in the model
};

/// Writes the model at `path` to `output`, as it came in, but with the values
/// in `weights`: its operators, opsets, names and metadata are those of the
/// file. `weights` is a checkpoint (docs/checkpoints.md), the folder of a run's
/// checkpoints, of which the newest is taken, or a safetensors file.
/// `averages`: running means of parameters take the place of those, where they
/// have some.
///
/// What an exporter had merged into one tensor is several again, since training
/// took them apart; tensors that a weight was written to twice get the same
/// values. Above 1 GiB tensors are written to `output`.data. Tensors that the
/// model holds in formats of 16 or 64 bits stay in these.
///
/// Returns nothing after one error, located at `path`: a value of `weights`
/// that the model does not have, or in another shape, or a trained one that is
/// not in `weights`.
std::optional<TrainedModelReport>
exportTrained(mlir::MLIRContext &context, llvm::StringRef path,
              llvm::StringRef weights, bool averages, llvm::StringRef output,
              const ImportOptions &options);

} // namespace ffc

#endif // FFC_IMPORT_TRAINEDMODEL_H
