//===- ExporterMetadata.h - what a file says of parameters ------*- C++ -*-===//
//
// ONNX itself does not tell parameters from other values. Exporters leave notes
// in metadata, each its own; ExporterMetadata.cpp has the table of those whose
// notes are read.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IMPORT_EXPORTERMETADATA_H
#define FFC_LIB_IMPORT_EXPORTERMETADATA_H

#include "Contents.h"
#include "Dataflow.h"

#include "ffc/Import/Parameters.h"

#include "llvm/ADT/StringSet.h"

#include <memory>

namespace ffc::importer {

/// Whether a file says that a value is trained, and where.
struct Claim {
  bool isTrained;
  std::string why;
  /// The parameter of the exported module that the value is; empty: none.
  std::string parameter;
};

class ExporterMetadata {
public:
  virtual ~ExporterMetadata() = default;

  /// Of a value with data; nothing if its uses must tell.
  virtual std::optional<Claim> claimOf(llvm::StringRef name,
                                       const Dataflow &flow,
                                       const Contents &contents) const = 0;

  /// Is the name one of a parameter of the module?
  virtual bool isParameter(llvm::StringRef name) const = 0;

  /// Are two values different parameters of the module, whatever their numbers?
  virtual bool areDistinct(llvm::StringRef one,
                           llvm::StringRef other) const = 0;

  /// Gives back to the graph what the exporter took and the notes on its nodes
  /// still tell.
  virtual void restore(onnx::GraphProto &graph) = 0;

  /// The parameters of the module that no value is; `held` are those that
  /// values are.
  virtual std::vector<MissingParameter>
  missing(const onnx::GraphProto &graph,
          const llvm::StringSet<> &held) const = 0;
  /// How the exporter keeps what is missing.
  virtual std::string advice() const = 0;
};

/// Reads the notes of the model's exporter; null if there are none that we
/// know.
std::unique_ptr<ExporterMetadata>
readExporterMetadata(const onnx::ModelProto &model);

/// By exporter, null if the model is not of theirs.
std::unique_ptr<ExporterMetadata>
readPyTorchMetadata(const onnx::ModelProto &model);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_EXPORTERMETADATA_H
