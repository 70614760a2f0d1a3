//===- Graph.h - the structure of an ONNX graph -----------------*- C++ -*-===//
//
// What is known before any node is imported: names, an order, who uses what.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IMPORT_GRAPH_H
#define FFC_LIB_IMPORT_GRAPH_H

#include "Constant.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace ffc::importer {

/// Is this a domain of the standard operators?
inline bool isStandardDomain(llvm::StringRef domain) {
  return domain.empty() || domain == "ai.onnx";
}

/// "Relu", or "com.microsoft.FusedConv" outside the standard domains.
std::string operatorName(llvm::StringRef domain, llvm::StringRef opType);
inline std::string operatorName(const onnx::NodeProto &node) {
  return operatorName(node.domain(), node.op_type());
}

/// Calls `visit` with the graphs within `node`.
template <class Visit>
void forEachSubgraph(const onnx::NodeProto &node, Visit visit) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      visit(attribute.g());
    for (const onnx::GraphProto &inner : attribute.graphs())
      visit(inner);
  }
}

inline const onnx::TensorShapeProto &
shapeOf(const onnx::ValueInfoProto &value) {
  return value.type().tensor_type().shape();
}

/// Hands out unique names, which live as long as the table.
class NameTable {
public:
  /// Names all nodes of the main graph: a node keeps its name, a repeated one
  /// gets a suffix, an unnamed one is called after its first output or, without
  /// outputs, after its operator and the number of such nodes before it
  /// ("Conv_0").
  void addNodes(const onnx::GraphProto &graph);

  /// The name of `node`; nodes of subgraphs are named when first asked for.
  llvm::StringRef nameOf(const onnx::NodeProto &node);

  /// The nodes of a subgraph, and of those in it, get new names: it is imported
  /// once more.
  void forget(const onnx::GraphProto &graph);

  /// `wanted`, or `wanted` with a suffix that makes it new.
  llvm::StringRef unique(llvm::StringRef wanted);

private:
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> unnamed, repeated;
  llvm::DenseMap<const onnx::NodeProto *, llvm::StringRef> names;
};

/// "node 'conv1' (Conv)".
std::string describe(const onnx::NodeProto &node, llvm::StringRef name);

/// "'conv1' (Conv)", where nobody gives out names: a node without one is called
/// after its first result.
std::string labelOf(const onnx::NodeProto &node);

/// Which values are used. Subgraphs count; a use of the result of an Identity
/// is a use of its operand.
class UseTable {
public:
  explicit UseTable(const onnx::GraphProto &graph);

  bool isUsed(llvm::StringRef name) const;

private:
  /// By the names of their results the operands, later those that the first of
  /// a chain of them has.
  llvm::StringMap<std::string> identities;
  llvm::StringSet<> uses;

  void addGraph(const onnx::GraphProto &graph);
  void findRoots();
  llvm::StringRef rootOf(llvm::StringRef name) const;
};

/// The nodes of `graph` in an order in which every value is computed before it
/// is used, near the order of the file. A Constant whose name a later Constant
/// defines anew is not among them: ONNX Runtime's optimizers write such files,
/// and it takes the last. An error if another name is defined twice, if a used
/// name is defined neither in `graph` nor outside (`isDefined`), or if there is
/// a cycle.
llvm::Expected<std::vector<const onnx::NodeProto *>>
sortNodes(const onnx::GraphProto &graph, NameTable &names,
          llvm::function_ref<bool(llvm::StringRef)> isDefined);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_GRAPH_H
