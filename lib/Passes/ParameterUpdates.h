//===- ParameterUpdates.h - updates of a training graph ---------*- C++ -*-===//
#ifndef FFC_LIB_PASSES_PARAMETERUPDATES_H
#define FFC_LIB_PASSES_PARAMETERUPDATES_H

#include "Marking.h"

#include "ffc/IR/FF.h"
#include "ffc/IR/Optimizers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ffc {

/// What the gradient of the loss is.
struct LossScaling {
  double first = 0; ///< in the first step; 0: it is 1 in all steps
  bool isFixed = false;
};

struct UpdateSettings {
  const ff::Optimizer &optimizer;
  double clipNorm; ///< bounds the norm of all gradients together; 0: nothing
  double ema;      ///< decay of running means of parameters; 0: there are none
  LossScaling lossScale;
  bool rowUpdates; ///< tables in the rows that were looked up, where possible
};

/// Updates of parameters, each as soon as its gradient is there, or all of them
/// after the last gradient where what gradients are multiplied by depends on
/// all.
class ParameterUpdates {
public:
  /// Builds with `builder`, whose listener is `marking`; all must outlive this.
  ParameterUpdates(const UpdateSettings &settings, mlir::OpBuilder &builder,
                   Marking &marking)
      : settings(settings), builder(builder), marking(marking) {}

  /// The gradient of the loss, made a state of this element type; null: it
  /// is 1.
  mlir::Value addLossScale(mlir::func::FuncOp main, mlir::Type element);
  /// `state`, a parameter that `reader` reads first, has this gradient.
  void update(ff::StateOp state, mlir::Value gradient, mlir::Operation *reader);
  /// After the last gradient; `loss` is the last operator of the forward graph.
  void finish(mlir::Operation *loss);
  /// True if there was no parameter to update.
  bool empty() const { return count == 0; }

private:
  /// A parameter that is updated when all gradients are there.
  struct Noted {
    ff::StateOp state;
    mlir::Value gradient;
    ff::RowGradientInterface rows; ///< that it is updated in instead
    mlir::Operation *reader;
  };

  /// What is built next belongs to `state`: it is laid out as that is where
  /// `reader` reads it.
  void mark(ff::StateOp state, mlir::Operation *reader);
  /// The operator that makes `gradient`, if it can update rows instead and that
  /// is wanted; else null.
  ff::RowGradientInterface rowGradientOf(mlir::Value gradient) const;
  void build(const Noted &parameter, mlir::Value scale);
  /// What gradients are multiplied by, which depends on all of them.
  mlir::Value scaleOf(mlir::Operation *loss);
  /// The sum of squares of a parameter's gradient.
  mlir::Value squareSum(Noted &parameter);
  /// What the optimizer keeps of a parameter.
  llvm::SmallVector<ff::StateOp> createSlots(ff::StateOp state);
  ff::StateOp createSlot(mlir::OpBuilder &top, mlir::Type type,
                         const llvm::Twine &wanted, double first);
  /// Takes a parameter, which is `updated` now, into its running mean.
  void average(ff::StateOp state, mlir::Value updated);
  /// Keeps in every state what it is from now on.
  void store(llvm::ArrayRef<ff::StateOp> states, mlir::ValueRange updated);
  mlir::Location named(const llvm::Twine &name) {
    return mlir::NameLoc::get(builder.getStringAttr(name));
  }

  const UpdateSettings settings;
  mlir::OpBuilder &builder;
  Marking &marking;
  int count = 0;
  /// The gradient of the loss, and the numbers of steps that are kept with it.
  llvm::SmallVector<ff::StateOp, 3> scaleStates;
  llvm::SmallVector<Noted> noted;
};

} // namespace ffc

#endif // FFC_LIB_PASSES_PARAMETERUPDATES_H
