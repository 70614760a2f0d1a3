//===- Optimizers.h - the optimizers that ffc knows -------------*- C++ -*-===//
//
// A table of what an optimizer has: numbers, state per parameter, kernels. What
// it computes is said with ff.update.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_IR_OPTIMIZERS_H
#define FFC_IR_OPTIMIZERS_H

#include "ffc/IR/FF.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ffc::ff {

/// A number that an optimizer has besides learning rate and weight decay.
struct Hyperparameter {
  enum class Range {
    Fraction, ///< from 0 to below 1
    Positive,
    Flag ///< 0 or 1
  };
  const char *name;
  double standard;
  Range range;
};

/// What it keeps of a parameter from step to step; zero at first.
struct OptimizerSlot {
  const char *name;    ///< of the state, after the parameter's
  int unlessZero = -1; ///< not there if this hyperparameter is 0; -1: always
};

struct OptimizerInfo {
  OptimizerKind kind;
  /// The phases' kernels. With two, the first makes a direction and, as sums of
  /// squares, the norms of parameter and direction, for the second.
  std::vector<const char *> kernels;
  /// The kernel for rows of tables; null if rows without gradient change.
  const char *rowKernel;
  std::vector<Hyperparameter> hyper;
  std::vector<OptimizerSlot> slots;
  double learningRate; ///< unless said otherwise
  double flops;        ///< per element
};

const OptimizerInfo &optimizerInfo(OptimizerKind kind);

/// An optimizer and its numbers, in the order of its table.
struct Optimizer {
  OptimizerKind kind = OptimizerKind::Sgd;
  std::vector<double> hyper;
  bool hasNarrowSlots = false; ///< bf16 instead of f32

  /// With the usual numbers.
  explicit Optimizer(OptimizerKind kind = OptimizerKind::Sgd);

  const OptimizerInfo &info() const { return optimizerInfo(kind); }
  /// The number called `name`, which it has.
  double &number(llvm::StringRef name);
  /// Names of the slots it has with these numbers.
  std::vector<const char *> slots() const;

  /// Rows of a table without gradient stay as they are, and so do the slots
  /// there: the optimizer is of that kind, and does not go on by what it
  /// remembers of earlier gradients, which is what its fractions and flags say.
  /// There is no weight decay. Kernels for rows take slots of f32.
  bool updatesRows() const;
  /// The arguments of its kernels, those for rows or the others.
  mlir::DictionaryAttr kernelArgs(mlir::MLIRContext *context,
                                  bool ofRows) const;

  /// What to know of these numbers together; empty: nothing.
  std::string caution() const;
  /// As `parse` reads it, with every number.
  std::string str() const;
  /// "adamw" or "adamw:beta2=0.95,epsilon=1e-6,slots=bf16". Errors say what is
  /// known.
  static llvm::Expected<Optimizer> parse(llvm::StringRef text);
};

/// All optimizers as `parse` reads them, with their usual numbers and learning
/// rates, for --help.
std::string describeOptimizers();

/// "sgd or adagrad": those with a kernel for rows.
std::string namesOfRowOptimizers();

} // namespace ffc::ff

#endif // FFC_IR_OPTIMIZERS_H
