//===- Inputs.h - graph inputs and their extents ----------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_INPUTS_H
#define FFC_LIB_IMPORT_INPUTS_H

#include "Graph.h"

#include "ffc/Import/Import.h"

namespace ffc::importer {

struct GraphInput {
  std::string name;
  int32_t type = 0;
  Shape shape;
  /// A parameter without data rather than data.
  bool isFree = false;
};

struct GraphInputs {
  /// The used inputs without initializers, in the order of the graph.
  std::vector<GraphInput> inputs;
  /// Unused ones.
  std::vector<std::string> unused;
  /// The batch of the file, if it is a number other than options.batchSize.
  std::optional<int64_t> exportedBatch;
};

/// Gives the graph's inputs static shapes. All inputs carry the batch in
/// dimension 0 that have there what the first data input has.
llvm::Expected<GraphInputs> resolveInputs(const onnx::GraphProto &graph,
                                          const UseTable &uses,
                                          const ImportOptions &options);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_INPUTS_H
