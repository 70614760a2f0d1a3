//===- LoopValues.h - what values in a loop are made of ---------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_LOOPVALUES_H
#define FFC_LIB_IMPORT_LOOPVALUES_H

#include "Graph.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::importer {

/// Longer chains of nodes are not followed, nor is what turns in circles.
inline constexpr int kMostSteps = 100;

/// The graph in attribute `attribute`; null if there is none.
const onnx::GraphProto *graphOf(const onnx::NodeProto &node,
                                llvm::StringRef attribute);
int64_t integerIn(const onnx::NodeProto &node, llvm::StringRef attribute,
                  int64_t missing);

/// What a graph defines.
struct Definitions {
  explicit Definitions(const onnx::GraphProto &graph);

  llvm::StringSet<> names;
  llvm::StringMap<const onnx::TensorProto *> tensors;
  /// Nodes of the standard domain by what they make.
  llvm::StringMap<const onnx::NodeProto *> makers;
};

/// How often values are used in a graph and those in it, by name.
struct Uses {
  explicit Uses(const onnx::GraphProto &graph) { add(graph); }

  void add(const onnx::GraphProto &graph) {
    for (const onnx::ValueInfoProto &output : graph.output())
      ++counts[output.name()];
    for (const onnx::NodeProto &node : graph.node()) {
      for (const std::string &input : node.input()) {
        ++counts[input];
        readers[input] = &node;
      }
      forEachSubgraph(node,
                      [this](const onnx::GraphProto &inner) { add(inner); });
    }
  }
  bool isUsed(llvm::StringRef value) const { return counts.lookup(value) != 0; }
  /// The node that alone uses a value; null if there is none.
  const onnx::NodeProto *onlyReader(llvm::StringRef value) const {
    return counts.lookup(value) == 1 ? readers.lookup(value) : nullptr;
  }

  llvm::StringMap<int> counts;
  llvm::StringMap<const onnx::NodeProto *> readers;
};

/// An element of a list: `offset` + the number of the iteration.
struct ListElement {
  std::string list;
  int64_t offset = 0;
  bool operator==(const ListElement &o) const {
    return list == o.list && offset == o.offset;
  }
  bool operator!=(const ListElement &o) const { return !(*this == o); }
  ListElement next() const { return {list, offset + 1}; }
};

/// Values in the body of a loop, which are followed back to what they are made
/// of. Nothing about the file has been checked yet.
class LoopValues {
public:
  explicit LoopValues(const Definitions &outer) : outer(outer) {}

  /// The value that counts the iterations from 0 on.
  llvm::StringRef index;

  /// Names are looked up in a graph of the loop, too, until it is left.
  void enter(const onnx::GraphProto &graph) { inside.emplace_back(graph); }
  void leave() { inside.pop_back(); }

  bool isOutside(llvm::StringRef value) const;
  const onnx::NodeProto *makerOf(llvm::StringRef value,
                                 llvm::StringRef opType = "") const;
  const onnx::NodeProto *anyMakerOf(llvm::StringRef value) const;
  llvm::StringRef uncast(llvm::StringRef value) const;
  std::optional<int64_t> integerOf(llvm::StringRef value) const;
  bool isTrue(llvm::StringRef value) const;
  bool isZeroRow(llvm::StringRef value) const;
  std::optional<int64_t> axisOf(const onnx::NodeProto &node) const;
  bool isPlainSlice(const onnx::NodeProto &node) const;
  std::optional<int64_t> stepsFrom(llvm::StringRef value) const;
  std::optional<ListElement> elementOf(llvm::StringRef value) const;

private:
  const onnx::TensorProto *tensorOf(llvm::StringRef value) const;
  bool isZero(llvm::StringRef value) const;

  const Definitions &outer; ///< around the loop
  std::vector<Definitions> inside;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_LOOPVALUES_H
