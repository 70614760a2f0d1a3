//===- Passes.h - passes and level changes ----------------------*- C++ -*-===//
#ifndef FFC_PASSES_PASSES_H
#define FFC_PASSES_PASSES_H

#include "ffc/IR/FF.h"
#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Plan/Program.h"
#include "ffc/Plan/StrategyFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <vector>

namespace ffc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ffc/Passes/Passes.h.inc"

/// The planner's graph of a module and the operation behind each operator.
struct PlannedModule {
  mlir::ModuleOp module;
  plan::Graph graph;
  /// ops[i] is the operation of graph.ops[i].
  std::vector<mlir::Operation *> ops;
};

/// ff -> plan: the operator graph of `main` with its partition rules. Emits a
/// diagnostic and fails on operators without rules.
mlir::FailureOr<PlannedModule> buildPlanGraph(mlir::ModuleOp module);

/// A configuration with the names of dimensions, as an attribute.
ff::ConfigAttr attributeOf(const plan::Configuration &config,
                           const plan::OpRules &rules,
                           mlir::MLIRContext &context);

/// The configuration of an operator of other rules that splits dimensions of
/// the same names; axes of all others become replicas. It need not be legal.
plan::Configuration carriedTo(ff::ConfigAttr attr, const plan::OpRules &rules);

/// The configuration written on `op` (`ff.config`), which has these rules; none
/// if it has none. Emits a diagnostic, in which the operator is called `name`,
/// and fails on dimensions that the rules do not have.
mlir::FailureOr<std::optional<plan::Configuration>>
readConfiguration(mlir::Operation *op, const plan::OpRules &rules,
                  llvm::StringRef name);

/// The configurations written on all operators.
mlir::FailureOr<plan::PartialStrategy>
readConfigurations(const PlannedModule &planned);

/// Writes what `strategy` has as `ff.config` attributes.
void writeConfigurations(const PlannedModule &planned,
                         const plan::PartialStrategy &strategy);

/// Writes the order of the strategy's micro-batches as `ff.pipeline`.
void writeSchedule(const PlannedModule &planned,
                   const plan::PipelineSchedule &schedule);

/// What is written so. Emits a diagnostic and fails on anything else.
mlir::FailureOr<plan::PipelineSchedule>
readSchedule(const PlannedModule &planned);

/// plan -> rank: folds devices with the same sequence of actions into classes
/// and renders each as a `rank.func`. The result is a new module, verified;
/// null after a diagnostic if it breaks a constraint of the dialect. `planned`
/// has at least one operator.
mlir::OwningOpRef<mlir::ModuleOp> lowerToRank(const PlannedModule &planned,
                                              const plan::Program &program);

/// Copies the step, with the configurations that are written on it, into a
/// module of ranks: what they do can then be proved from its text.
void addStep(mlir::ModuleOp ranks, const PlannedModule &planned);

/// What a text says of a plan. `planned` points into the module that was read.
struct WrittenPlan {
  PlannedModule planned;
  plan::Strategy strategy;
  plan::PipelineSchedule schedule;
  /// Empty if the text has the strategy alone. `order` and `batches`, on which
  /// only times depend, are not in texts, nor which devices share what, nor the
  /// values of buffers that are no inputs and states.
  plan::Program program;
};

/// A step with configurations of all operators (--emit=plan), legal on so many
/// devices. Emits a diagnostic and fails on anything else.
mlir::FailureOr<WrittenPlan> readStrategy(mlir::ModuleOp module,
                                          int numDevices);

/// rank -> plan: what lowerToRank and addStep wrote (--emit=rank). Emits a
/// diagnostic and fails unless kernels, inputs and states are those of the
/// step; the rest is for plan::verifyProgram.
mlir::FailureOr<WrittenPlan> readRanks(mlir::ModuleOp module);

} // namespace ffc

#endif // FFC_PASSES_PASSES_H
