//===- Dataflow.h - where the values of a graph go --------------*- C++ -*-===//
//
// Uses of all values by name, subgraphs included, before anything is imported.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IMPORT_DATAFLOW_H
#define FFC_LIB_IMPORT_DATAFLOW_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace ffc::importer {

/// Does the node only move elements of its operands to its result? Then
/// operand i is one whose elements these are.
bool movesOperand(const onnx::NodeProto &node, int i);

class Dataflow {
public:
  struct Use {
    const onnx::NodeProto *node;
    int operand;
  };

  explicit Dataflow(const onnx::GraphProto &graph);

  llvm::ArrayRef<Use> usesOf(llvm::StringRef name) const;
  /// Values of other names that are this one: inputs of the bodies of loops,
  /// results of branches.
  llvm::ArrayRef<std::string> aliasesOf(llvm::StringRef name) const;
  /// Null for inputs and initializers.
  const onnx::NodeProto *makerOf(llvm::StringRef name) const;
  /// Behind nodes of which `passes` is true: what the value is made of by their
  /// first operands.
  std::string
  behind(llvm::StringRef name,
         llvm::function_ref<bool(const onnx::NodeProto &)> passes) const;
  /// The data of an initializer or a Constant, or null.
  const onnx::TensorProto *tensorOf(llvm::StringRef name) const;
  /// Is it an initializer of the graph or of one within?
  const onnx::TensorProto *initializer(llvm::StringRef name) const;
  bool isOutput(llvm::StringRef name) const;
  /// Does the value depend on the model's inputs, and not only on their shapes?
  bool isData(llvm::StringRef name) const;
  /// The same of any operand of the node but `i`.
  bool readsOtherData(const onnx::NodeProto &node, int i) const;
  /// Is it a model's input, moved, cast or combined with constants only?
  bool isRaw(llvm::StringRef name) const;

private:
  struct Entry {
    const onnx::NodeProto *maker = nullptr;
    const onnx::TensorProto *initializer = nullptr;
    std::vector<Use> uses;
    std::vector<std::string> aliases;
    bool isData = false, isOutput = false;
  };
  llvm::StringMap<Entry> entries;

  const Entry *find(llvm::StringRef name) const;
  void addGraph(const onnx::GraphProto &graph);
  void addNode(const onnx::NodeProto &node);
  void spreadData(const onnx::GraphProto &graph);
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_DATAFLOW_H
