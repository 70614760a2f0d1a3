//===- Dataflow.cpp - where the values of a graph go ----------------------===//

#include "Dataflow.h"

#include "Graph.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ffc::importer;
using llvm::StringRef;
using onnx::GraphProto;
using onnx::NodeProto;

bool ffc::importer::movesOperand(const NodeProto &node, int i) {
  if (!isStandardDomain(node.domain()))
    return false;
  StringRef type = node.op_type();
  if (type == "Concat" || type == "ConcatFromSequence" ||
      type == "SequenceConstruct")
    return true;
  if (i != 0)
    return false;
  // Where nothing is computed but which elements are taken.
  const OpInfo *info = lookupOp(type);
  return (info && info->movesElements) ||
         llvm::StringSwitch<bool>(type)
             .Cases({"Identity", "Cast", "CastLike", "Dropout"}, true)
             .Cases({"GatherElements", "GatherND", "SequenceAt",
                     "SplitToSequence"},
                    true)
             .Default(false);
}

Dataflow::Dataflow(const GraphProto &graph) {
  addGraph(graph);
  for (const onnx::ValueInfoProto &output : graph.output())
    entries[output.name()].isOutput = true;
  spreadData(graph);
}

void Dataflow::addGraph(const GraphProto &graph) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    entries[tensor.name()].initializer = &tensor;
  for (const NodeProto &node : graph.node())
    addNode(node);
}

void Dataflow::addNode(const NodeProto &node) {
  for (int i = 0; i < node.input_size(); ++i)
    if (!node.input(i).empty())
      entries[node.input(i)].uses.push_back({&node, i});
  for (const std::string &output : node.output())
    entries[output].maker = &node;
  auto join = [&](const std::string &from, const std::string &to) {
    if (!from.empty() && !to.empty() && from != to)
      entries[from].aliases.push_back(to);
  };
  forEachSubgraph(node, [&](const GraphProto &body) {
    addGraph(body);
    // An If has no operands for its branches; a loop's first result is its
    // condition.
    const int inputs = std::min(node.input_size(), body.input_size());
    for (int i = 0; node.op_type() != "If" && i < inputs; ++i)
      join(node.input(i), body.input(i).name());
    const int first = node.op_type() == "Loop" ? 1 : 0;
    for (int i = 0; i < node.output_size() && i + first < body.output_size();
         ++i)
      join(body.output(i + first).name(), node.output(i));
  });
}

void Dataflow::spreadData(const GraphProto &graph) {
  std::vector<std::string> work;
  auto mark = [&](const std::string &name) {
    Entry &entry = entries[name];
    if (!name.empty() && !entry.isData && !entry.initializer) {
      entry.isData = true;
      work.push_back(name);
    }
  };
  for (const onnx::ValueInfoProto &input : graph.input())
    mark(input.name());
  while (!work.empty()) {
    const Entry &entry = entries[work.back()];
    work.pop_back();
    for (const std::string &alias : std::vector<std::string>(entry.aliases))
      mark(alias);
    for (const Use &use : std::vector<Use>(entry.uses))
      if (std::string type = operatorName(*use.node);
          type != "Shape" && type != "Size")
        for (const std::string &output : use.node->output())
          mark(output);
  }
}

const Dataflow::Entry *Dataflow::find(StringRef name) const {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

llvm::ArrayRef<Dataflow::Use> Dataflow::usesOf(StringRef name) const {
  const Entry *entry = find(name);
  return entry ? llvm::ArrayRef<Use>(entry->uses) : llvm::ArrayRef<Use>();
}

llvm::ArrayRef<std::string> Dataflow::aliasesOf(StringRef name) const {
  const Entry *entry = find(name);
  return entry ? llvm::ArrayRef<std::string>(entry->aliases)
               : llvm::ArrayRef<std::string>();
}

const NodeProto *Dataflow::makerOf(StringRef name) const {
  const Entry *entry = find(name);
  return entry ? entry->maker : nullptr;
}

const onnx::TensorProto *Dataflow::initializer(StringRef name) const {
  const Entry *entry = find(name);
  return entry ? entry->initializer : nullptr;
}

const onnx::TensorProto *Dataflow::tensorOf(StringRef name) const {
  const NodeProto *maker = makerOf(name);
  return maker && operatorName(*maker) == "Constant" &&
                 maker->attribute_size() == 1 && maker->attribute(0).has_t()
             ? &maker->attribute(0).t()
             : initializer(name);
}

std::string
Dataflow::behind(StringRef name,
                 llvm::function_ref<bool(const NodeProto &)> passes) const {
  // A chain of nodes is no longer than there are values.
  for (size_t steps = 0; steps <= entries.size(); ++steps) {
    const NodeProto *maker = makerOf(name);
    if (!maker || maker->input_size() == 0 || !passes(*maker))
      break;
    name = maker->input(0);
  }
  return name.str();
}

bool Dataflow::isOutput(StringRef name) const {
  const Entry *entry = find(name);
  return entry && entry->isOutput;
}

bool Dataflow::isData(StringRef name) const {
  const Entry *entry = find(name);
  return entry && entry->isData;
}

bool Dataflow::readsOtherData(const NodeProto &node, int i) const {
  for (int j = 0; j < node.input_size(); ++j)
    if (j != i && isData(node.input(j)))
      return true;
  return false;
}

bool Dataflow::isRaw(StringRef name) const {
  // A chain of nodes is no longer than there are values.
  for (size_t steps = 0; steps <= entries.size() && isData(name); ++steps) {
    const NodeProto *maker = makerOf(name);
    if (!maker)
      return true;
    bool passes =
        llvm::StringSwitch<bool>(operatorName(*maker))
            .Cases({"Add", "Sub", "Mul", "Div", "Neg"}, true)
            .Default(maker->input_size() > 0 && movesOperand(*maker, 0));
    int data = -1;
    for (int i = 0; i < maker->input_size(); ++i)
      if (isData(maker->input(i))) {
        passes &= data < 0;
        data = i;
      }
    if (!passes || data < 0)
      return false;
    name = maker->input(data);
  }
  return false;
}
