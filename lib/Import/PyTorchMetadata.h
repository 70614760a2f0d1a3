//===- PyTorchMetadata.h - what PyTorch's exporter notes --------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_PYTORCHMETADATA_H
#define FFC_LIB_IMPORT_PYTORCHMETADATA_H

#include "ExporterMetadata.h"
#include "NewerFields.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace ffc::importer {

/// Has PyTorch's exporter written the file?
bool isFromPyTorch(const onnx::ModelProto &model);

/// "weight" of "layers.0.weight".
llvm::StringRef lastComponent(llvm::StringRef name);

class PyTorchMetadata : public ExporterMetadata {
public:
  void read(const onnx::GraphProto &graph);

  std::optional<Claim> claimOf(llvm::StringRef name, const Dataflow &flow,
                               const Contents &contents) const override;
  bool isParameter(llvm::StringRef name) const override;
  bool areDistinct(llvm::StringRef one, llvm::StringRef other) const override;
  /// In PyTorchRestore.cpp.
  void restore(onnx::GraphProto &graph) override;
  std::vector<MissingParameter>
  missing(const onnx::GraphProto &graph,
          const llvm::StringSet<> &held) const override;
  std::string advice() const override;

private:
  struct Mark {
    std::string kind;   ///< PARAMETER, BUFFER, ...
    std::string target; ///< what the module calls it
  };
  /// Of the module, in its order.
  std::vector<std::string> parameters;
  llvm::StringSet<> isListed, buffers;
  /// Parameters by their placeholders.
  llvm::StringMap<std::string> targets;
  /// By values of the file.
  llvm::StringMap<Mark> marks;
  /// Are there any in the file, and not only those of restored parameters?
  bool hasMarks = false;
  llvm::StringMap<std::vector<std::string>> foldedFrom;
  /// A node, as messages call it, that came from a call which read it; by
  /// parameter.
  llvm::StringMap<std::string> readers;

  void addNotes(llvm::StringRef value, const Metadata &metadata);
  /// The parameters that the call read which the node came from, in order.
  std::vector<std::string> parametersOf(const onnx::NodeProto &node) const;
  /// The call that the node came from, as PyTorch prints it.
  static std::string callOf(const onnx::NodeProto &node);
  /// The rules that rewrote the node.
  static std::string rulesOf(const onnx::NodeProto &node);
  Claim claimOfFolded(llvm::StringRef name,
                      const std::vector<std::string> &parts,
                      const Dataflow &flow, const Contents &contents) const;
  std::string whereIs(const onnx::GraphProto &graph,
                      llvm::StringRef parameter) const;
  class Restorer;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_PYTORCHMETADATA_H
