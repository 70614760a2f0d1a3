//===- Identifiers.h - C++ names from ONNX names ----------------*- C++ -*-===//
//
// ONNX names are arbitrary text ("/features/features.0/Conv", "147", "float").
// A NameScope turns them into identifiers that a reader recognises and that are
// unique in one scope of the emitted text.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_CODEGEN_IDENTIFIERS_H
#define FFC_CODEGEN_IDENTIFIERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <initializer_list>
#include <string>

namespace ffc::codegen {

/// `name` in lower case, with runs of anything but ASCII letters and digits as
/// one underscore: "conv2.x" is conv2_x. A leading digit gets the prefix "v";
/// nothing left is "unnamed". Lower case keeps members apart from the classes
/// of the runtime. The result may be a keyword.
std::string toIdentifier(llvm::StringRef name);

/// The class of a runtime kernel: "conv_forward" is ConvForward.
std::string toClassName(llvm::StringRef name);

/// True for C++ keywords and for names that all of the emitted text uses.
bool isReservedName(llvm::StringRef identifier);

/// The identifiers of one scope.
class NameScope {
public:
  /// `taken` are names of the runtime in this scope.
  explicit NameScope(std::initializer_list<llvm::StringRef> taken = {}) {
    for (llvm::StringRef name : taken)
      this->taken.insert(name);
  }

  /// An identifier for `name` that was not taken before and is not reserved:
  /// toIdentifier(name), with a trailing underscore for reserved words, with
  /// _2, _3... when taken.
  std::string take(llvm::StringRef name);

private:
  llvm::StringSet<> taken;
};

} // namespace ffc::codegen

#endif // FFC_CODEGEN_IDENTIFIERS_H
