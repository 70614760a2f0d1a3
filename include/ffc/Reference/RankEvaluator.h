//===- RankEvaluator.h - all ranks in one process ---------------*- C++ -*-===//
//
// Executes a `rank` module in double precision, all ranks together, with the
// kernels of ffc/Reference/Reference.h. It is the oracle for partitioning: what
// a plan computes is compared with what the `ff` module means.
//
// Each rank has a state and an arena with one slot per four bytes, so buffers
// whose lifetimes overlap at the same offset really corrupt each other. What is
// not written, or in flight, reads as NaN. Errors, as diagnostics:
//
//   * a kernel touches an element outside the part of an operand that is held;
//   * an output, the loss or a state is NaN, is not covered by the offers of
//   all
//     ranks, or its replicas differ by more than 1e-12 relative;
//   * messages or members of a collective disagree;
//   * a buffer in flight is written before the wait;
//   * a communication is never waited for;
//   * no rank can continue ("deadlock"). A wait for a send ends when the
//   receive
//     has been posted, as in a rendezvous.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_REFERENCE_RANKEVALUATOR_H
#define FFC_REFERENCE_RANKEVALUATOR_H

#include "ffc/IR/TensorValue.h"
#include "ffc/Reference/Reference.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ffc::rank {

struct RankRun {
  /// What the last step offered, by name ("out/y", "grad/conv1.weight").
  std::map<std::string, ff::TensorValue> outputs;
  /// State after the last step, without constants.
  std::map<std::string, ff::TensorValue> states;
  /// Of every step.
  std::vector<double> losses;
};

/// A step of several micro-batches goes over one batch.
class RankEvaluator {
public:
  /// `module` is verified and outlives the evaluator. With `poison`, the arena
  /// is filled with NaN before each step.
  explicit RankEvaluator(mlir::ModuleOp module, bool poison = true);
  ~RankEvaluator();
  RankEvaluator(RankEvaluator &&) noexcept;

  /// Writes the states whose first contents are one number, as a program does.
  void fillConstants();
  /// The value every step reads from now on. Names that no rank reads are
  /// accepted.
  void setInput(llvm::StringRef name, ff::TensorValue value);
  /// Writes the parts of all ranks. Fails if the shape is another one.
  mlir::LogicalResult setState(llvm::StringRef name,
                               const ff::TensorValue &value);

  /// Runs one step on all ranks.
  mlir::LogicalResult step(const ff::ReferenceContext &context);

  /// What the last step offered.
  const std::map<std::string, ff::TensorValue> &outputs() const;
  /// Losses of all steps.
  const std::vector<double> &losses() const;
  /// A state in global coordinates, its replicas checked. What no rank holds of
  /// it is as it was set: programs hold what they read or train.
  mlir::FailureOr<ff::TensorValue> state(llvm::StringRef name) const;
  /// Everything.
  mlir::FailureOr<RankRun> result() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffc::rank

#endif // FFC_REFERENCE_RANKEVALUATOR_H
