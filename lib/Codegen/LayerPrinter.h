//===- LayerPrinter.h - layers as C++ classes and objects -------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_LAYERPRINTER_H
#define FFC_LIB_CODEGEN_LAYERPRINTER_H

#include "Layers.h"
#include "Text.h"

namespace ffc::codegen {

/// Prints the kinds of layers as classes, the layers as members of the program.
class LayerPrinter {
public:
  LayerPrinter(const Layers &layers, const ProgramMeta &meta)
      : layers(layers), meta(meta) {}

  /// Fails after a diagnostic.
  mlir::LogicalResult printKind(Text &text, const LayerKind &kind);
  void printObject(Text &text, size_t layer);
  /// The calls of a step, or of what comes after its micro-batches.
  void printStep(Text &text, llvm::StringRef name, bool inMicroBatch);
  bool hasMethods(bool inMicroBatch) const;
  /// Those of a pipeline, each with the ranks that do it.
  void printPasses(Text &text, llvm::ArrayRef<rank::FuncOp> classes);

private:
  mlir::LogicalResult printKernel(Text &text, const LayerKind &kind,
                                  const Layer &layer, size_t member);
  void printConstructor(Text &text, const LayerKind &kind, const Layer &layer);
  void printMethod(Text &text, const Layer &layer, const Method &method);
  void printSummary(Text &text, const Layer &layer);
  /// The name of an attribute that differs between layers; empty for others.
  static std::string parameterOf(const LayerKind &kind, size_t member,
                                 size_t arg);

  const Layers &layers;
  const ProgramMeta &meta;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_LAYERPRINTER_H
