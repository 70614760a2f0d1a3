//===- Layers.h - the layers of a program, and their kinds ------*- C++ -*-===//
//
// Operators are arranged by layer: a forward operator with its gradients and
// updates. Layers that do the same with other values, attributes and shapes are
// of one kind, which is a class of the text.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_CODEGEN_LAYERS_H
#define FFC_LIB_CODEGEN_LAYERS_H

#include "Functors.h"
#include "Values.h"

#include "ffc/Codegen/Identifiers.h"
#include "ffc/Codegen/ProgramMeta.h"

#include <optional>

namespace ffc::codegen {

/// A kernel, a reshard or offers, as a member of a layer.
struct Member {
  Statement::Kind kind = Statement::Kind::Kernel;
  std::string name; ///< in the layer's class
  std::string op;   ///< the operator's name
  /// Of a kernel: its class, "MatMul", and indices into Layer::values, -1 for
  /// what is absent.
  std::string callee;
  std::vector<int> ins, outs;
  mlir::DictionaryAttr args;
  /// By part, and class, its actions. There are several of reshards and, in a
  /// pipeline, of kernels.
  std::vector<std::vector<llvm::SmallVector<mlir::Operation *>>> parts;
  /// In a pipeline, each call is of the next one of a list of parts, which is
  /// that of the rank's class; of none it does nothing.
  bool isByTurn = false;
  std::vector<std::vector<std::optional<size_t>>> turns; ///< by class

  /// What ranks of class `c` do in each turn, or part.
  std::vector<llvm::ArrayRef<mlir::Operation *>> turnsOf(size_t c) const;
};

/// A call of a member in a method: of all parts, or of one, or by turn.
struct Call {
  size_t member = 0;
  size_t part = 0;
  bool isWhole = true;
};

/// Consecutive statements of one layer in one direction.
struct Method {
  size_t layer = 0;
  Direction direction = Direction::Forward;
  bool isAgain = false; ///< what is computed again in the backward pass
  bool inMicroBatch = true;
  std::string name;
  std::vector<Call> calls;
};

struct Layer {
  std::string name;       ///< the forward operator's
  std::string identifier; ///< of the object
  /// Indices into Values::all(): first those that earlier layers have, then its
  /// own.
  std::vector<int> values;
  size_t numGiven = 0; ///< of earlier layers
  std::vector<std::string> valueNames;
  std::vector<Member> members; ///< in the order of their first call
  std::vector<size_t> methods; ///< indices into Layers::methods
  size_t kind = 0;             ///< index into Layers::kinds
};

/// An attribute in which the layers of a kind differ.
struct LayerParameter {
  size_t member = 0, arg = 0; ///< index in the layer, and in Member::args
  std::string name;
};

/// Methods of layers that follow each other on every rank that does one of
/// them.
struct Pass {
  std::string name;
  std::vector<size_t> methods;
  std::vector<size_t> classes; ///< that do it
};

/// Layers of one text.
struct LayerKind {
  std::string name; ///< of the class
  std::vector<size_t> layers;
  std::vector<LayerParameter> parameters;
};

/// The arrangement of a program's text. Layers stand in the order of their
/// first statement.
struct Layers {
  std::optional<Values> values;
  std::vector<Layer> layers;
  /// In the order of the step; of a pipeline, in that of the passes.
  std::vector<Method> methods;
  std::vector<LayerKind> kinds;
  /// The step of a pipeline, in which operators take turns: by class, its
  /// passes in their order. Otherwise there are none.
  std::vector<Pass> passes;
  std::vector<std::vector<size_t>> passOrder;
  /// By value: the layer that has it, and its index there.
  std::vector<std::pair<size_t, size_t>> owners;
};

/// Fails after a diagnostic. Functors of fused kernels go to `functors`.
mlir::FailureOr<Layers> arrange(llvm::ArrayRef<rank::FuncOp> classes,
                                const ProgramMeta &meta, Functors &functors);

/// Layers that do the same are of one kind, attributes in which they differ its
/// parameters.
void findKinds(Layers &layers, const ProgramMeta &meta);

/// Gives everything in the layers its name.
void nameLayers(Layers &layers, const ProgramMeta &meta);

/// "forward", "backward", "update".
llvm::StringRef wordOf(Direction direction);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_LAYERS_H
