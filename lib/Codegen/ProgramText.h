//===- ProgramText.h - the text of a program, read -------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_PROGRAMTEXT_H
#define FFC_LIB_CODEGEN_PROGRAMTEXT_H

#include "ffc/Codegen/SourceFile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// A member of a class of layers.
struct MemberText {
  enum class Kind { Shards, Kernel, Reshard, Dump };
  Kind kind = Kind::Shards;
  std::string name;
  std::string callee;                 ///< of a kernel
  std::vector<std::string> ins, outs; ///< names
  std::vector<std::string> args;
};

struct CallText {
  /// Of members "", "next" or a part; else of layers.
  std::string object, method;
  std::string argument;
  size_t line = 0;
};

struct ClassText {
  std::vector<std::string> given;      ///< shards of other layers
  std::vector<std::string> parameters; ///< attributes
  std::vector<MemberText> members;     ///< in their order
  llvm::StringMap<std::vector<CallText>> methods;
};

struct ObjectText {
  std::string className, name;
  size_t number = 0;
  std::vector<std::string> arguments;
};

struct ProgramText {
  std::string file;
  llvm::StringMap<ClassText> classes;
  std::vector<ObjectText> objects;
  std::vector<CallText> step, update;
  /// Of a pipeline, whose step has no calls: names, in the order in which
  /// tables count them, and the calls of each.
  std::vector<std::string> passNames;
  llvm::StringMap<std::vector<CallText>> passes;
};

/// Fails with "FILE:LINE: ...".
llvm::Expected<ProgramText> readText(const SourceFile &text);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_PROGRAMTEXT_H
