//===- Safetensors.h - reading safetensors files ----------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_SAFETENSORS_H
#define FFC_LIB_IMPORT_SAFETENSORS_H

#include "Constant.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ffc::importer {

/// The tensors of some files, mapped. (The runtime, which knows nothing of
/// LLVM, has a reader of its own.)
class Safetensors {
public:
  struct Tensor {
    std::string type; ///< "F32", "BF16"...
    Shape shape;
    llvm::StringRef bytes;
  };

  /// Adds the tensors of a file but some. An error names it.
  llvm::Error add(const std::string &path,
                  const std::set<std::string> &except = {});

  /// In the order of names.
  const std::map<std::string, Tensor> &tensors() const { return index; }

  /// Element i of a tensor of floats.
  static double elementOf(const Tensor &tensor, int64_t i);
  static bool isOfFloats(const Tensor &tensor);

private:
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  std::map<std::string, Tensor> index;
};

/// The files with parameters that `path` stands for: itself, the *.safetensors
/// in it but those of the optimizer and of running means, or those of the
/// newest checkpoint in it. Sets `found` to the file or folder that they are
/// in.
llvm::Expected<std::vector<std::string>> parameterFiles(llvm::StringRef path,
                                                        std::string &found);

/// The files with running means of parameters in a checkpoint.
llvm::Expected<std::vector<std::string>> averageFiles(llvm::StringRef path);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_SAFETENSORS_H
