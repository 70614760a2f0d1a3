//===- Functors.h - functors of fused kernels -------------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_FUNCTORS_H
#define FFC_LIB_CODEGEN_FUNCTORS_H

#include "Text.h"

#include "ffc/Codegen/EmitProgram.h"
#include "ffc/IR/Rank.h"
#include "ffc/IR/ScalarProgram.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace ffc::codegen {

/// The functors of a program, one for each distinct program of its fused
/// kernels, whatever types it reads, for the files functors.h and functors.cpp.
/// They are apart from the steps because they, unlike those, need an optimiser.
class Functors {
public:
  static bool isFused(rank::KernelOp op) { return op.getCallee() == "fused"; }

  /// The class of a fused kernel, "Fused<functors::Relu3, From<float>, float>".
  /// Fails after a diagnostic if its program is malformed.
  mlir::FailureOr<std::string> classOf(rank::KernelOp op);

  bool empty() const { return functors.empty(); }
  std::vector<SourceFile> files() const;

private:
  struct Functor {
    std::string name;
    ff::ScalarProgram program;
    std::vector<std::string> layers; ///< that use it
  };

  std::string classNameOf(plan::ElementType type) const;
  std::string literalOf(double value) const;
  std::string functorOf(const ff::ScalarProgram::Step &step) const;
  void print(Text &text, const Functor &functor) const;

  /// Numbers are f64, in all kernels of a program.
  bool inF64 = false;

  std::vector<Functor> functors;
  std::vector<std::string> kernels; ///< all classes, in order of first use
  llvm::StringMap<size_t> byProgram;
  llvm::StringSet<> names;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_FUNCTORS_H
