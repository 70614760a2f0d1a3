//===- Graph.cpp - the structure of an ONNX graph -------------------------===//

#include "Graph.h"

#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"

#include <queue>
#include <utility>

using namespace ffc::importer;
using llvm::Expected;
using llvm::StringRef;
using onnx::GraphProto;
using onnx::NodeProto;

std::string ffc::importer::operatorName(StringRef domain, StringRef opType) {
  return isStandardDomain(domain) ? opType.str()
                                  : (domain + "." + opType).str();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void NameTable::addNodes(const GraphProto &graph) {
  // Given names come first: no invented name may take one away.
  for (const NodeProto &node : graph.node()) {
    if (node.name().empty())
      continue;
    if (auto [entry, isNew] = taken.insert(node.name()); isNew)
      names[&node] = entry->getKey();
  }
  for (const NodeProto &node : graph.node())
    nameOf(node);
}

StringRef NameTable::nameOf(const NodeProto &node) {
  StringRef &name = names[&node];
  if (!name.empty())
    return name;
  if (!node.name().empty())
    return name = unique(node.name());
  for (const std::string &output : node.output())
    if (!output.empty())
      return name = unique(output);
  unsigned ordinal = unnamed[node.op_type()]++;
  return name = unique(node.op_type() + "_" + std::to_string(ordinal));
}

void NameTable::forget(const GraphProto &graph) {
  for (const NodeProto &node : graph.node()) {
    names.erase(&node);
    forEachSubgraph(node, [this](const GraphProto &inner) { forget(inner); });
  }
}

StringRef NameTable::unique(StringRef wanted) {
  auto [entry, isNew] = taken.insert(wanted);
  while (!isNew)
    std::tie(entry, isNew) =
        taken.insert(wanted.str() + "_" + std::to_string(++repeated[wanted]));
  return entry->getKey();
}

std::string ffc::importer::describe(const NodeProto &node, StringRef name) {
  return ("node '" + name + "' (" + node.op_type() + ")").str();
}

std::string ffc::importer::labelOf(const NodeProto &node) {
  std::string name = node.name();
  for (int i = 0; name.empty() && i < node.output_size(); ++i)
    name = node.output(i);
  return "'" + name + "' (" + node.op_type() + ")";
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

UseTable::UseTable(const GraphProto &graph) {
  addGraph(graph);
  findRoots();
  // Uses of the results of identities belong to their operands.
  llvm::StringSet<> rooted;
  for (const auto &entry : uses)
    rooted.insert(rootOf(entry.getKey()));
  uses = std::move(rooted);
}

void UseTable::addGraph(const GraphProto &graph) {
  for (const NodeProto &node : graph.node()) {
    const OpInfo *info = lookupOp(operatorName(node));
    if (info && node.op_type() == "Identity" && node.input_size() == 1 &&
        node.output_size() == 1) {
      identities.try_emplace(node.output(0), node.input(0));
      continue;
    }
    for (const std::string &input : node.input())
      uses.insert(input);
    forEachSubgraph(node, [&](const GraphProto &inner) { addGraph(inner); });
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    uses.insert(output.name());
}

void UseTable::findRoots() {
  llvm::StringSet<> done;
  for (auto &identity : identities) {
    // A chain ends where one before has been, or in a cycle of identities,
    // which is reported when the nodes are sorted.
    llvm::SmallVector<llvm::StringMapEntry<std::string> *> chain;
    auto *at = &identity;
    while (at && done.insert(at->getKey()).second) {
      chain.push_back(at);
      auto next = identities.find(at->second);
      at = next == identities.end() ? nullptr : &*next;
    }
    const std::string root = (at ? at : chain.back())->second;
    for (auto *entry : chain)
      entry->second = root;
  }
}

StringRef UseTable::rootOf(StringRef name) const {
  auto found = identities.find(name);
  return found == identities.end() ? name : StringRef(found->second);
}

bool UseTable::isUsed(StringRef name) const {
  return uses.contains(rootOf(name));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Calls `visit` with the names that `node` reads, those its subgraphs take
/// from outside included.
static void forEachUse(const NodeProto &node,
                       llvm::function_ref<void(StringRef)> visit) {
  for (const std::string &input : node.input())
    if (!input.empty())
      visit(input);
  forEachSubgraph(node, [&](const GraphProto &graph) {
    llvm::StringSet<> inside;
    for (const auto &input : graph.input())
      inside.insert(input.name());
    for (const auto &initializer : graph.initializer())
      inside.insert(initializer.name());
    for (const NodeProto &inner : graph.node())
      for (const std::string &output : inner.output())
        inside.insert(output);
    auto visitOuter = [&](StringRef name) {
      if (!inside.contains(name))
        visit(name);
    };
    for (const NodeProto &inner : graph.node())
      forEachUse(inner, visitOuter);
    for (const auto &output : graph.output())
      visitOuter(output.name());
  });
}

namespace {

/// Orders the nodes of one graph by Kahn's algorithm.
class Sorter {
public:
  Sorter(const GraphProto &graph, NameTable &names)
      : graph(graph), names(names), isReplaced(graph.node_size(), false),
        waiting(graph.node_size(), 0), readers(graph.node_size()) {}

  Expected<std::vector<const NodeProto *>>
  sort(llvm::function_ref<bool(StringRef)> isDefined) {
    if (llvm::Error error = findProducers(isDefined))
      return error;
    if (llvm::Error error = findEdges(isDefined))
      return error;
    // The smallest ready index first keeps the order of sorted files.
    std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
    for (int i = 0; i < graph.node_size(); ++i)
      if (waiting[i] == 0)
        ready.push(i);
    std::vector<const NodeProto *> order;
    int replaced = 0;
    while (!ready.empty()) {
      int i = ready.top();
      ready.pop();
      if (isReplaced[i])
        ++replaced;
      else
        order.push_back(&graph.node(i));
      for (int reader : readers[i])
        if (--waiting[reader] == 0)
          ready.push(reader);
    }
    if (static_cast<int>(order.size()) + replaced != graph.node_size())
      return makeError(text(graph.node(nodeOnCycle())) +
                       " depends on its own result");
    return order;
  }

private:
  const GraphProto &graph;
  NameTable &names;
  llvm::StringMap<int> producers;
  std::vector<bool> isReplaced; ///< by a constant of the same name
  std::vector<int> waiting;
  std::vector<std::vector<int>> readers;

  std::string text(const NodeProto &node) {
    return describe(node, names.nameOf(node));
  }

  /// Of nothing but one constant.
  bool isConstant(int i) const {
    return graph.node(i).op_type() == "Constant" &&
           graph.node(i).output_size() == 1;
  }

  llvm::Error findProducers(llvm::function_ref<bool(StringRef)> isDefined) {
    for (int i = 0; i < graph.node_size(); ++i)
      for (const std::string &output : graph.node(i).output()) {
        if (output.empty())
          continue;
        auto [known, isNew] = producers.try_emplace(output, i);
        bool replaces = !isNew && isConstant(i) && isConstant(known->second);
        if (isDefined(output) || (!isNew && !replaces))
          return makeError(text(graph.node(i)) + ": its output '" + output +
                           "' is defined already");
        if (replaces)
          isReplaced[std::exchange(known->second, i)] = true;
      }
    return llvm::Error::success();
  }

  llvm::Error findEdges(llvm::function_ref<bool(StringRef)> isDefined) {
    std::string missing;
    for (int i = 0; i < graph.node_size(); ++i) {
      llvm::SmallVector<int> sources;
      forEachUse(graph.node(i), [&](StringRef name) {
        auto producer = producers.find(name);
        if (producer != producers.end())
          sources.push_back(producer->second);
        else if (!isDefined(name) && missing.empty())
          missing = name.str();
      });
      if (!missing.empty())
        return makeError(text(graph.node(i)) + ": nothing defines its input '" +
                         missing + "'");
      llvm::sort(sources);
      sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
      waiting[i] = static_cast<int>(sources.size());
      for (int source : sources)
        readers[source].push_back(i);
    }
    return llvm::Error::success();
  }

  /// From any node that waits, walking to nodes it waits for ends in a cycle.
  int nodeOnCycle() {
    std::vector<int> source(graph.node_size(), -1);
    int at = -1;
    for (int i = 0; i < graph.node_size(); ++i) {
      if (waiting[i] == 0)
        continue;
      at = i;
      for (int reader : readers[i])
        source[reader] = i;
    }
    std::vector<bool> seen(graph.node_size(), false);
    for (; !seen[at]; at = source[at])
      seen[at] = true;
    return at;
  }
};

} // namespace

Expected<std::vector<const NodeProto *>>
ffc::importer::sortNodes(const GraphProto &graph, NameTable &names,
                         llvm::function_ref<bool(StringRef)> isDefined) {
  return Sorter(graph, names).sort(isDefined);
}
