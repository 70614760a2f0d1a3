//===- Inputs.h - graph inputs and their extents ----------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_INPUTS_H
#define FFC_LIB_IMPORT_INPUTS_H

#include "Graph.h"
#include "Trained.h"

#include "ffc/Import/Import.h"

namespace ffc::importer {

struct GraphInput {
  std::string name;
  int32_t type = 0;
  Shape shape;
  /// A parameter without data rather than data.
  bool isFree = false;
  /// The number that --fix fills it with, of one element; it is a constant
  /// then, and nobody's data.
  std::optional<Constant> fixed;
};

struct GraphInputs {
  /// The used inputs without initializers, in the order of the graph.
  std::vector<GraphInput> inputs;
  /// Unused ones.
  std::vector<std::string> unused;
  /// The batch of the file, if it is a number other than options.batchSize.
  std::optional<int64_t> exportedBatch;
  /// The keys of options.dims that give an extent of the file the new batch.
  std::vector<std::string> batchDims;
};

/// Gives the graph's inputs static shapes. The batch is dimension 0 of the
/// first data input, and of all that have the same extent there or one that is
/// left open; options.dims goes before.
llvm::Expected<GraphInputs> resolveInputs(const onnx::GraphProto &graph,
                                          const UseTable &uses,
                                          const TrainedValues &trained,
                                          const ImportOptions &options);

/// Checks that --fix and --dim name inputs and dimensions of the graph.
llvm::Error checkInputFlags(const onnx::GraphProto &graph, const UseTable &uses,
                            const TrainedValues &trained,
                            const ImportOptions &options);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_INPUTS_H
