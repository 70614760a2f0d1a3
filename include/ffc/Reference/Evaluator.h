//===- Evaluator.h - the value of an ff module ------------------*- C++ -*-===//
//
// What a graph means: every operator computed in double precision on whole
// tensors by its reference kernels. Plans are judged by this.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_REFERENCE_EVALUATOR_H
#define FFC_REFERENCE_EVALUATOR_H

#include "ffc/IR/FF.h"
#include "ffc/IR/TensorValue.h"
#include "ffc/Reference/Reference.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace ffc::ff {

using TensorValues = std::map<std::string, TensorValue>;

struct EvaluationResult {
  TensorValues outputs; ///< by the names of `ff.output`
  /// All states after the step, those that are not stored unchanged: what the
  /// next step takes.
  TensorValues states;
};

/// Rounding as f32 programs do it, whatever their order of summation: every
/// element of f32 that an operator makes, or adds up, moves by up to 2 units in
/// the last place, but for those that are elements of an operand, and integers,
/// which are computed of integers: what else has moved is none. What moves then
/// depends on rounding (Parker's Monte Carlo arithmetic, 1997).
class Noise {
public:
  explicit Noise(uint64_t seed) : random(seed) {}

  /// Moves the elements that are finite and no integers that f32 has.
  void move(TensorValue &value);

private:
  std::mt19937_64 random;
};

/// One step of @main. `inputs` are named by `ff.name` of the arguments,
/// `states` by `ff.state`; names that the module lacks are accepted. Fails with
/// a diagnostic at the operator if a value is missing or of another shape, or
/// if a kernel has no reference.
mlir::FailureOr<EvaluationResult> evaluate(mlir::ModuleOp module,
                                           const TensorValues &inputs,
                                           const TensorValues &states,
                                           const ReferenceContext &context,
                                           Noise *noise = nullptr);

/// Results of one operator. `operands` has one entry per operand slot, null for
/// absent ones.
mlir::FailureOr<std::vector<TensorValue>>
evaluateOperator(PartitionableInterface op,
                 llvm::ArrayRef<const TensorValue *> operands,
                 const ReferenceContext &context);

} // namespace ffc::ff

#endif // FFC_REFERENCE_EVALUATOR_H
