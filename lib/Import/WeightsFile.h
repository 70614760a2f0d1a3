//===- WeightsFile.h - the values of parameters beside the IR ---*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_WEIGHTSFILE_H
#define FFC_LIB_IMPORT_WEIGHTSFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace ffc::importer {

/// Tensors one after the other at multiples of 64 bytes, written under a
/// temporary name until `commit`. With an empty path offsets are assigned and
/// nothing is written. Without tensors there is no file.
class WeightsFile {
public:
  explicit WeightsFile(std::string path) : path(std::move(path)) {}
  /// Discards what was not committed.
  ~WeightsFile();
  WeightsFile(const WeightsFile &) = delete;

  /// Adds a tensor of `bytes` bytes, which `write` writes. Returns its offset.
  llvm::Expected<int64_t>
  add(int64_t bytes,
      llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

  /// Gives the file its name.
  llvm::Error commit();

private:
  std::string path;
  int64_t size = 0;
  std::optional<llvm::sys::fs::TempFile> file;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_WEIGHTSFILE_H
