//===- Model.h - a training program in double precision ---------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_EVALUATE_MODEL_H
#define FFC_TOOLS_FFC_EVALUATE_MODEL_H

#include "ffc/Import/Import.h"
#include "ffc/Passes/Passes.h"
#include "ffc/Reference/Evaluator.h"

#include "mlir/IR/OwningOpRef.h"

namespace ffc {

/// A model as it is imported and differentiated, before any operator is
/// recognised as part of another, fused or split: what the programs that ffc
/// makes of it have to compute.
class Model {
public:
  /// Values after some steps.
  struct Run {
    std::vector<double> losses; ///< of each step
    ff::EvaluationResult last;
  };

  /// Reads `path`. Fails after an error. The weights are kept in the file
  /// `options.weightsPath` meanwhile. Without `differentiate`, steps are of the
  /// forward graph: outputs without a loss.
  static mlir::FailureOr<Model> load(mlir::MLIRContext &context,
                                     llvm::StringRef path,
                                     const ImportOptions &options,
                                     const DifferentiateOptions *differentiate,
                                     uint64_t seed);

  /// Steps 0 to `steps` - 1, of `seed`, from the initial states.
  mlir::FailureOr<Run> run(int64_t steps, double learningRate,
                           ff::Noise *noise = nullptr) const;
  /// The loss of step 0 if the states were these.
  mlir::FailureOr<double> loss(const ff::TensorValues &states) const;

  /// The same steps by all ranks of a program, a module of `rank`.
  mlir::FailureOr<Run> run(mlir::ModuleOp program, int64_t steps,
                           double learningRate) const;

  const ff::TensorValues &initialStates() const { return initial; }
  /// What programs draw for a step without a data set.
  mlir::FailureOr<ff::TensorValues> inputs(int64_t step) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ff::TensorValues initial;
  uint64_t seed = 0;
  bool hasLoss = false;

  ff::ReferenceContext at(int64_t step, double learningRate) const;
  mlir::FailureOr<ff::EvaluationResult> step(int64_t number,
                                             const ff::TensorValues &states,
                                             double learningRate,
                                             ff::Noise *noise) const;
};

} // namespace ffc

#endif // FFC_TOOLS_FFC_EVALUATE_MODEL_H
