//===- Output.h - files that appear whole or not at all ---------*- C++ -*-===//
//
// Everything is written under a temporary name in the folder of its target and
// renamed when it is complete. Errors name the path and the cause.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_CODEGEN_OUTPUT_H
#define FFC_CODEGEN_OUTPUT_H

#include "ffc/Codegen/OnSignal.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ffc::codegen {

/// An error whose text is `text`.
llvm::Error makeError(const llvm::Twine &text);

/// A file or folder under a temporary name beside its target. The destructor,
/// or a signal that ends the process, removes what was not committed.
class Pending {
public:
  /// Creates nothing yet; `target` is where commit() puts the result.
  explicit Pending(llvm::StringRef target);
  ~Pending();
  Pending(const Pending &) = delete;
  Pending &operator=(const Pending &) = delete;

  const std::string &path() const { return temporary; }
  const std::string &target() const { return wanted; }
  bool exists() const;
  /// Renames path() to target(), over a file that is there. A folder that is
  /// there is kept, and receives the files of the new one.
  llvm::Error commit();

private:
  std::string wanted, temporary;
  RemovedOnSignal guard;
};

/// Writes `contents` at `path`, whose folders are created.
llvm::Error writeText(llvm::StringRef path, llvm::StringRef contents);

/// Writes a single file whole, or to a device or pipe.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef contents);

} // namespace ffc::codegen

#endif // FFC_CODEGEN_OUTPUT_H
