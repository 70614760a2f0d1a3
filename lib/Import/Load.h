//===- Load.h - reading model files -----------------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_LOAD_H
#define FFC_LIB_IMPORT_LOAD_H

#include "onnx/onnx_pb.h"

#include <optional>
#include <string>

namespace ffc::importer {

struct LoadError {
  std::string message;
  /// Position in a text model, from 1; 0 where there is none.
  unsigned line = 0, column = 0;
};

/// Reads the model at `path`: ONNX text if the name ends in .onnxtxt,
/// serialized ONNX otherwise. Large tensors of a serialized model stay in the
/// file (see Skeleton.h). Returns what is wrong, or nothing.
std::optional<LoadError> loadModel(const std::string &path,
                                   onnx::ModelProto &model);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_LOAD_H
