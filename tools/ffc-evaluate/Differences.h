//===- Differences.h - gradients by finite differences ----------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_EVALUATE_DIFFERENCES_H
#define FFC_TOOLS_FFC_EVALUATE_DIFFERENCES_H

#include "Model.h"

namespace ffc {

/// The slope of the loss of step 0 along one direction, in which only the
/// elements of `parameter` change.
struct Slope {
  std::string parameter;
  double fromGradient;
  /// Central differences over a step and over half of it. Unless they agree,
  /// the loss has a kink or a jump within, and tells nothing.
  double whole, half;
  /// By how much slopes differ on both sides of where the loss is. Where that
  /// is not nothing the gradient is one of them, or between.
  double kink;
};

/// One direction for each parameter that has a gradient among `outputs`, those
/// of step 0.
mlir::FailureOr<std::vector<Slope>> slopesOf(const Model &model,
                                             const ff::TensorValues &outputs);

} // namespace ffc

#endif // FFC_TOOLS_FFC_EVALUATE_DIFFERENCES_H
